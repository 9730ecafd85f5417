/** A download whose rows are counted as they arrive. */

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
