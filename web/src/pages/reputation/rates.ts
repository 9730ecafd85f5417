import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatRate } from '../../format.ts';
import type { Tone } from '../../parts/badge.tsx';

/** What became of mail of one relay, recipient domain or tag, by day. */
export type RateRow = ResultOf<'rates'>['rows'][number];
/** The same, whatever its name. */
export type RateCounts = Omit<RateRow, 'name'>;
/** What rates are told by. */
export type RatesBy = 'relay' | 'domain' | 'tag';

/** Gmail asks senders to stay below it. */
export const ASKED_FOR = 0.001;
/** From here on Gmail and Yahoo no longer take a sender's mail as they did. */
export const LIMIT = 0.003;

/** Recipients of one day, or of several. */
export interface Figures {
  readonly delivered: number;
  /** Refused, given up, or come back. */
  readonly failed: number;
  readonly complained: number;
  /** Of those whose mail was tried to its end, the part that failed; null: there were none. */
  readonly bounceRate: number | null;
  /** Of those who got mail, the part that called it spam; null: nobody got any. */
  readonly complaintRate: number | null;
}

/** The figures of each day. */
export function figuresByDay(counts: RateCounts): Figures[] {
  return counts.failed.map((_, day) => figuresOf(counts, day));
}

/** The figures of one day, or of all. */
export function figuresOf(counts: RateCounts, day?: number): Figures {
  const sum = (column: readonly number[]) =>
    day === undefined ? column.reduce((all, one) => all + one, 0) : (column[day] ?? 0);
  const failed = sum(counts.failed);
  const complained = sum(counts.complained);
  const delivered = sum(counts.delivered);
  // What came back had been delivered before: it is one recipient, not two.
  const tried = delivered + failed - sum(counts.bounced);
  return {
    delivered,
    failed,
    complained,
    bounceRate: ratio(failed, tried),
    complaintRate: ratio(complained, delivered),
  };
}

/** Whether nothing is counted. */
export function isNothing({ delivered, failed, complained }: Figures): boolean {
  return delivered + failed + complained === 0;
}

/** How much of a day's mail came back, in words. */
export function bounceWords(figures: Figures): string {
  return isNothing(figures) ? 'no mail' : `${rateWords(figures.bounceRate)}, ${figures.failed} bounced`;
}

/** How much of a day's mail was called spam, in words. */
export function complaintWords(figures: Figures): string {
  const { delivered, complained, complaintRate } = figures;
  if (isNothing(figures)) return 'no mail';
  return `${rateWords(complaintRate)}, ${complained} of ${delivered}`;
}

function rateWords(rate: number | null): string {
  return rate === null ? 'no rate' : formatRate(rate);
}

/** What is told today may be of mail that was sent before: a rate is never more than all. */
function ratio(part: number, whole: number): number | null {
  return whole <= 0 ? null : Math.min(1, part / whole);
}

/** Less mail than this, with fewer complaints than three, says nothing. */
const ENOUGH_MAIL = 1_000;
const ENOUGH_COMPLAINTS = 3;

/** How a rate of complaints is to be taken. */
export function complaintTone({ delivered, complained, complaintRate }: Figures): Tone {
  if (complaintRate === null || (delivered < ENOUGH_MAIL && complained < ENOUGH_COMPLAINTS)) return 'neutral';
  if (complaintRate >= LIMIT) return 'bad';
  return complaintRate >= ASKED_FOR ? 'warn' : 'good';
}
