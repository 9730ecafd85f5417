import type { ResultOf } from '../../../../src/operations/table.ts';
import type { Tone } from '../../parts/badge.tsx';

/** What became of mail of one relay, recipient domain or tag, by day. */
export type RateRow = ResultOf<'rates'>['rows'][number];
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
export function figuresByDay(row: RateRow): Figures[] {
  return row.delivered.map((_, day) => figuresOf([row], day));
}

/** The figures of rows together: of one day, or of all. */
export function figuresOf(rows: readonly RateRow[], day?: number): Figures {
  const sum = (read: (row: RateRow) => readonly number[]) =>
    rows.reduce(
      (total, row) =>
        total + (day === undefined ? read(row).reduce((all, one) => all + one, 0) : (read(row)[day] ?? 0)),
      0,
    );
  const delivered = sum((row) => row.delivered);
  const failed = sum((row) => row.failed);
  const complained = sum((row) => row.complained);
  // What came back had been delivered before: it is one recipient, not two.
  const tried = delivered + failed - sum((row) => row.bounced);
  return {
    delivered,
    failed,
    complained,
    bounceRate: ratio(failed, tried),
    complaintRate: ratio(complained, delivered),
  };
}

/** Several rows as one. */
export function together(name: string, rows: readonly RateRow[]): RateRow {
  const length = Math.max(0, ...rows.map(({ delivered }) => delivered.length));
  const sum = (read: (row: RateRow) => readonly number[]) =>
    Array.from({ length }, (_, day) => rows.reduce((total, row) => total + (read(row)[day] ?? 0), 0));
  return {
    name,
    delivered: sum((row) => row.delivered),
    failed: sum((row) => row.failed),
    bounced: sum((row) => row.bounced),
    complained: sum((row) => row.complained),
  };
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

/** A rate: `0.08 %`, `4.2 %`, `37 %`; a dash where there is none. */
export function formatRate(rate: number | null): string {
  if (rate === null) return '–';
  const percent = rate * 100;
  const digits = percent === 0 || percent >= 10 ? 0 : percent >= 1 ? 1 : 2;
  return percent > 0 && percent < 0.005 ? '< 0.01 %' : `${percent.toFixed(digits)} %`;
}
