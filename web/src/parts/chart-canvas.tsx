import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { formatCount, formatShort, formatStep } from '../format.ts';
import { tokenColor, useIsDark } from '../theme.ts';
import { classNames } from './class-names.ts';

/** Bars of a chart, which stand on those of the series after it. */
export interface ChartSeries {
  readonly label: string;
  readonly color: 'delivered' | 'captured' | 'failed' | 'retrying';
  readonly values: readonly number[];
}

/** See {@link TimeSeriesChart}. */
export interface ChartProps {
  /** What is shown, read aloud. */
  readonly label: string;
  /** Start of the first step, in milliseconds. */
  readonly from: number;
  readonly stepSeconds: number;
  readonly series: readonly ChartSeries[];
  readonly height?: number;
  /** Opens the messages accepted in a step, given its start and its end in milliseconds; no index finds those that ended then. */
  readonly onPick?: ((from: number, until: number) => void) | undefined;
  /** The time zone in which times are written. */
  readonly zone: string;
}

/** The drawing of a chart. Only `time-series-chart.tsx` uses it, lazily. */
export default function ChartCanvas({ from, stepSeconds, series, zone, onPick, height = 200 }: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const isDark = useIsDark();
  const length = Math.max(1, ...series.map(({ values }) => values.length));
  const times = Array.from({ length }, (_, step) => from / 1000 + step * stepSeconds);
  const stacked = stack(series, length);
  const data: uPlot.AlignedData = [times, ...stacked];
  const latest = useRef({ series, times, stepSeconds, zone, onPick });
  latest.current = { series, times, stepSeconds, zone, onPick };
  const shape = `${series.map(({ label, color }) => `${label}:${color}`).join(',')}/${isDark}/${stepSeconds}/${height}/${zone}`;

  // Drawn anew when what it looks like changes; new figures are only set.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `shape` stands for all that it depends on
  useEffect(() => {
    const element = holder.current;
    if (!element) return;
    const options = optionsOf({ series, height, stepSeconds, zone, width: element.clientWidth });
    options.hooks = { setCursor: [(drawn) => showTip(drawn, tip.current, latest.current)] };
    const drawn = new uPlot(options, data, element);
    plot.current = drawn;
    drawn.over.addEventListener('click', () => pick(drawn, latest.current));
    const observer = new ResizeObserver(() => drawn.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      drawn.destroy();
      plot.current = null;
    };
  }, [shape]);

  useEffect(() => {
    plot.current?.setData(data);
  });

  return (
    <div className="relative">
      <div
        ref={holder}
        className={classNames('w-full overflow-hidden', onPick && '[&_.u-over]:cursor-pointer')}
      />
      <div
        ref={tip}
        hidden
        className="pointer-events-none absolute top-1 z-10 rounded-md border border-line bg-raised px-2.5 py-1.5 text-xs whitespace-pre shadow-raised"
      />
    </div>
  );
}

/** What is drawn for each series: the sum of it and those below it. The first series is drawn at the back. */
function stack(series: ChartProps['series'], length: number): number[][] {
  const below = new Array<number>(length).fill(0);
  const heights = [...series].reverse().map(({ values }) => {
    const row = below.map((sum, step) => sum + (values[step] ?? 0));
    for (const [step, sum] of row.entries()) below[step] = sum;
    return row;
  });
  return heights.reverse();
}

/** Distances of the lines of counts, which are whole. */
const WHOLE = Array.from({ length: 13 }, (_, power) => [1, 2, 5].map((times) => times * 10 ** power)).flat();

function optionsOf({
  series,
  height,
  stepSeconds,
  zone,
  width,
}: Pick<ChartProps, 'series' | 'stepSeconds' | 'zone'> & { height: number; width: number }): uPlot.Options {
  const soft = tokenColor('soft');
  const grid = tokenColor('chart-grid');
  const font = '11px system-ui, sans-serif';
  const bars = uPlot.paths.bars?.({ size: [0.72, 28], align: 1, radius: 0.12 });
  return {
    width,
    height,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone === 'UTC' ? 'Etc/UTC' : zone),
    legend: { show: false },
    cursor: { y: false, drag: { setScale: false }, points: { show: false } },
    scales: {
      x: { range: (_, low, high) => [low, high + stepSeconds] },
      y: { range: (_, __, high) => [0, Math.max(4, high * 1.08)] },
    },
    axes: [
      {
        stroke: soft,
        font,
        size: 40,
        grid: { show: false },
        ticks: { stroke: grid, size: 4 },
        // The library takes such rows; its types name only one of the forms.
        values: [
          [86_400, '{D} {MMM}', null, null, null, null, null, null, 1],
          [60, '{HH}:{mm}', '\n{D} {MMM}', null, null, null, null, null, 1],
        ] as unknown as uPlot.Axis.Values,
      },
      {
        stroke: soft,
        font,
        size: 42,
        space: height < 150 ? 20 : 30,
        incrs: WHOLE,
        grid: { stroke: grid, width: 1 },
        ticks: { show: false },
        values: (_, splits) => splits.map(formatShort),
      },
    ],
    series: [
      {},
      ...series.map(({ label, color }): uPlot.Series => {
        return {
          label,
          stroke: 'transparent',
          width: 0,
          points: { show: false },
          fill: tokenColor(`chart-${color}`),
          ...(bars && { paths: bars }),
        };
      }),
    ],
  };
}

type Steps = Pick<ChartProps, 'stepSeconds'> & { readonly times: readonly number[] };

/** The step under the pointer; -1: there is none. */
function stepAt(drawn: uPlot, { times, stepSeconds }: Steps): number {
  const left = drawn.cursor.left ?? -1;
  return left < 0 ? -1 : Math.floor((drawn.posToVal(left, 'x') - (times[0] ?? 0)) / stepSeconds);
}

function pick(drawn: uPlot, { times, stepSeconds, onPick }: Steps & Pick<ChartProps, 'onPick'>): void {
  const at = times[stepAt(drawn, { times, stepSeconds })];
  if (at !== undefined) onPick?.(at * 1000, (at + stepSeconds) * 1000);
}

/** Shows the figures of the step under the pointer. */
function showTip(
  drawn: uPlot,
  tip: HTMLDivElement | null,
  {
    series,
    times,
    stepSeconds,
    zone,
    onPick,
  }: Pick<ChartProps, 'series' | 'stepSeconds' | 'zone' | 'onPick'> & { times: readonly number[] },
): void {
  if (!tip) return;
  const left = drawn.cursor.left ?? -1;
  const step = stepAt(drawn, { times, stepSeconds });
  const at = times[step];
  tip.hidden = at === undefined;
  if (at === undefined) return;
  const title = formatStep(at * 1000, stepSeconds, zone);
  const figures = series.map(({ label, values }) => `${label}  ${formatCount(values[step] ?? 0)}`);
  tip.textContent = [title, ...figures, ...(onPick ? ['Opens what was accepted then'] : [])].join('\n');
  const room = drawn.over.clientWidth;
  const offset = drawn.over.offsetLeft;
  tip.style.left = left > room / 2 ? '' : `${offset + left + 14}px`;
  tip.style.right = left > room / 2 ? `${room - left + 14}px` : '';
}
