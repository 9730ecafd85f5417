/** What became of mail, in recipients: what is counted, and by what. */
import { TIME_BUCKETS } from './delivery-times.ts';

/**
 * `accepted` from senders; `delivered`: taken by a next hop, whatever became of them later; `captured` by the local
 * inbox; `failed`: refused, given up, or come back; `deferred`: attempts that left them waiting; `bounced`: come back
 * after a next hop had taken them; `complained`: called it spam.
 */
export const TRAFFIC_MEASURES = [
  'accepted',
  'delivered',
  'captured',
  'failed',
  'deferred',
  'bounced',
  'complained',
] as const;

/** See {@link TRAFFIC_MEASURES}. */
export type TrafficMeasure = (typeof TRAFFIC_MEASURES)[number];

/** Counts of recipients. */
export type TrafficSums = Readonly<Record<TrafficMeasure, number>> & {
  /** Of the delivered, how long they took (`delivery-times.ts`). */
  readonly times: readonly number[];
};

/** By what mail is told apart. */
export const TRAFFIC_DIMENSIONS = ['relay', 'domain', 'provider', 'tag', 'key'] as const;

/** See {@link TRAFFIC_DIMENSIONS}. */
export type TrafficDimension = (typeof TRAFFIC_DIMENSIONS)[number];

/** Mail that is alike in all dimensions. Empty: it has none; {@link OTHERS}: one that is not told apart. */
export interface TrafficKind {
  readonly relay: string;
  /** Of the recipient, in lower case. */
  readonly domain: string;
  /** A name of `mailbox-provider.ts`. */
  readonly provider: string;
  readonly keyId: string;
  /** See {@link tagsText}. */
  readonly tags: string;
}

/** In place of what is beyond a bound. No value is like it, nor are tags. */
export const OTHERS = '*';

/** Mail of which nothing is told apart. */
export const NOT_TOLD: TrafficKind = {
  relay: OTHERS,
  domain: OTHERS,
  provider: OTHERS,
  keyId: OTHERS,
  tags: OTHERS,
};

/** Characters of a domain, and of tags together: what is beyond is cut off. */
const MAX_DOMAIN = 255;
const MAX_TAGS = 200;

/** A domain as it is counted. */
export function domainText(domain: string): string {
  return domain.length > MAX_DOMAIN ? OTHERS : domain;
}

/** Tags as one text: each in a line of its own, and as many as there is room for. A tag has no line break. */
export function tagsText(tags: readonly string[]): string {
  if (tags.length === 0) return '';
  let text = '\n';
  for (const tag of tags.length === 1 ? tags : [...new Set(tags)].sort())
    if (text.length + tag.length < MAX_TAGS) text += `${tag}\n`;
  return text === '\n' ? OTHERS : text;
}

/** What a text of tags has in it if one of them is this tag. */
export function tagLine(tag: string): string {
  return `\n${tag}\n`;
}

/** The tags of such a text; the empty string for none. */
export function tagsIn(text: string): readonly string[] {
  return text === '' || text === OTHERS ? [text] : text.slice(1, -1).split('\n');
}

/** Nothing yet. */
export function noTraffic(): { -readonly [K in TrafficMeasure]: number } & { readonly times: number[] } {
  return {
    accepted: 0,
    delivered: 0,
    captured: 0,
    failed: 0,
    deferred: 0,
    bounced: 0,
    complained: 0,
    times: Array.from({ length: TIME_BUCKETS }, () => 0),
  };
}

/** Adds counts to others. */
export function addTraffic(to: ReturnType<typeof noTraffic>, more: TrafficSums): void {
  for (const measure of TRAFFIC_MEASURES) to[measure] += more[measure];
  for (const [place, count] of more.times.entries()) to.times[place] = (to.times[place] ?? 0) + count;
}

type Ends = Pick<TrafficSums, 'delivered' | 'failed' | 'bounced'>;

/** Recipients that mail was delivered to or failed for. One whose mail came back is both, and counts once. */
export function endedOf({ delivered, failed, bounced }: Ends): number {
  // What came back may have been delivered before the time that is counted.
  return Math.max(0, delivered - bounced) + failed;
}

/** Of those with an end, the share (0 to 1) that was delivered and did not come back; null: none has one. */
export function successOf(ends: Ends): number | null {
  const ended = endedOf(ends);
  return ended === 0 ? null : (ended - ends.failed) / ended;
}

/** How many recipients something became of, and attempts that left them waiting: what rows are sorted by. */
export function volumeOf({ delivered, captured, failed, deferred }: TrafficSums): number {
  return delivered + captured + failed + deferred;
}
