import { formatRate } from '../format.ts';
import { classNames, FILLS } from './class-names.ts';

/** A line that a rate should stay below. */
export interface Threshold {
  readonly rate: number;
  readonly label: string;
  readonly tone: 'retrying' | 'failed';
}

const LINE_TONES = { retrying: 'border-retrying text-retrying', failed: 'border-failed text-failed' };

/** A rate by day, with the lines that it should stay below. */
export function RateChart({
  label,
  from,
  rates,
  said,
  top,
  thresholds = [],
  color,
}: {
  /** What is shown, read aloud. */
  readonly label: string;
  /** Start of the first day, RFC 3339. */
  readonly from: string;
  /** One a day; null: there is none. */
  readonly rates: readonly (number | null)[];
  /** What is said of each day: its rate and its counts. */
  readonly said: readonly string[];
  /** The rate at the top of the chart: at least and at most. Higher bars are cut, and say so. */
  readonly top: readonly [number, number];
  readonly thresholds?: readonly Threshold[];
  readonly color: 'failed' | 'retrying';
}) {
  const highest = Math.max(0, ...rates.map((rate) => rate ?? 0));
  const scale = Math.min(top[1], Math.max(top[0], highest * 1.15));
  const days = rates.map((_, day) =>
    new Date(Date.parse(from) + day * 86_400_000).toISOString().slice(0, 10),
  );
  // The names of lines stand beside the bars.
  const gutter = thresholds.length > 0 && 'mr-12';
  const isEmpty = rates.every((rate) => rate === null);
  return (
    <figure aria-label={label} className="min-w-0">
      <div aria-hidden className={classNames('relative h-44 border-b border-line', gutter)}>
        {isEmpty ? (
          <div className="flex h-full items-center justify-center text-soft">No rates in this time</div>
        ) : (
          <>
            {thresholds.map(({ rate, label: name, tone }) => (
              <div
                key={rate}
                className={classNames('absolute inset-x-0 z-1 border-t border-dashed', LINE_TONES[tone])}
                style={{ bottom: `${(rate / scale) * 100}%` }}
              >
                <span className="absolute -right-12 bottom-0 w-11 translate-y-1/2 text-xs">{name}</span>
              </div>
            ))}
            <span className="absolute top-0 left-0 text-xs text-soft">{formatRate(scale)}</span>
            <div className="flex h-full items-end gap-px pt-4 sm:gap-0.5">
              {rates.map((rate, day) => (
                <div
                  key={days[day]}
                  title={`${days[day]}: ${said[day]}`}
                  className="flex h-full min-w-0 flex-1 flex-col items-center justify-end"
                >
                  {rate !== null && rate > scale && <span className="-mt-4 text-xs leading-4">▲</span>}
                  {rate !== null && rate > 0 && (
                    <div
                      className={classNames('w-full rounded-t-xs', FILLS[color])}
                      style={{ height: `max(2px, ${Math.min(1, rate / scale) * 100}%)` }}
                    />
                  )}
                </div>
              ))}
            </div>
          </>
        )}
      </div>
      <div aria-hidden className={classNames('mt-1 flex justify-between text-xs text-soft', gutter)}>
        <span>{dayWords(days[0])}</span>
        <span>{dayWords(days.at(-1))}</span>
      </div>
      <div className="sr-only">
        <table>
          <caption>{label}</caption>
          <thead>
            <tr>
              <th scope="col">Day (UTC)</th>
              <th scope="col">Rate and counts</th>
            </tr>
          </thead>
          <tbody>
            {said.map((words, day) => (
              <tr key={days[day]}>
                <th scope="row">{days[day]}</th>
                <td>{words}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

function dayWords(day: string | undefined): string {
  return day === undefined ? '' : DAY.format(new Date(day));
}
