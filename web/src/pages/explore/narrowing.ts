import type { RequestOf, ResultOf } from '../../../../src/operations/table.ts';
import type { Address } from '../../address.ts';
import { writeTerm } from '../messages/query-text.ts';

/** What the page is narrowed to, as its address says it. */

/** By what mail is told apart. */
export type Dimension = NonNullable<NonNullable<RequestOf<'traffic'>['by']>>;
export type TrafficSummary = ResultOf<'traffic'>['total'];
export type TrafficRow = ResultOf<'traffic'>['rows'][number];

export const DIMENSIONS = [
  { value: 'relay', label: 'Relay', none: '(no route)' },
  { value: 'domain', label: 'Recipient domain', none: '(no domain)' },
  { value: 'provider', label: 'Mailbox provider', none: '(none that is known)' },
  { value: 'tag', label: 'Tag', none: '(no tag)' },
  { value: 'key', label: 'API key', none: '(no key)' },
] as const;

/** What the page can be over. */
export const RANGES = [
  { value: 'day', label: '24 h', step: 'hour', count: 24, words: 'the last 24 hours, by hour', after: '24h' },
  { value: 'week', label: '7 d', step: 'day', count: 7, words: 'the last 7 days of UTC', after: '7d' },
  { value: 'month', label: '30 d', step: 'day', count: 30, words: 'the last 30 days of UTC', after: '30d' },
  { value: 'quarter', label: '90 d', step: 'day', count: 90, words: 'the last 90 days of UTC', after: '90d' },
] as const;

export type Range = (typeof RANGES)[number];

/** The range that the address names. */
export function rangeIn({ range }: Pick<Address, 'range'>): Range {
  return RANGES.find(({ value }) => value === range) ?? RANGES[0];
}

type Narrowed = Pick<Address, Dimension | 'without'>;

/** Only mail that is so. */
export function whereIn(address: Narrowed): Partial<Record<Dimension, string>> {
  const named = DIMENSIONS.flatMap(({ value }) => {
    const name = address.without === value ? '' : address[value];
    return name === undefined ? [] : [[value, name] as const];
  });
  return Object.fromEntries(named);
}

/** The address narrowed to a name as well; the rows are then by what says more. */
export function narrowedTo(address: Narrowed, by: Dimension, name: string) {
  const { relay, domain, provider, tag, key, without } = address;
  const before = { relay, domain, provider, tag, key, without };
  const now = name === '' ? { ...before, [by]: undefined, without: by } : { ...before, [by]: name };
  const where = whereIn(now);
  const next = DIMENSIONS.find(({ value }) => where[value] === undefined);
  return { ...now, by: next?.value };
}

/** What the list of messages is asked for to find the same mail, of a time; it knows nothing of mailbox providers. */
export function queryFor(where: Partial<Record<Dimension, string>>, time: string): string {
  const { relay, domain, tag, key } = where;
  return [
    relay && writeTerm('relay', relay),
    domain && writeTerm('to', `@${domain}`),
    tag && writeTerm('tag', tag),
    key && writeTerm('key', key),
    time,
  ]
    .filter(Boolean)
    .join(' ');
}
