import type { MessageStatus } from '../domain/delivery.ts';
import { addressTest } from '../domain/mailbox.ts';
import { ANY_MAIL, type MailQuery, type QueryTerm } from '../domain/query.ts';
import { addressIn } from '../domain/query-test.ts';
import type { ListFilter, ListQuery, SearchQuery } from './views.ts';

/** What lists and searches of every store decide alike. */

/** Recipients that are looked at for an id of a next hop, the newest; a peer may give all mail the same. */
export const MAX_OF_HOP = 1_000;

/** The id of a next hop that all of a query's mail has, which an index finds; null if it asks for none. */
export function hopWanted({ terms }: MailQuery): string | null {
  const term = terms.find((one) => one.kind === 'hop' && !one.not);
  return term?.kind === 'hop' ? term.id : null;
}

/** Whether the index `messages_troubled` covers all these statuses, over all keys. */
export function areTroubled(statuses: readonly MessageStatus[]): boolean {
  return statuses.every((status) => status === 'failed' || status === 'retrying');
}

/**
 * The equivalent search of a list that asks for an address or a Message-ID, so that the word index answers it. Null for
 * other lists, and for captured mail, of which there is little.
 */
export function searchOf({ owner, statuses, filter, before, limit }: ListQuery): SearchQuery | null {
  if (filter === undefined || filter.captured) return null;
  const { tag, to, from, subject, messageId, since, until } = filter;
  if (to === null && from === null && messageId === undefined) return null;
  const not = false;
  const terms: QueryTerm[] = [];
  if (to !== null) terms.push({ kind: 'address', field: 'to', address: to, not });
  if (from !== null) terms.push({ kind: 'address', field: 'from', address: from, not });
  if (messageId !== undefined) terms.push({ kind: 'id', start: messageId.replace(/^<|>$/g, ''), not });
  if (tag !== null) terms.push({ kind: 'tag', tag, not });
  if (subject !== null) terms.push({ kind: 'part', field: 'subject', part: subject, not });
  const query = {
    ...ANY_MAIL,
    terms,
    statuses: statuses.length === 0 ? null : statuses,
    keys: owner === 'all' ? null : [owner.keyId],
    since,
    until,
  };
  return { query, after: null, before, limit, complete: true };
}

/** Whether a message with this From header, reverse-path and subject belongs on the page. */
export type TextTest = (from: string, reversePath: string, subject: string) => boolean;

/** Null if neither the sender nor the subject is asked for. */
export function textTest(filter: ListFilter | undefined): TextTest | null {
  const from = filter?.from ?? null;
  const subject = filter?.subject ?? null;
  if (from === null && subject === null) return null;
  const isSender = from === null ? null : addressTest(from);
  const part = subject?.toLowerCase() ?? null;
  return (header, reversePath, text) =>
    (isSender === null || isSender(reversePath) || isSender(addressIn(header))) &&
    (part === null || text.toLowerCase().includes(part));
}
