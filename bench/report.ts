import { type Spread, spreadOf } from './measure/statistics.ts';
import type { SideResult } from './pairs.ts';
import { METRICS, type Metric, type Sample, type Scenario, type Target } from './scenarios/scenario.ts';

/** What a scenario gave, drawn together. */
export interface Summary {
  /** Those that any side has, in the order in which they are shown. */
  readonly metrics: readonly Metric[];
  readonly rows: readonly Row[];
  readonly verdicts: readonly Verdict[];
}

/** A side's figures, or how one side's are to another's. */
export interface Row {
  readonly name: string;
  readonly isRatio: boolean;
  readonly values: Values;
  /** Why there are none, or fewer than of others. */
  readonly missing: string | null;
}

/** See {@link Row.values}. */
export type Values = Readonly<Partial<Record<Metric, Spread>>>;

/** A target, and what its median came to; null where a side is missing. */
export interface Verdict {
  readonly target: Target;
  readonly median: number | null;
  readonly reached: boolean | null;
}

/** Draws a scenario's results together. */
export function summarise(scenario: Scenario, results: readonly SideResult[]): Summary {
  const sides = results.map(({ name, samples, missing = null }): Row => {
    return { name, isRatio: false, values: spreadsOf(samples), missing };
  });
  const ratios = comparisonsOf(scenario, results).map(({ by, to }) => ratioRow(results, by, to));
  const metrics = (Object.keys(METRICS) as Metric[]).filter((metric) =>
    sides.some(({ values }) => values[metric] !== undefined),
  );
  const verdicts = scenario.targets.map((target) => judge(target, results));
  return { metrics, rows: [...sides, ...ratios.filter(({ values }) => !isEmpty(values))], verdicts };
}

/** A spread as text: the median, and where there are several values, the least and the most. */
function showSpread({ median, min, max }: Spread, digits: number): string {
  const [middle, least, most] = [median, min, max].map((value) => showNumber(value, digits));
  return least === most ? `${middle}` : `${middle} (${least}–${most})`;
}

/** A number with commas between its thousands. */
export function showNumber(value: number, digits: number): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** What a target asks, in words. */
export function showTarget(
  { metric, of, by, to, atLeast, atMost, aim }: Target,
  first: string,
  second: string,
): string {
  const bound = atLeast === undefined ? `at most ${round(atMost)}` : `at least ${round(atLeast)}`;
  const whose = by === undefined || by === first ? '' : `${by}: `;
  const title = METRICS[metric].title;
  const beyond = aim === undefined ? '' : `, aim ${round(aim)}`;
  return `${whose}${title} ${bound}${of === 'value' ? '' : ` × ${to ?? second}`}${beyond}`;
}

/** Whether a target was reached, in words. */
export function showVerdict({ target, median, reached }: Verdict): string {
  if (median === null) return 'not measured';
  const digits = target.of === 'ratio' ? ratioDigits(median) : METRICS[target.metric].digits;
  return `${showNumber(median, digits)}: ${reached ? 'reached' : 'MISSED'}`;
}

/** The figures of a row, as text: one for each metric, empty where it has none. */
export function showValues({ values, isRatio }: Row, metrics: readonly Metric[]): string[] {
  return metrics.map((metric) => {
    const spread = values[metric];
    return spread === undefined
      ? ''
      : showSpread(spread, isRatio ? ratioDigits(spread.median) : METRICS[metric].digits);
  });
}

/** A scenario's table as text, with what was asked below. */
export function renderReport(scenario: Scenario, { metrics, rows, verdicts }: Summary): string {
  const head = ['', ...metrics.map((metric) => METRICS[metric].title)];
  const table = [head, ...rows.map((row) => [row.name, ...showValues(row, metrics)])];
  const widths = head.map((_, column) => Math.max(...table.map((cells) => cells[column]?.length ?? 0)));
  const lines = table.map((cells) => cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '));
  const [first, second] = scenario.sides;
  const asked = verdicts.map(
    (verdict) => `  ${showTarget(verdict.target, first.name, second?.name ?? '')}: ${showVerdict(verdict)}`,
  );
  const missing = rows.flatMap((row) => (row.missing === null ? [] : [`  ${row.name}: ${row.missing}`]));
  return [
    `${scenario.name}: ${scenario.shows}`,
    ...lines.map((line) => line.trimEnd()),
    ...asked,
    ...missing,
  ].join('\n');
}

/** Those that the scenario names, and those of its targets; else the first side to each other. */
function comparisonsOf(
  { targets, sides: [first, second], compares }: Scenario,
  results: readonly SideResult[],
): readonly { readonly by: string; readonly to: string }[] {
  if (compares !== undefined) return compares;
  if (second === undefined) return [];
  const named = targets.flatMap(({ by = first.name, to = second.name }) => [{ by, to }]);
  const usual = results.slice(1).map(({ name }) => ({ by: first.name, to: name }));
  return named.some(({ by }) => by !== first.name) ? named : usual;
}

function ratioRow(results: readonly SideResult[], by: string, to: string): Row {
  const [tested, baseline] = [by, to].map((name) => results.find((result) => result.name === name));
  const values: Partial<Record<Metric, Spread>> = {};
  for (const metric of Object.keys(METRICS) as Metric[]) {
    const ratios = ratiosOf(tested, baseline, metric);
    if (ratios.length > 0) values[metric] = spreadOf(ratios);
  }
  return { name: `${by} ÷ ${to}`, isRatio: true, values, missing: null };
}

function spreadsOf(samples: readonly Sample[]): Values {
  const values: Partial<Record<Metric, Spread>> = {};
  for (const metric of Object.keys(METRICS) as Metric[]) {
    const known = samples.map((sample) => figureOf(sample, metric)).filter((value) => !Number.isNaN(value));
    if (known.length > 0) values[metric] = spreadOf(known);
  }
  return values;
}

/** JSON has null where a number was none. */
function figureOf(sample: Sample | undefined, metric: Metric): number {
  return sample?.[metric] ?? Number.NaN;
}

/** Pair by pair: what disturbed the machine disturbed both. */
function ratiosOf(
  tested: SideResult | undefined,
  baseline: SideResult | undefined,
  metric: Metric,
): number[] {
  const pairs = Math.min(tested?.samples.length ?? 0, baseline?.samples.length ?? 0);
  return Array.from(
    { length: pairs },
    (_, pair) => figureOf(tested?.samples[pair], metric) / figureOf(baseline?.samples[pair], metric),
  ).filter((ratio) => Number.isFinite(ratio) && ratio > 0);
}

function judge(target: Target, results: readonly SideResult[]): Verdict {
  const [first, second] = results;
  const by = target.by ?? first?.name ?? '';
  const to = target.to ?? second?.name ?? '';
  const tested = results.find(({ name }) => name === by);
  const values = target.of === 'ratio' ? ratioRow(results, by, to).values : spreadsOf(tested?.samples ?? []);
  const median = values[target.metric]?.median ?? null;
  if (median === null) return { target, median, reached: null };
  const { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = target;
  return { target, median, reached: median >= atLeast && median <= atMost };
}

/** Three that count. */
function ratioDigits(ratio: number): number {
  if (ratio >= 100) return 0;
  if (ratio >= 10) return 1;
  return ratio >= 1 ? 2 : 3;
}

function isEmpty(values: Values): boolean {
  return Object.keys(values).length === 0;
}

function round(value: number | undefined): string {
  return String(Math.round((value ?? Number.NaN) * 1000) / 1000);
}
