import { DatabaseError } from 'pg';
import { StoreError, type StoreErrorCode } from '../store/store.ts';

/** The store's codes for SQLSTATEs (postgresql.org, appendix A), by code or else by class: its first two characters. */
const CODES: Readonly<Record<string, StoreErrorCode>> = {
  '08': 'store_unavailable', // connection
  '25006': 'store_unavailable', // the server became read-only: a standby
  '25P03': 'store_unavailable', // the server ended a transaction that stood idle
  '28': 'store_unavailable', // access denied
  '3D': 'store_unavailable', // no such database
  '53100': 'store_full',
  '53300': 'store_unavailable', // too many connections
  '53': 'store_busy', // resources
  '55P03': 'store_busy', // waited too long for a lock
  '57014': 'store_busy', // took too long
  '57': 'store_unavailable', // shut down, or not yet up
  '42501': 'store_unsuitable', // the user may not do that
  '40': 'store_busy', // rolled back because of a conflict
  '58': 'store_failed', // the server's own files
  XX001: 'store_failed', // damaged data
  XX002: 'store_failed',
};

/** Rolled back because of concurrent transactions: a retry may well succeed. */
const CONFLICTS: ReadonlySet<string> = new Set(['40001', '40P01']);

/** The server went away, or has no room for another connection. */
const GONE: ReadonlySet<string> = new Set(['57P01', '57P02', '57P03', '53300']);

/** Errors of the client library without a code: the connection was lost, or never made. */
const LOST = /connect|timeout|terminated|not queryable|^SASL/i;

/** Node's codes for an invalid certificate, or a peer without TLS. */
const TLS = /CERT|ERR_SSL|ERR_TLS|^UNABLE_TO_|SELF_SIGNED|HOSTNAME_MISMATCH/;

/**
 * The store error for any failure: a `StoreError` as it is, the server's errors by their SQLSTATE, network failures as
 * a lost connection, anything else as a bug.
 */
export function storeErrorOf(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const code = codeOf(error, message);
  const isOfConnection = code === 'store_unavailable' && !(error instanceof DatabaseError);
  const text = isOfConnection && error instanceof Error ? troubleOf(error) : message;
  return new StoreError(code, text, { cause: error });
}

/** What is wrong with a connection, and where, if operators can do something about it. */
function troubleOf(error: Error): string {
  // Node tries all addresses of a name, and has no message for all of them together.
  const { message } = error instanceof AggregateError ? (error.errors.at(-1) ?? error) : error;
  if (isTlsError(error))
    return `PostgreSQL is not trusted: ${message} (database.tls and database.tls_ca_file say whom to trust)`;
  if (message.includes('does not support SSL'))
    return 'PostgreSQL does not speak TLS; with database.tls off it would be spoken to in the clear';
  return `PostgreSQL: ${message}`;
}

/** Whether retrying the same transaction at once may succeed. Nothing of it has happened. */
export function isConflict(error: unknown): boolean {
  return error instanceof DatabaseError && CONFLICTS.has(error.code ?? '');
}

/**
 * Whether a connection broke, or could not be made because nobody answered: another may be made in a moment. Not after
 * a time-out of an answer: the server may still be working.
 */
export function isLost(error: unknown): boolean {
  if (error instanceof StoreError || !(error instanceof Error)) return false;
  if (error instanceof DatabaseError) {
    const state = error.code ?? '';
    return state.startsWith('08') || GONE.has(state);
  }
  return !isMisuse(error) && (isSocketError(error) || /terminated|not queryable/i.test(error.message));
}

function codeOf(error: unknown, message: string): StoreErrorCode {
  if (error instanceof DatabaseError) {
    const state = error.code ?? '';
    return CODES[state] ?? CODES[state.slice(0, 2)] ?? 'store_bug';
  }
  if (!(error instanceof Error) || isMisuse(error)) return 'store_bug';
  const isOfConnection = isTlsError(error) || isSocketError(error) || LOST.test(message);
  return isOfConnection ? 'store_unavailable' : 'store_bug';
}

function isMisuse(error: Error): boolean {
  return error instanceof TypeError || error instanceof RangeError;
}

function isTlsError(error: Error): boolean {
  return 'code' in error && typeof error.code === 'string' && TLS.test(error.code);
}

/** Node's own errors of sockets and of names: ECONNRESET, ENOTFOUND, … */
function isSocketError(error: Error): boolean {
  return (
    'code' in error && typeof error.code === 'string' && error.code.startsWith('E') && !isTlsError(error)
  );
}
