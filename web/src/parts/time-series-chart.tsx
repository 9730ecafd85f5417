import { lazy, Suspense } from 'react';
import { steadily } from '../connection.ts';
import { formatCount, formatStep } from '../format.ts';
import { useZone } from '../zone.ts';
import type { ChartProps } from './chart-canvas.tsx';
import { classNames, FILLS } from './class-names.ts';

/** Fetched when the first chart is shown: it is not part of the first load. */
const Canvas = lazy(steadily(() => import('./chart-canvas.tsx')));

/** Days are counted by UTC: those of another time zone begin within them. */
const DAY_SECONDS = 86_400;

/** Counts over time, with a legend that sums them up, and a table for those who do not see it. */
export function TimeSeriesChart(props: Omit<ChartProps, 'zone'>) {
  const chosen = useZone();
  const { label, series, from, stepSeconds, onPick, height = 200 } = props;
  const zone = stepSeconds >= DAY_SECONDS ? 'UTC' : chosen;
  const length = Math.max(0, ...series.map(({ values }) => values.length));
  const isEmpty = series.every(({ values }) => values.every((value) => value === 0));
  return (
    <figure aria-label={label} className="min-w-0">
      <figcaption className="mb-2 flex flex-wrap gap-x-5 gap-y-1 text-sm">
        {series.map(({ label: name, color, values }) => (
          <span key={name} className="inline-flex items-center gap-1.5">
            <span aria-hidden className={classNames('size-2.5 rounded-xs', FILLS[color])} />
            <span className="text-soft">{name}</span>
            <span className="font-medium">{formatCount(values.reduce((sum, value) => sum + value, 0))}</span>
          </span>
        ))}
      </figcaption>
      <div aria-hidden className="relative" style={{ height }}>
        {isEmpty && (
          <div className="pointer-events-none absolute inset-0 z-1 flex items-center justify-center text-soft">
            Nothing in this time
          </div>
        )}
        <Suspense fallback={<div className="skeleton size-full opacity-40" />}>
          <Canvas {...props} height={height} zone={zone} />
        </Suspense>
      </div>
      <div className="sr-only">
        <table>
          <caption>{onPick ? `${label}. A time opens the messages accepted in it.` : label}</caption>
          <thead>
            <tr>
              <th scope="col">From</th>
              {series.map(({ label: name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Array.from({ length }, (_, step) => {
              const at = from + step * stepSeconds * 1000;
              return (
                <tr key={at}>
                  <th scope="row">
                    {onPick === undefined ? (
                      formatStep(at, stepSeconds, zone)
                    ) : (
                      <button type="button" tabIndex={-1} onClick={() => onPick(at, at + stepSeconds * 1000)}>
                        {formatStep(at, stepSeconds, zone)}
                      </button>
                    )}
                  </th>
                  {series.map(({ label: name, values }) => (
                    <td key={name}>{values[step] ?? 0}</td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
