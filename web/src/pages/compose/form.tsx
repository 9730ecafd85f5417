import { Paperclip, X } from 'lucide-react';
import { useId, useRef, useState } from 'react';
import { formatBytes } from '../../format.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { ListField, Select } from '../../parts/choice.tsx';
import { Fold } from '../../parts/fold.tsx';
import type { FormInHand } from '../../parts/form.tsx';
import { Textarea, TextField } from '../../parts/text-field.tsx';
import { Said } from '../../parts/values.tsx';
import { type Draft, type DraftFile, fileBytes } from './draft.ts';

type Props = Pick<FormInHand<Draft>, 'values' | 'field' | 'faults'>;

/** The boxes of a message that is written. */
export function ComposeForm(props: Props) {
  const { values, field } = props;
  const [copies, setCopies] = useState(values.cc !== '' || values.bcc !== '');
  const attachments = field('attachments');
  return (
    <div className="space-y-4">
      <TextField label="From" {...field('from')} placeholder="Shop <shop@example.com>" verbatim />
      <div>
        <TextField
          label="To"
          {...field('to')}
          placeholder={'bob@example.org, "Doe, Jane" <jane@example.org>'}
          verbatim
        />
        {!copies && (
          <Button
            small
            look="quiet"
            label="Add Cc and Bcc"
            className="mt-1 -ml-2"
            onClick={() => setCopies(true)}
          />
        )}
      </div>
      {copies && (
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField label="Cc" {...field('cc')} verbatim />
          <TextField label="Bcc" {...field('bcc')} hint="Shown to nobody." verbatim />
        </div>
      )}
      <TextField label="Subject" {...field('subject')} autoComplete="off" />
      <Bodies {...props} />
      <Attachments files={attachments.value} error={attachments.error} onChange={attachments.onChange} />
      <More {...props} />
    </div>
  );
}

function Bodies({ values, field, faults }: Props) {
  const [html, setHtml] = useState(values.html !== '');
  return (
    <>
      <Textarea label="Text" rows={8} {...field('text')} />
      {html || faults['html'] !== undefined ? (
        <Textarea
          label="HTML"
          mono
          rows={8}
          spellCheck={false}
          {...field('html')}
          hint="Shown instead of the text by programs that support it."
        />
      ) : (
        <Button small look="quiet" label="Add HTML" className="-ml-2" onClick={() => setHtml(true)} />
      )}
    </>
  );
}

function More({ values, field, faults }: Props) {
  const isOpen =
    values.headers !== '' ||
    values.tags.length > 0 ||
    values.sendAt !== '' ||
    values.priority !== 'normal' ||
    ['headers', 'tags', 'sendAt', 'priority'].some((name) => name in faults);
  return (
    <Fold title="Headers, tags, time, priority" open={isOpen}>
      <div className="space-y-4">
        <Textarea
          label="Headers"
          mono
          rows={3}
          spellCheck={false}
          {...field('headers')}
          placeholder={'Reply-To: help@example.com\nX-Order: 1001'}
          hint="One a line."
        />
        <ListField label="Tags" {...field('tags')} hint="For finding the message; never in the mail." />
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label="Not before"
            {...field('sendAt')}
            placeholder="2026-12-24T08:00:00Z"
            hint="Empty: now. At most 30 days ahead."
            verbatim
          />
          <Select
            label="Priority"
            choices={[
              { value: 'high', label: 'High' },
              { value: 'normal', label: 'Normal' },
              { value: 'bulk', label: 'Bulk' },
            ]}
            {...field('priority')}
          />
        </div>
      </div>
    </Fold>
  );
}

/** A request to the dashboard may not be larger: base64 makes files grow by a third. */
const MAX_TOTAL_BYTES = 15 * 1024 * 1024;

/** Files that go with a message. */
function Attachments({
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
      setRefusal(
        `Files may have ${formatBytes(MAX_TOTAL_BYTES)} in total here; send larger ones through the API.`,
      );
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
