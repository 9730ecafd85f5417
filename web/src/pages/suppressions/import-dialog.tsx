import { FileText, Upload } from 'lucide-react';
import { useId, useState } from 'react';
import type { ResultOf, StepOf } from '../../../../src/operations/table.ts';
import { stream } from '../../api.ts';
import { formatBytes, formatCount, plural } from '../../format.ts';
import { Select } from '../../parts/choice.tsx';
import { fieldsOf } from '../../parts/form.tsx';
import { Progress } from '../../parts/progress.tsx';
import { RunDialog, useRun } from '../../parts/run.tsx';
import { Banner } from '../../parts/states.tsx';
import { Said } from '../../parts/values.tsx';
import { refetchShown } from '../../queries.ts';
import { ALL_MAIL, ScopeFields, scopeOf } from './add-dialog.tsx';
import { REASON_NAMES, REASONS, type Reason } from './words.ts';

type Imported = ResultOf<'importSuppressions'>;

/** The server takes no more. */
const MAX_BYTES = 10 * 1024 * 1024;
/** Lines that are told of. */
const MAX_SHOWN = 100;

/** Adds the addresses of a file, tells how far it is, and can be stopped. */
export function ImportDialog({ onClose }: { readonly onClose: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [values, setValues] = useState({ ...ALL_MAIL, scope: '' });
  const [reason, setReason] = useState<Reason>('import');
  const [step, setStep] = useState<StepOf<'importSuppressions'> | null>(null);
  const run = useRun(async (signal) => {
    if (file === null) throw new Error('Choose a file first.');
    setStep(null);
    const text = await readText(file);
    const request = { format: formatOf(file.name, text), text, scope: scopeOf(values), reason } as const;
    return await stream('importSuppressions', request, setStep, signal).finally(() =>
      refetchShown(new Set(['suppressions'])),
    );
  });
  const isTooLarge = file !== null && file.size > MAX_BYTES;
  const isNamed = values.whose === 'global' || values.name.trim() !== '';
  return (
    <RunDialog
      run={run}
      title="Import addresses"
      description="From a file, such as the export of another service. To import it again does no harm."
      confirm="Import"
      cancel="Cancel"
      disabled={file === null || isTooLarge || !isNamed}
      onClose={onClose}
      report={(result) => <Report result={result} />}
    >
      <div className="space-y-4">
        <FileChoice file={file} onChange={setFile} />
        {isTooLarge && (
          <p role="alert" className="text-sm text-failed">
            The file is larger than {formatBytes(MAX_BYTES)}. Split it into several.
          </p>
        )}
        <ScopeFields
          form={{
            values,
            faults: {},
            field: fieldsOf(values, {}, (part) => setValues((before) => ({ ...before, ...part }))),
          }}
        />
        <Select
          label="Why"
          choices={REASON_NAMES.map((value) => ({ value, label: REASONS[value].name }))}
          value={reason}
          onChange={setReason}
        />
        <p className="text-sm text-soft">
          Rows that say themselves whose mail they stop, or why, keep that. Unless you choose why, so do lists
          of providers that are known by their columns.
        </p>
        {run.state === 'running' && (
          <div className="space-y-1.5">
            <Progress label="Import" value={step === null ? null : step.done / Math.max(1, step.total)} />
            <p role="status" className="text-sm text-soft">
              {step === null
                ? 'Reading the file'
                : `${formatCount(step.done)} of ${formatCount(step.total)} rows`}
            </p>
            <p className="text-sm text-soft">You can stop it. What is done by then stays.</p>
          </div>
        )}
      </div>
    </RunDialog>
  );
}

function FileChoice({
  file,
  onChange,
}: {
  readonly file: File | null;
  readonly onChange: (file: File | null) => void;
}) {
  const id = useId();
  return (
    <div>
      <label
        htmlFor={id}
        className="flex cursor-pointer items-center gap-3 rounded-md border border-dashed border-edge bg-paper px-4 py-3.5 hover:bg-sunken has-focus-visible:outline-2 has-focus-visible:outline-accent"
      >
        {file === null ? (
          <Upload aria-hidden size={18} className="shrink-0 text-soft" />
        ) : (
          <FileText aria-hidden size={18} className="shrink-0 text-accent" />
        )}
        <span className="min-w-0 flex-1">
          {file === null ? (
            <span className="font-medium">Choose a file</span>
          ) : (
            <Said text={file.name} className="font-medium" />
          )}
          <span className="block text-sm text-soft">
            {file === null ? 'CSV or JSON, up to 100,000 rows' : formatBytes(file.size)}
          </span>
        </span>
        <input
          id={id}
          type="file"
          aria-label="File"
          accept=".csv,.json,.jsonl,.txt,text/csv,application/json"
          className="sr-only"
          onChange={({ target }) => onChange(target.files?.[0] ?? null)}
        />
      </label>
      <p className="mt-1.5 text-sm text-soft">
        CSV begins with a line that names its columns: address, reason, scope, stream, expiresAt, note. The
        exports of SES, SendGrid, Mailgun, Postmark and Resend are known.
      </p>
    </div>
  );
}

/** The text of a file. Throws what it says for people where that is not UTF-8. */
export async function readText(file: Blob): Promise<string> {
  const bytes = await file.arrayBuffer();
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // Not its own error, which `useRun` would take for a lost connection.
    throw new Error('The file is not UTF-8.');
  }
}

/** JSON by its name, or by how it begins; anything else is CSV. */
export function formatOf(name: string, text: string): 'csv' | 'json' {
  return /\.jsonl?$/i.test(name) || /^\s*[[{]/.test(text) ? 'json' : 'csv';
}

function Report({ result: { added, updated, invalid, moreInvalid } }: { readonly result: Imported }) {
  const all = invalid.length + moreInvalid;
  const shown = invalid.slice(0, MAX_SHOWN);
  return (
    <div className="space-y-4">
      <Banner level={all === 0 ? 'info' : 'warning'} title={`${formatCount(added)} added`}>
        {updated > 0 && <p>{formatCount(updated)} renewed, as they were on the list already.</p>}
        {all > 0 && <p>{plural(all, 'row')} could not be imported.</p>}
      </Banner>
      {shown.length > 0 && (
        <section>
          <h3 className="caption mb-1">Not imported</h3>
          <ol
            // biome-ignore lint/a11y/noNoninteractiveTabindex: keys can scroll what is too long
            tabIndex={0}
            className="max-h-64 overflow-y-auto rounded-md border border-line"
          >
            {shown.map(({ line, detail }) => (
              <li
                key={line}
                className="grid grid-cols-[4.5rem_minmax(0,1fr)] gap-2 border-b border-line px-3 py-1.5 text-sm last:border-b-0"
              >
                <span className="text-soft">Line {formatCount(line)}</span>
                <Said text={detail} lines="several" />
              </li>
            ))}
          </ol>
          {all > shown.length && (
            <p className="mt-1.5 text-sm text-soft">and {formatCount(all - shown.length)} more</p>
          )}
        </section>
      )}
    </div>
  );
}
