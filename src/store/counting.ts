import type { MessageStatus } from '../domain/delivery.ts';

/** What every store counts. */

/**
 * Events counted per day and minute; `relay_*` count recipients, the others follow contract §8. `captured` are those of
 * the delivered messages that only the local inbox took.
 */
export type CountedEvent =
  | 'received'
  | 'delivered'
  | 'captured'
  | 'failed'
  | 'retried'
  | 'denied'
  | 'relay_delivered'
  | 'relay_failed'
  | 'relay_bounced'
  | 'relay_complained';

/**
 * Present values: messages by status, bytes kept before and after the end, flags ever raised, and restored deliveries
 * that nobody has decided on.
 */
export type GaugeName =
  | 'incoming'
  | 'processing'
  | 'failed_kept'
  | 'queued_bytes'
  | 'sent_bytes'
  | 'captured_bytes'
  | 'possible_duplicates'
  | 'restored';

/**
 * The retention rule that keeps a final message's contents; `gone` once they are removed; `held`: nothing is removed
 * until an operator has decided on its restored deliveries.
 */
export type Kept = 'sent' | 'captured' | 'gone' | 'held';

/** The gauge of the bytes kept by a retention rule. */
export const BYTES_GAUGE = { sent: 'sent_bytes', captured: 'captured_bytes' } as const;

/** The gauge that counts messages of a status; a failed one only while its contents are kept. */
export function gaugeOf(status: MessageStatus, hasContents: boolean): GaugeName | null {
  if (status === 'queued' || status === 'retrying') return 'incoming';
  if (status === 'processing') return 'processing';
  return status === 'failed' && hasContents ? 'failed_kept' : null;
}

/** What is counted when a message reaches a status, by what keeps its contents then. */
export function eventsOf(status: MessageStatus, kept: Kept | null): readonly CountedEvent[] {
  if (status === 'failed') return ['failed'];
  if (status !== 'delivered') return [];
  return kept === 'captured' ? ['delivered', 'captured'] : ['delivered'];
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The periods by which events are counted. Hours are summed from minutes once they are over. */
export type Period = 'minute' | 'hour' | 'day';

/** How long minutes are kept: until the same weekday next week is over. Relays' minutes: a day and an hour. */
export const KEEP_MINUTES = 8 * 24 * 60;
export const KEEP_RELAY_MINUTES = 25 * 60;
/** As far back as the dashboard shows. */
export const KEEP_HOURS = 410;
export const KEEP_DAYS = 410;

/** How many days the usage of quotas is kept. */
export const KEEP_QUOTA_DAYS = 40;

/** How many minutes `last5m` covers, including the current one. */
export const RECENT_MINUTES = 5;

/** The UTC minute of a wall time, counted from the epoch. */
export function minuteOf(now: number): number {
  return Math.floor(now / MINUTE_MS);
}

/** The hour of such a minute, counted from the epoch. */
export function hourOfMinute(minute: number): number {
  return Math.floor(minute / 60);
}

/** The day of such a minute. */
export function dayOfMinute(minute: number): number {
  return dayOf(minute * MINUTE_MS);
}

/** The UTC day of a wall time, counted from the epoch. */
export function dayOf(now: number): number {
  return Math.floor(now / DAY_MS);
}
