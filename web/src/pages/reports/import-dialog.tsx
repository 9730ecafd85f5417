import { FileText, Upload } from 'lucide-react';
import { useId, useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { ApiError, call } from '../../api.ts';
import { formatBytes, plural } from '../../format.ts';
import { RunDialog, useRun } from '../../parts/run.tsx';
import { Banner } from '../../parts/states.tsx';
import { Said } from '../../parts/values.tsx';
import { refetchShown } from '../../queries.ts';

/** The server takes no more of one file. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Files at once. */
const MAX_FILES = 200;

/** What became of a file. */
interface Outcome {
  readonly name: string;
  readonly taken: ResultOf<'addDmarcReport'> | null;
  /** Why it was not taken. */
  readonly reason: string | null;
}

/** Takes in reports from files, one after the other. */
export function ImportDialog({ onClose }: { readonly onClose: () => void }) {
  const [files, setFiles] = useState<readonly File[]>([]);
  const [done, setDone] = useState(0);
  const run = useRun(async (signal) => {
    const outcomes: Outcome[] = [];
    for (const file of files) {
      if (signal.aborted) break;
      outcomes.push(await importFile(file, signal));
      setDone(outcomes.length);
    }
    refetchShown(new Set(['reports']));
    return outcomes;
  });
  return (
    <RunDialog
      run={run}
      title="Import reports"
      description="DMARC reports that came to another mailbox: zip, gzip or XML, or messages that have one attached. To import one again does no harm."
      confirm="Import"
      cancel="Cancel"
      disabled={files.length === 0 || files.length > MAX_FILES}
      onClose={onClose}
      report={(outcomes) => <Report outcomes={outcomes} />}
    >
      <div className="space-y-4">
        <FilesChoice files={files} onChange={setFiles} />
        {files.length > MAX_FILES && (
          <p role="alert" className="text-sm text-failed">
            At most {MAX_FILES} files can be imported at once.
          </p>
        )}
        {run.state === 'running' && (
          <p role="status" className="text-sm text-soft">
            {done} of {plural(files.length, 'file')}
          </p>
        )}
      </div>
    </RunDialog>
  );
}

async function importFile(file: File, signal: AbortSignal): Promise<Outcome> {
  const { name } = file;
  if (file.size > MAX_BYTES)
    return { name, taken: null, reason: `It is larger than ${formatBytes(MAX_BYTES)}.` };
  try {
    const content = await base64Of(file);
    return { name, taken: await call('addDmarcReport', { content }, signal), reason: null };
  } catch (error) {
    // What the server does not take is told of with the others; anything else ends it.
    if (!(error instanceof ApiError) || error.status === 0 || error.status >= 500) throw error;
    return { name, taken: null, reason: error.message };
  }
}

/** As a data URL has it, behind its comma. */
function base64Of(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(new Error(reader.error?.message ?? 'The file cannot be read.'));
    reader.readAsDataURL(file);
  });
}

function FilesChoice({
  files,
  onChange,
}: {
  readonly files: readonly File[];
  readonly onChange: (files: readonly File[]) => void;
}) {
  const id = useId();
  const [first, ...others] = files;
  const Icon = first === undefined ? Upload : FileText;
  return (
    <label
      htmlFor={id}
      className="flex cursor-pointer items-center gap-3 rounded-md border border-dashed border-edge bg-paper px-4 py-3.5 hover:bg-sunken has-focus-visible:outline-2 has-focus-visible:outline-accent"
    >
      <Icon aria-hidden size={18} className="shrink-0 text-soft" />
      <span className="min-w-0 flex-1">
        {first === undefined ? (
          <span className="font-medium">Choose files</span>
        ) : (
          <Said text={first.name} className="font-medium" />
        )}
        <span className="block text-sm text-soft">
          {others.length > 0
            ? `and ${plural(others.length, 'more file', 'more files')}`
            : `.zip, .gz, .xml or .eml, up to ${formatBytes(MAX_BYTES)} each`}
        </span>
      </span>
      <input
        id={id}
        type="file"
        multiple
        aria-label="Files"
        accept=".zip,.gz,.xml,.eml,application/zip,application/gzip,text/xml,message/rfc822"
        className="sr-only"
        onChange={({ target }) => onChange([...(target.files ?? [])])}
      />
    </label>
  );
}

function Report({ outcomes }: { readonly outcomes: readonly Outcome[] }) {
  const added = outcomes.filter(({ taken }) => taken?.added).length;
  const known = outcomes.filter(({ taken }) => taken?.added === false).length;
  const refused = outcomes.filter(({ taken }) => taken === null);
  return (
    <div className="space-y-4">
      <Banner level={refused.length === 0 ? 'info' : 'warning'} title={`${plural(added, 'report')} imported`}>
        {known > 0 && <p>{plural(known, 'report')} had been there already.</p>}
        {refused.length > 0 && <p>{plural(refused.length, 'file')} could not be imported.</p>}
      </Banner>
      {refused.length > 0 && (
        <ul className="max-h-64 space-y-2 overflow-y-auto">
          {refused.map(({ name, reason }) => (
            <li key={name} className="text-sm">
              <Said text={name} className="font-medium" />
              <p className="text-soft">{reason}</p>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
