import { Download } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { download } from '../../api.ts';
import { formatBytes, formatCount } from '../../format.ts';
import { Button } from '../../parts/button.tsx';
import { saveBlob } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Progress } from '../../parts/progress.tsx';
import { useRun } from '../../parts/run.tsx';
import { Banner } from '../../parts/states.tsx';
import { Said } from '../../parts/values.tsx';

/** The server ends an export there. */
const MAX_ROWS = 100_000;

/** Writes what a search finds into a file, tells how far it is, and can be stopped. */
export function ExportDialog({
  query,
  format,
  onClose,
}: {
  readonly query: string;
  readonly format: ExportFormat;
  readonly onClose: () => void;
}) {
  const { progress, state, error } = useExport(query, format);
  return (
    <Dialog
      onClose={onClose}
      title={`Export as ${format.toUpperCase()}`}
      size="small"
      footer={
        <Button
          look={state === 'done' ? 'primary' : 'plain'}
          label={state === 'running' ? 'Stop' : state === 'done' ? 'Done' : 'Close'}
          onClick={onClose}
        />
      }
    >
      <div className="space-y-3">
        <div>
          {query === '' ? (
            <p>Every message of the list.</p>
          ) : (
            <p className="flex gap-1.5">
              <span className="shrink-0">Messages found by</span>
              <Said text={query} mono />
            </p>
          )}
        </div>
        {state === 'running' && <Progress label="Export" value={null} />}
        <p role="status" className="flex items-center gap-2">
          {state === 'done' && <Download aria-hidden size={16} className="text-delivered" />}
          {formatCount(progress.rows)} rows, {formatBytes(progress.bytes)}
          {state === 'done' && ', saved where this browser keeps downloads'}
        </p>
        {progress.rows >= MAX_ROWS && (
          <Banner level="info">
            An export has at most the newest {formatCount(MAX_ROWS)} messages. Search with before: to get
            older ones.
          </Banner>
        )}
        {error !== null && (
          <Banner level="critical" title="The export ended early">
            {error} Nothing was saved.
          </Banner>
        )}
        <p className="text-sm text-soft">
          The activity records the export and who asked for it. It contains addresses and subjects, but no
          contents.
        </p>
      </div>
    </Dialog>
  );
}

function useExport(query: string, format: ExportFormat) {
  const [progress, setProgress] = useState<ExportProgress>({ rows: 0, bytes: 0 });
  const drawnAt = useRef(0);
  const run = useRun(async (signal) => {
    const response = await download(`/api/export?${new URLSearchParams({ query, format })}`, signal);
    let last = progress;
    const blob = await collectExport(response, format, (next) => {
      last = next;
      // Drawn a few times a second, however fast it comes.
      if (performance.now() - drawnAt.current < 150) return;
      drawnAt.current = performance.now();
      setProgress(next);
    });
    if (signal.aborted) return;
    setProgress(last);
    const day = new Date().toISOString().slice(0, 19).replaceAll(':', '');
    saveBlob(blob, `waybill-messages-${day}.${format}`);
  });
  useEffect(run.start, []);
  return { progress, ...run };
}

// A download whose rows are counted as they arrive.

/** How far an export is. */
export interface ExportProgress {
  readonly rows: number;
  readonly bytes: number;
}

/** The formats of an export. */
export type ExportFormat = 'csv' | 'json';

/** What has arrived is handed to the browser in such lots, which it may put on disk. */
const LOT_BYTES = 4 * 1024 * 1024;

const QUOTE = 0x22;
const NEWLINE = 0x0a;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Counts the rows in bytes that arrive bit by bit: of CSV without its header, or objects of JSON, lines or list. */
export function rowCounter(format: ExportFormat): (bytes: Uint8Array) => number {
  return format === 'csv' ? csvCounter() : jsonCounter();
}

function csvCounter() {
  let lines = 0;
  let quoted = false;
  return (bytes: Uint8Array) => {
    for (const byte of bytes) {
      if (byte === QUOTE) quoted = !quoted;
      else if (byte === NEWLINE && !quoted) lines++;
    }
    return Math.max(0, lines - 1);
  };
}

function jsonCounter() {
  let objects = 0;
  let depth = 0;
  let quoted = false;
  let escaped = false;
  return (bytes: Uint8Array) => {
    for (const byte of bytes) {
      if (escaped) escaped = false;
      else if (quoted && byte === BACKSLASH) escaped = true;
      else if (byte === QUOTE) quoted = !quoted;
      else if (!quoted && byte === OPEN) depth++;
      else if (!quoted && byte === CLOSE && --depth === 0) objects++;
    }
    return objects;
  };
}

/** Reads an export to its end. Aborting `signal` rejects. */
export async function collectExport(
  response: Response,
  format: ExportFormat,
  onProgress: (progress: ExportProgress) => void,
): Promise<Blob> {
  const count = rowCounter(format);
  const type = format === 'csv' ? 'text/csv' : 'application/json';
  let whole = new Blob([], { type });
  let lot: Uint8Array<ArrayBuffer>[] = [];
  let lotBytes = 0;
  let bytes = 0;
  const handOver = () => {
    whole = new Blob([whole, ...lot], { type });
    lot = [];
    lotBytes = 0;
  };
  if (response.body) {
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      lot.push(value);
      lotBytes += value.byteLength;
      bytes += value.byteLength;
      onProgress({ rows: count(value), bytes });
      if (lotBytes >= LOT_BYTES) handOver();
    }
  }
  handOver();
  return whole;
}
