import { Link, useNavigate } from '@tanstack/react-router';
import { ArrowRight } from 'lucide-react';
import { lazy, Suspense } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { useAddress } from '../../address.ts';
import { steadily } from '../../connection.ts';
import { formatChange, formatCount, formatRate, formatWithin, timeQuery } from '../../format.ts';
import { ButtonLink } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import { Card, Page, Stat, StatRow } from '../../parts/page.tsx';
import { Fetched } from '../../parts/states.tsx';
import { Switch } from '../../parts/switch.tsx';
import { TimeSeriesChart } from '../../parts/time-series-chart.tsx';
import { Segments } from '../../parts/toolbar.tsx';
import { useCall } from '../../queries.ts';
import { Banners, Failures } from './banners.tsx';
import { FATES, Flow, RelaysTable } from './flow.tsx';

const LiveMode = lazy(steadily(() => import('./live-mode.tsx')));

/** The figures of the last minutes move with time, which no hint tells of. */
const EVERY_MS = 15_000;

/** What the chart of the overview can be over. */
const RANGES = [
  { value: 'hour', label: '1 h', step: 'minute', count: 60, words: 'the last hour, by minute' },
  { value: 'day', label: '24 h', step: 'hour', count: 24, words: 'the last 24 hours, by hour' },
  { value: 'week', label: '7 d', step: 'hour', count: 168, words: 'the last 7 days, by hour' },
  { value: 'month', label: '30 d', step: 'day', count: 30, words: 'the last 30 days, by day of UTC' },
] as const;

/** Traffic is not counted by hour for as long as a week. */
const TRAFFIC_WEEK = { step: 'day', count: 7 } as const;

/** What a chart is over. */
type Range = (typeof RANGES)[number];

/** The range of which the address says nothing. */
const BY_DEFAULT = RANGES[1];

const SECONDS: Readonly<Record<Range['step'], number>> = { minute: 60, hour: 3_600, day: 86_400 };

/** How the service does: what someone sees who looks in for five seconds, and what they should know. */
export function OverviewPage() {
  const [{ range: chosen = 'day', live = false }, put] = useAddress();
  const range = RANGES.find(({ value }) => value === chosen) ?? BY_DEFAULT;
  const overview = useCall(
    'overview',
    { step: range.step, count: range.count },
    { topics: ['messages', 'queue', 'relays', 'health'], everyMs: EVERY_MS, keep: true, prompt: true },
  );
  return (
    <Page
      title="Overview"
      {...(overview.data && { note: dayNote(overview.data) })}
      actions={<Switch label="Live" checked={live} onChange={(on) => put({ live: on || undefined })} />}
    >
      <Fetched query={overview} lines={3} shape="figures">
        {(view) => (
          <div className="space-y-4">
            <Banners banners={view.banners} relays={view.relays} />
            {view.empty && <Welcome />}
            {live ? (
              <Suspense fallback={<Flow view={view} />}>
                <LiveMode />
              </Suspense>
            ) : (
              <Flow view={view} />
            )}
            <Today view={view} />
            <div className="grid gap-4 xl:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
              <OutcomesChart
                series={view.series}
                chosen={range}
                onChange={(next) => put({ range: next === 'day' ? undefined : next })}
              />
              <Failures failures={view.failures} />
            </div>
            <Card flush title="Relays" note="Recipients, today by UTC.">
              <RelaysTable relays={view.relays} />
            </Card>
          </div>
        )}
      </Fetched>
    </Page>
  );
}

type Overview = ResultOf<'overview'>;

/** What the figures of an answer are over, which need not be what was asked for since. */
export function rangeOf({ stepSeconds, counts }: Pick<Overview['series'], 'stepSeconds' | 'counts'>): Range {
  const steps = counts.received?.length;
  return RANGES.find(({ step, count }) => SECONDS[step] === stepSeconds && count === steps) ?? BY_DEFAULT;
}

const FIGURES: readonly {
  readonly event: keyof Overview['today'];
  readonly label: string;
  readonly tone?: 'delivered' | 'captured' | 'failed' | 'retrying';
}[] = [
  { event: 'received', label: 'Accepted today' },
  ...FATES.map(({ event, label }) => ({ event, label: `${label} today`, tone: event })),
  { event: 'retried', label: 'Attempts deferred', tone: 'retrying' },
  { event: 'denied', label: 'Refused at the door' },
];

/** The UTC day so far, against the same weekday up to the same time. */
export function Today({ view: { today, lastWeek } }: { readonly view: Overview }) {
  return (
    <StatRow>
      {FIGURES.map(({ event, label, tone }) => (
        <Stat
          key={event}
          label={event === 'denied' ? <DoorLink label={label} /> : label}
          value={formatCount(today[event])}
          tone={today[event] > 0 ? tone : undefined}
          {...(lastWeek && { note: <Comparison now={today[event]} before={lastWeek[event]} /> })}
        />
      ))}
    </StatRow>
  );
}

