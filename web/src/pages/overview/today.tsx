import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatChange, formatCount } from '../../format.ts';
import { Stat, StatRow } from '../../parts/card.tsx';

type Overview = ResultOf<'overview'>;
type Counted = keyof Overview['today'];

const FIGURES: readonly {
  readonly event: Counted;
  readonly label: string;
  readonly tone?: 'delivered' | 'failed' | 'retrying';
}[] = [
  { event: 'received', label: 'Accepted today' },
  { event: 'delivered', label: 'Delivered today', tone: 'delivered' },
  { event: 'failed', label: 'Failed today', tone: 'failed' },
  { event: 'retried', label: 'Attempts deferred', tone: 'retrying' },
  { event: 'denied', label: 'Refused at the door' },
];

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** The UTC day so far, against the same weekday up to the same time. */
export function Today({ view: { today, lastWeek } }: { readonly view: Overview }) {
  return (
    <StatRow>
      {FIGURES.map(({ event, label, tone }) => (
        <Stat
          key={event}
          label={label}
          value={formatCount(today[event])}
          tone={today[event] > 0 ? tone : undefined}
          {...(lastWeek && { note: <Comparison now={today[event]} before={lastWeek[event]} /> })}
        />
      ))}
    </StatRow>
  );
}

function Comparison({ now, before }: { readonly now: number; readonly before: number }) {
  const change = formatChange(now, before);
  return (
    <>
      {change !== null && <span className="font-medium text-ink">{change}</span>}
      {change !== null && ' '}
      <span className="whitespace-nowrap">against {formatCount(before)}</span>
    </>
  );
}

/** What the figures of the day mean, in a line. */
export function dayNote({ time, lastWeek }: Pick<Overview, 'time' | 'lastWeek'>): string {
  const now = new Date(time);
  const day = WEEKDAYS[now.getUTCDay()] ?? '';
  const until = now.toISOString().slice(11, 16);
  const today = `Today is ${day}, by UTC; it is ${until} there.`;
  return lastWeek === null ? today : `${today} Compared with last ${day} up to the same time.`;
}
