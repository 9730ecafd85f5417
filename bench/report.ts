import { type Spread, spreadOf } from './measure/statistics.ts';
import type { SideResult } from './pairs.ts';
import { METRICS, type Metric, type Sample, type Scenario, type Target } from './scenarios/scenario.ts';

/** One line of the report: a metric of all sides, and the first side's ratios to the others. */
export interface Line {
  readonly metric: Metric;
  /** Per side; null where the side does not have it. */
  readonly sides: readonly (Spread | null)[];
  /** Per baseline; null where one of the two does not have it. */
  readonly ratios: readonly (Spread | null)[];
  /** The targets, and whether the median reaches each. */
  readonly verdicts: readonly Verdict[];
}

/** See {@link Line.verdicts}. */
interface Verdict {
  readonly target: Target;
  readonly reached: boolean;
}

/** Draws a scenario's results together. */
export function summarise(scenario: Scenario, results: readonly SideResult[]): Line[] {
  const lines: Line[] = [];
  for (const metric of Object.keys(METRICS) as Metric[]) {
    const sides = results.map(({ samples }) => spreadOrNull(valuesOf(samples, metric)));
    if (sides.every((side) => side === null)) continue;
    const [tested, ...baselines] = results;
    const ratios = baselines.map((baseline) => spreadOrNull(ratiosOf(tested, baseline, metric)));
    const names = baselines.map(({ name }) => name);
    const verdicts = scenario.targets.flatMap((target) => {
      if (target.metric !== metric) return [];
      const place = target.to === undefined ? 0 : names.indexOf(target.to);
      return judge(target, sides[0] ?? null, ratios[place] ?? null);
    });
    lines.push({ metric, sides, ratios, verdicts });
  }
  return lines;
}

/** The lines as text, each column as `median [min to max]`. */
export function renderReport(
  scenario: Scenario,
  results: readonly SideResult[],
  lines: readonly Line[],
): string {
  const head = [
    '',
    ...results.map((result) => result.name),
    ...results.slice(1).map((result) => (results.length > 2 ? `ratio to ${result.name}` : 'ratio')),
    'target',
  ];
  const rows = lines.map((line) => [
    METRICS[line.metric].title,
    ...line.sides.map((side) => show(side, METRICS[line.metric].digits)),
    ...line.ratios.map((ratio) => show(ratio, 3)),
    line.verdicts.map(showVerdict).join('; '),
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const text = [head, ...rows].map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [`${scenario.name}: ${scenario.shows}`, ...text].join('\n');
}

function valuesOf(samples: readonly Sample[], metric: Metric): number[] {
  return samples.map((sample) => sample[metric] ?? Number.NaN).filter((value) => !Number.isNaN(value));
}

/** Pair by pair: what disturbed the machine disturbed both. */
function ratiosOf(
  tested: SideResult | undefined,
  baseline: SideResult | undefined,
  metric: Metric,
): number[] {
  if (tested === undefined || baseline === undefined) return [];
  const below = valuesOf(baseline.samples, metric);
  return valuesOf(tested.samples, metric)
    .map((value, pair) => value / (below[pair] ?? Number.NaN))
    .filter((ratio) => Number.isFinite(ratio));
}

function spreadOrNull(values: readonly number[]): Spread | null {
  return values.length === 0 ? null : spreadOf(values);
}

function judge(target: Target, value: Spread | null, ratio: Spread | null): Verdict[] {
  const median = (target.of === 'ratio' ? ratio : value)?.median;
  if (median === undefined) return [];
  const { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = target;
  return [{ target, reached: median >= atLeast && median <= atMost }];
}

function show(spread: Spread | null, digits: number): string {
  if (spread === null) return '';
  const [median, min, max] = [spread.median, spread.min, spread.max].map((value) => value.toFixed(digits));
  return min === max ? `${median}` : `${median} [${min} to ${max}]`;
}

function showVerdict({ target, reached }: Verdict): string {
  const bound = target.atLeast === undefined ? `≤ ${round(target.atMost)}` : `≥ ${round(target.atLeast)}`;
  const of = target.of === 'value' ? '' : target.to === undefined ? 'ratio ' : `ratio to ${target.to} `;
  return `${of}${bound}: ${reached ? 'reached' : 'MISSED'}`;
}

function round(value: number | undefined): string {
  return String(Math.round((value ?? Number.NaN) * 1000) / 1000);
}
