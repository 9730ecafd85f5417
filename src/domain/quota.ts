/** How many recipients a relay may have in a day: its quota, its warm-up, and the part reserved for high priority. */
import type { Priority } from './message.ts';
import type { RelayLimits } from './relay.ts';

const DAY_MS = 86_400_000;

/** The UTC day of a wall time: whole days since the epoch. */
export function dayOf(wallMs: number): number {
  return Math.floor(wallMs / DAY_MS);
}

/** When the day after `day` begins (wall ms). */
export function endOfDay(day: number): number {
  return (day + 1) * DAY_MS;
}

/** A day (whole days since the epoch) as written in a definition, such as `2026-12-01`. */
export function dayText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

/** When a warm-up begins that has not begun by that day; null for every other relay. */
export function beginsAfter(day: number, { warmUp }: Pick<RelayLimits, 'warmUp'>): number | null {
  return warmUp !== null && day < warmUp.startDay ? warmUp.startDay : null;
}

/** Recipients the relay may have on that day; null for no limit. */
export function allowanceOf(
  { maxPerDay, warmUp }: Pick<RelayLimits, 'maxPerDay' | 'warmUp'>,
  day: number,
): number | null {
  const quota = maxPerDay > 0 ? maxPerDay : null;
  // Before its first day a warming relay may have nothing: its date was set on purpose.
  const step = warmUp === null ? undefined : day < warmUp.startDay ? 0 : warmUp.perDay[day - warmUp.startDay];
  if (step === undefined) return quota;
  return quota === null ? step : Math.min(quota, step);
}

/** How much of an allowance mail of this priority may use: all of it, or what is not reserved for high priority. */
export function shareOf(allowance: number, reservePercent: number, priority: Priority): number {
  if (priority === 'high') return allowance;
  return allowance - Math.floor((allowance * reservePercent) / 100);
}

/**
 * When a relay that has had `used` recipients on that day may have more of this priority (wall ms); null if it may now.
 */
export function spentUntil(
  limits: Pick<RelayLimits, 'maxPerDay' | 'warmUp' | 'reservePercent'>,
  day: number,
  used: number,
  priority: Priority,
): number | null {
  const begins = beginsAfter(day, limits);
  // The end of the day before the warm-up begins.
  if (begins !== null) return endOfDay(begins - 1);
  const allowance = allowanceOf(limits, day);
  if (allowance === null) return null;
  return used >= shareOf(allowance, limits.reservePercent, priority) ? endOfDay(day) : null;
}

/**
 * Most recipients of one transaction if `left` are left today; a relay that takes all or none is not limited by that.
 */
export function mostAtOnce(
  { maxRecipients, takesWhole }: { readonly maxRecipients: number; readonly takesWhole: boolean },
  left: number,
): number {
  return takesWhole ? maxRecipients : Math.min(maxRecipients, left);
}

/** The share of an allowance from which on an operator is warned. */
export const QUOTA_ALERT = 0.8;

// Relays whose quota for today is used up, and the mail that waits for them.

/** A relay whose quota for today (UTC) is used up, except for the part reserved for high priority. */
export interface SpentRelay {
  readonly relay: string;
  /** Recipients it may have today. */
  readonly allowance: number;
  /** The allowance is a step of its warm-up. */
  readonly warming: boolean;
  /** The day on which its warm-up begins, such as `2026-12-01`; null once it has begun. */
  readonly begins: string | null;
  /** Deliveries that wait for it. */
  readonly waiting: number;
  /** How late the longest waiting one is, in ms. */
  readonly latenessMs: number;
}

/** The text for operators on a relay whose quota is used up. */
export function spentText({ relay, allowance, begins, waiting }: SpentRelay): string {
  const wait =
    waiting === 0
      ? 'no delivery waits for it'
      : `${waiting} ${waiting === 1 ? 'delivery waits' : 'deliveries wait'} for it`;
  return begins === null
    ? `${relay} has used up today’s quota of ${allowance} recipients, or all that is not reserved for high priority: ${wait} until midnight UTC.`
    : `${relay} gets no mail before ${begins} (UTC), when its warm-up begins: ${wait}.`;
}

/** Whether an operator should look: mail is late, and not just because of a warm-up. */
export function isShort({ warming, waiting, latenessMs }: SpentRelay, lateMs: number): boolean {
  return !warming && waiting > 0 && latenessMs > lateMs;
}

// What attempts take off a quota, and give back.

/** A request to give that many recipients to a relay. */
export interface QuotaRequest {
  readonly relay: string;
  /** Whole UTC days since the epoch. */
  readonly day: number;
  /** How many of this unit's recipients will be sent. */
  readonly recipients: number;
  /** Refused if the day's usage would exceed this. */
  readonly limit: number;
}

/** Recipients that an attempt took off a quota, and that proved not to have been taken. */
export interface QuotaRefund {
  readonly relay: string;
  /** The day they were charged to. */
  readonly day: number;
  readonly recipients: number;
}
