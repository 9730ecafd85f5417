import { StoreError, type StoreErrorCode } from '../store.ts';

// Primary result codes (sqlite.org/rescode.html).
const BUSY = 5;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;
/** The bits of an extended result code that are the primary one. */
const PRIMARY = 0xff;

/**
 * The index of the write-ahead log could not grow (an extended result code); SQLite also reports this for lack of room.
 * A missing index is rebuilt from the log, so nothing is lost.
 */
const IOERR_SHMSIZE = IOERR | (19 << 8);

const CODES: Readonly<Record<number, StoreErrorCode>> = {
  [FULL]: 'store_full',
  [IOERR_SHMSIZE]: 'store_full',
  [IOERR]: 'store_failed',
  // The system has turned the disk read-only, as it does when the disk is failing.
  [READONLY]: 'store_failed',
  [CORRUPT]: 'store_failed',
  [NOTADB]: 'store_failed',
  [BUSY]: 'store_unavailable',
  [CANTOPEN]: 'store_unavailable',
};

/** better-sqlite3's names for the same codes. */
const NAMES: Readonly<Record<string, number>> = {
  BUSY,
  READONLY,
  IOERR,
  CORRUPT,
  FULL,
  CANTOPEN,
  NOTADB,
  IOERR_SHMSIZE,
};

/**
 * The store error for any failure: a `StoreError` as it is, an SQLite error by its result code, anything else as a bug.
 */
export function storeErrorOf(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const result = resultCode(error) ?? -1;
  const code = CODES[result] ?? CODES[result & PRIMARY] ?? 'store_bug';
  return new StoreError(code, message, { cause: error });
}

function resultCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode;
  if (!('code' in error) || typeof error.code !== 'string') return undefined;
  const [, name = '', primary = ''] = /^SQLITE_(([A-Z]+).*)$/.exec(error.code) ?? [];
  return NAMES[name] ?? NAMES[primary];
}
