import type { ResultOf } from '../../../../src/operations/table.ts';

// A file of its own: its tests need no page.

/** What the chart of the overview can be over. */
export const RANGES = [
  { value: 'hour', label: '1 h', step: 'minute', count: 60, words: 'the last hour, by minute' },
  { value: 'day', label: '24 h', step: 'hour', count: 24, words: 'the last 24 hours, by hour' },
  { value: 'week', label: '7 d', step: 'hour', count: 168, words: 'the last 7 days, by hour' },
  { value: 'month', label: '30 d', step: 'day', count: 30, words: 'the last 30 days, by day of UTC' },
] as const;

/** What a chart is over. */
export type Range = (typeof RANGES)[number];

/** The range of which the address says nothing. */
export const BY_DEFAULT = RANGES[1];

const SECONDS: Readonly<Record<Range['step'], number>> = { minute: 60, hour: 3_600, day: 86_400 };

/** What the figures of an answer are over, which need not be what was asked for since. */
export function rangeOf({
  stepSeconds,
  counts,
}: Pick<ResultOf<'overview'>['series'], 'stepSeconds' | 'counts'>): Range {
  const steps = counts.received?.length;
  return RANGES.find(({ step, count }) => SECONDS[step] === stepSeconds && count === steps) ?? BY_DEFAULT;
}
