/** A file of its own, because its types are those of the package; what requests are made of is not. */
import { timeText } from './message.ts';
import type { MessageStatus } from './types.ts';

/** Which messages a list gives; each that is there must hold. `null` equals absent. */
export interface ListFilter {
  /** One status or any of several. */
  readonly status?: MessageStatus | readonly MessageStatus[] | null | undefined;
  /** Exactly this tag. */
  readonly tag?: string | null | undefined;
  /** A recipient: a whole address, or `@` and a domain. Case-insensitive. */
  readonly to?: string | null | undefined;
  /** The sender, likewise. */
  readonly from?: string | null | undefined;
  /** Text that the subject contains, whatever its letter case. */
  readonly subject?: string | null | undefined;
  /** Accepted at or after this time. */
  readonly since?: Date | string | null | undefined;
  /** Accepted before this time. */
  readonly until?: Date | string | null | undefined;
  /** Messages of every key; needs the scope `messages:read_all`. */
  readonly all?: boolean | null | undefined;
  /** How many messages to fetch at a time, 1 to 200; 200 unless told, and 20 for a single page. */
  readonly limit?: number | null | undefined;
}

/** A filter, and where its page begins. */
export interface PageRequest extends ListFilter {
  /** `nextCursor` of the page before, which must have had the same filter. */
  readonly cursor?: string | null | undefined;
}

/** The query of a list, with its question mark; empty when there is nothing to say. */
export function queryOf(request: PageRequest): string {
  const { status, since, until, ...others } = request;
  const query = new URLSearchParams();
  for (const one of typeof status === 'string' ? [status] : (status ?? [])) query.append('status', one);
  const times = { since: timeText('since', since), until: timeText('until', until) };
  for (const [name, value] of Object.entries({ ...times, ...others }))
    if (value !== undefined && value !== null) query.set(name, String(value));
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