/** Leads from the figure to what was refused. */
function DoorLink({ label }: { readonly label: string }) {
  return (
    <Link
      to="/requests"
      search={{ show: 'refused' }}
      className="after:absolute after:inset-0 hover:text-ink hover:underline"
    >
      {label}
    </Link>
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

/** Such as `Tuesday 24 November`. */
const DAY = new Intl.DateTimeFormat('en-GB', {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  timeZone: 'UTC',
});

/** What the figures of the day mean, in a line. */
export function dayNote({ time, lastWeek }: Pick<Overview, 'time' | 'lastWeek'>): string {
  const now = new Date(time);
  const day = DAY.format(now);
  const today = `${day}, ${now.toISOString().slice(11, 16)} UTC`;
  const [weekday = ''] = day.split(' ');
  return lastWeek === null ? today : `${today}, compared with last ${weekday} up to the same time`;
}

const STEPS = [
  ['Make an API key', 'With a curl command to paste.'],
  ['Send a first message', 'Watch it arrive here; nothing leaves yet.'],
  ['Add a relay', 'Then mail is really sent.'],
] as const;

/** What someone sees whose installation has seen no mail: the way to the first message. */
export function Welcome() {
  return (
    <section className="overflow-hidden rounded-lg border border-line bg-surface">
      <div className="grid gap-6 p-5 md:grid-cols-[minmax(0,1fr)_minmax(0,1.3fr)] md:p-7">
        <div>
          <h2 className="text-xl font-semibold tracking-tight">Ready for the first message</h2>
          <p className="mt-2 max-w-prose text-soft">
            The service is running and accepts mail. Until there is a relay, all mail is captured in the local
            inbox, where you can look at it, and nothing is sent by accident.
          </p>
          <ButtonLink to="/first-steps" look="primary" className="mt-5" label="Take the first steps">
            <ArrowRight aria-hidden size={16} />
          </ButtonLink>
        </div>
        <ol className="divide-y divide-line self-center rounded-md border border-line bg-paper">
          {STEPS.map(([title, text], index) => (
            <li key={title} className="flex items-baseline gap-3 px-4 py-2.5">
              <span className="font-mono text-sm text-accent">{index + 1}</span>
              <span>
                <span className="font-medium">{title}.</span> <span className="text-soft">{text}</span>
              </span>
            </li>
          ))}
        </ol>
      </div>
      <div aria-hidden className="perforated" />
    </section>
  );
}

const COUNTED = 'Messages delivered, captured and failed';

/** What became of mail over time: of the range that was chosen before, until the answer to another is there. */
function OutcomesChart({
  series,
  chosen,
  onChange,
}: {
  readonly series: Overview['series'];
  readonly chosen: Range;
  readonly onChange: (range: Range['value']) => void;
}) {
  const { from, stepSeconds, counts } = series;
  const range = rangeOf(series);
  const isFormer = range !== chosen;
  const navigate = useNavigate();
  const pick = (start: number, until: number) =>
    void navigate({ to: '/messages', search: { q: timeQuery(start, until) } });
  return (
    <Card
      title="Outcomes"
      note={`Messages over ${range.words}.`}
      actions={<Segments label="Range" choices={RANGES} value={chosen.value} onChange={onChange} />}
    >
      <HowWell range={range} />
      <div aria-busy={isFormer} className={classNames('space-y-4', isFormer && 'opacity-60')}>
        <TimeSeriesChart
          label={`${COUNTED}, over ${range.words}`}
          from={Date.parse(from)}
          stepSeconds={stepSeconds}
          height={230}
          onPick={pick}
          series={FATES.map(({ event, label }) => ({ label, color: event, values: counts[event] ?? [] }))}
        />
        {counts.retried?.some((count) => count > 0) && (
          <TimeSeriesChart
            label={`Attempts deferred, over ${range.words}`}
            from={Date.parse(from)}
            stepSeconds={stepSeconds}
            height={110}
            onPick={pick}
            series={[{ label: 'Attempts deferred', color: 'retrying', values: counts.retried }]}
          />
        )}
      </div>
    </Card>
  );
}

/** How much of the mail of a time was delivered, and how soon. */
function HowWell({ range }: { readonly range: Range }) {
  const { value, step, count } = range;
  const steps = value === 'week' ? TRAFFIC_WEEK : { step, count };
  const { data } = useCall('traffic', steps, { everyMs: EVERY_MS, keep: true });
  const { success = null, p50Ms, p95Ms } = data?.total ?? {};
  const figures = {
    Success: formatRate(success),
    'Half delivered within': formatWithin(p50Ms),
    '95 % within': formatWithin(p95Ms),
  };
  return (
    <div className="mb-4 flex flex-wrap items-baseline gap-x-6 gap-y-1 border-b border-line pb-3">
      {Object.entries(figures).map(([name, figure]) => (
        <span key={name} className="text-soft">
          {name} <span className="font-semibold text-ink">{figure}</span>
        </span>
      ))}
      <Link
        to="/explore"
        search={{ range: value === 'hour' || value === 'day' ? undefined : value }}
        className="link ml-auto text-sm"
      >
        Explore
      </Link>
    </div>
  );
}
