import { Paperclip, X } from 'lucide-react';
import { useId, useRef, useState } from 'react';
import { formatBytes } from '../../format.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { Said } from '../../parts/values.tsx';
import { type DraftFile, fileBytes } from './draft.ts';

/** A request to the dashboard may not be larger: base64 makes files grow by a third. */
const MAX_TOTAL_BYTES = 15 * 1024 * 1024;

/** Files that go with a message. */
export function Attachments({
  files,
  error,
  onChange,
}: {
  readonly files: readonly DraftFile[];
  readonly error: string | undefined;
  readonly onChange: (files: readonly DraftFile[]) => void;
}) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [refusal, setRefusal] = useState<string | null>(null);
  const add = async (chosen: readonly File[]) => {
    const total =
      files.reduce((sum, { content }) => sum + fileBytes(content), 0) +
      chosen.reduce((sum, { size }) => sum + size, 0);
    if (total > MAX_TOTAL_BYTES) {
      setRefusal(`Files may have ${formatBytes(MAX_TOTAL_BYTES)} in all here; larger ones go by the API.`);
      return;
    }
    setRefusal(null);
    try {
      onChange([...files, ...(await Promise.all(chosen.map(readFile)))]);
    } catch {
      setRefusal('A file could not be read. Choose it again.');
    }
  };
  const said = refusal ?? error;
  return (
    <div>
      <ul className="space-y-1.5">
        {files.map((file, index) => (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: the same file may be there twice
            key={index}
            className="flex items-center gap-2 rounded-md border border-line py-0.5 pr-1 pl-3"
          >
            <Paperclip aria-hidden size={14} className="shrink-0 text-soft" />
            <Said text={file.filename} none="(no name)" className="min-w-0" />
            <span className="ml-auto shrink-0 text-sm text-soft">{formatBytes(fileBytes(file.content))}</span>
            <IconButton
              icon={X}
              label={`Remove ${file.filename}`}
              small
              onClick={() => onChange(files.filter((_, other) => other !== index))}
            />
          </li>
        ))}
      </ul>
      <input
        ref={input}
        id={id}
        type="file"
        multiple
        className="sr-only"
        tabIndex={-1}
        aria-label="Attach files"
        onChange={({ target }) => {
          void add([...(target.files ?? [])]);
          target.value = '';
        }}
      />
      <Button
        small
        look="quiet"
        icon={Paperclip}
        label="Attach files"
        className={files.length > 0 ? 'mt-1 -ml-2' : '-ml-2'}
        onClick={() => input.current?.click()}
      />
      {said != null && (
        <p role="alert" className="mt-1 text-sm text-failed">
          {said}
        </p>
      )}
    </div>
  );
}

async function readFile(file: File): Promise<DraftFile> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error('unreadable'));
    reader.readAsDataURL(file);
  });
  return {
    filename: file.name,
    content: url.slice(url.indexOf(',') + 1),
    contentType: file.type || null,
    contentId: null,
    disposition: null,
  };
}
