import { METRICS, type MetricName } from './metric-table.ts';

/** Text exposition format 0.0.4, as Prometheus reads it. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** One value of a series, under its labels. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Observations sorted into buckets. */
export interface HistogramSample {
  /** Upper bounds, rising, in the series' unit. */
  readonly bounds: readonly number[];
  /** Observations in each bucket, and beyond the last bound: one more than there are bounds. */
  readonly counts: readonly number[];
  readonly sum: number;
}

type Declared = typeof METRICS;

/** A value for every declared series: a histogram's buckets, or samples for everything else. */
export type MetricValues = {
  readonly [N in MetricName]: Declared[N] extends { readonly type: 'histogram' }
    ? HistogramSample
    : readonly Sample[];
};

/** Writes every series, in the table's order. */
export function renderExposition(values: MetricValues): string {
  let text = '';
  for (const [name, { type, help }] of Object.entries(METRICS)) {
    text += `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
    const value = values[name as MetricName];
    text += isHistogram(value) ? renderHistogram(name, value) : renderSamples(name, value);
  }
  return text;
}

function isHistogram(value: HistogramSample | readonly Sample[]): value is HistogramSample {
  return 'bounds' in value;
}

function renderSamples(name: string, samples: readonly Sample[]): string {
  return samples.map(({ labels, value }) => `${name}${renderLabels(labels)} ${value}\n`).join('');
}

function renderHistogram(name: string, { bounds, counts, sum }: HistogramSample): string {
  let text = '';
  let total = 0;
  counts.forEach((count, i) => {
    total += count;
    text += `${name}_bucket{le="${bounds[i] ?? '+Inf'}"} ${total}\n`;
  });
  return `${text}${name}_sum ${sum}\n${name}_count ${total}\n`;
}

function renderLabels(labels: Sample['labels']): string {
  if (labels === undefined) return '';
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return `{${pairs.join(',')}}`;
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}
