import type { MessageStatus } from '../domain/delivery.ts';

/** What every store counts, whatever it is made of. */

/** Events that are counted per day and minute; `relay_*` count recipients, the others as contract §8 says. */
export type CountedEvent =
  | 'received'
  | 'delivered'
  | 'failed'
  | 'retried'
  | 'denied'
  | 'relay_delivered'
  | 'relay_failed';

/**
 * Numbers that hold now. Message counts by status, bytes kept before and after the end, flags ever raised, and
 * deliveries that came back with a backup and that nobody has decided on.
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
 * Which retention rule holds a final message's contents; `gone` once they are removed; `held`: nothing is removed until
 * an operator has decided on what of it came back with a backup.
 */
export type Kept = 'sent' | 'captured' | 'gone' | 'held';

/** The gauge of the bytes that a rule of retention holds. */
export const BYTES_GAUGE = { sent: 'sent_bytes', captured: 'captured_bytes' } as const;

/** The gauge a message of a status is counted in; a failed one only while its contents are kept. */
export function gaugeOf(status: MessageStatus, hasContents: boolean): GaugeName | null {
  if (status === 'queued' || status === 'retrying') return 'incoming';
  if (status === 'processing') return 'processing';
  return status === 'failed' && hasContents ? 'failed_kept' : null;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The spans of time that events are counted by. Hours are made of minutes, when they are over. */
export type Period = 'minute' | 'hour' | 'day';

/** How long minutes live: until the same day of the next week is over. Those of relays, for a day and an hour. */
export const KEEP_MINUTES = 8 * 24 * 60;
export const KEEP_RELAY_MINUTES = 25 * 60;
/** As far back as is shown. */
export const KEEP_HOURS = 410;
export const KEEP_DAYS = 410;

/** How many days back quotas that were used are remembered. */
export const KEEP_QUOTA_DAYS = 40;

/** How many minutes `last5m` looks back; the running one is the last of them. */
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
