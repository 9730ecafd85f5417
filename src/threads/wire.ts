import { StoreError, type StoreErrorCode } from '../store/store.ts';

/**
 * What a caller and its thread exchange. Arguments that make up most of the bytes are sent as JSON text, which costs a
 * third less than a structured clone; the rest is sent as it is.
 */
export interface WireCall {
  readonly verb: string;
  readonly args: string | readonly unknown[];
}

/** To a thread: calls to answer together, or the request to close. */
export type ToThread = readonly WireCall[] | 'close';

/** From a thread: first whether it could open, then one list of answers for each list of calls. */
export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'refused'; readonly error: WireError }
  | { readonly kind: 'answers'; readonly answers: readonly WireAnswer[] };

/** The result of one call. */
export type WireAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: WireError };

/** A `StoreError`, whose class does not survive structured cloning. */
interface WireError {
  readonly code: StoreErrorCode;
  readonly message: string;
}

const AS_TEXT: ReadonlySet<string> = new Set(['accept', 'begin', 'settle']);

/** Packs a call. */
export function packCall(verb: string, args: readonly unknown[]): WireCall {
  return { verb, args: AS_TEXT.has(verb) ? JSON.stringify(args) : args };
}

/** The arguments of a received call. */
export function unpackArgs({ args }: WireCall): readonly unknown[] {
  return typeof args === 'string' ? (JSON.parse(args) as unknown[]) : args;
}

/** Packs an error. */
export function packError({ code, message }: StoreError): WireError {
  return { code, message };
}

/** Restores the error. */
export function unpackError({ code, message }: WireError): StoreError {
  return new StoreError(code, message);
}

/** The URL of a worker beside this file: `.ts` when run from source, `.js` when compiled. */
export function workerUrl(name: 'store-worker' | 'views-worker' | 'backup-worker' | 'ingest-worker'): URL {
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
  return new URL(`./${name}${extension}`, import.meta.url);
}
