import { timeText } from './message.ts';
import type { MessageStatus } from './types.ts';

/** Which messages a list gives; each that is there must hold. */
export interface ListFilter {
  /** One status or any of several. */
  readonly status?: MessageStatus | readonly MessageStatus[] | undefined;
  /** Exactly this tag. */
  readonly tag?: string | undefined;
  /** A recipient: a whole address, or `@` and a domain. Letter case makes no difference. */
  readonly to?: string | undefined;
  /** The sender, likewise. */
  readonly from?: string | undefined;
  /** Text that the subject contains, whatever its letter case. */
  readonly subject?: string | undefined;
  /** Accepted at or after this time. */
  readonly since?: Date | string | undefined;
  /** Accepted before this time. */
  readonly until?: Date | string | undefined;
  /** Messages of every key; needs the scope `messages:read_all`. */
  readonly all?: boolean | undefined;
  /** How many messages to fetch at a time, 1 to 200; 20 unless told. */
  readonly limit?: number | undefined;
}

/** A filter, and where its page begins. */
export interface PageRequest extends ListFilter {
  /** `nextCursor` of the page before, which must have had the same filter. */
  readonly cursor?: string | undefined;
}

/** The query of a list, with its question mark; empty when there is nothing to say. */
export function queryOf(request: PageRequest): string {
  const { status, since, until, ...others } = request;
  const query = new URLSearchParams();
  for (const one of typeof status === 'string' ? [status] : (status ?? [])) query.append('status', one);
  if (since !== undefined) query.set('since', timeText(since));
  if (until !== undefined) query.set('until', timeText(until));
  for (const [name, value] of Object.entries(others)) if (value !== undefined) query.set(name, String(value));
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
