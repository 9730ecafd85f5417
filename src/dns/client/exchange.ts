/** What one query to one server may come to. */
import type { DnsResponse } from '../message.ts';
import type { DnsFailure } from '../resolver.ts';

/** One query, one server. `by_tcp`: this way says nothing that can be trusted; the same is to be asked over TCP. */
export type Exchange =
  | { readonly kind: 'response'; readonly response: DnsResponse }
  | { readonly kind: 'by_tcp' }
  | ExchangeFailure;

/** The server gave no answer that can be used. */
export interface ExchangeFailure {
  readonly kind: 'failed';
  readonly cause: DnsFailure;
  /** Fit for a log line; names no server. */
  readonly text: string;
}

/** A failure for want of an answer. */
export function unheard(error: Error | null): ExchangeFailure {
  const why = error === null ? 'does not answer' : `cannot be reached (${codeOf(error)})`;
  return { kind: 'failed', cause: 'dns_timeout', text: why };
}

/** A failure for an answer that is none. */
export function garbled(reason: string): ExchangeFailure {
  return { kind: 'failed', cause: 'dns_malformed', text: `gives an answer that cannot be read: ${reason}` };
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : error.message;
}
