import { addressTest } from '../domain/address-test.ts';
import type { MessageStatus } from '../domain/delivery.ts';
import { addressIn } from '../domain/query-test.ts';
import type { ListFilter } from './views.ts';

/** What lists and searches of every store decide alike. */

/** Whether the index `messages_troubled` tells all these statuses apart, over all keys. */
export function areTroubled(statuses: readonly MessageStatus[]): boolean {
  return statuses.every((status) => status === 'failed' || status === 'retrying');
}

/** Whether a message with this From header, reverse-path and subject belongs on the page. */
export type TextTest = (from: string, reversePath: string, subject: string) => boolean;

/** Null when neither the sender nor the subject is asked for. */
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
