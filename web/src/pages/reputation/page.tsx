import { Gauge } from 'lucide-react';
import { useMemo } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { useAddress } from '../../address.ts';
import { formatCount, formatRate, plural } from '../../format.ts';
import { Badge } from '../../parts/badge.tsx';
import { type Column, countColumn, DataTable } from '../../parts/data-table.tsx';
import { LeftOut } from '../../parts/left-out.tsx';
import { Card, Page, Stat, StatRow } from '../../parts/page.tsx';
import { RateChart } from '../../parts/rate-chart.tsx';
import { EmptyState, Fetched } from '../../parts/states.tsx';
import { Chip, Segments, Toolbar } from '../../parts/toolbar.tsx';
import { Said } from '../../parts/values.tsx';
import { ViewsMenu } from '../../parts/views-menu.tsx';
import { useCall } from '../../queries.ts';
import {
  ASKED_FOR,
  bounceWords,
  complaintTone,
  complaintWords,
  type Figures,
  figuresByDay,
  figuresOf,
  isNothing,
  LIMIT,
  type RateRow,
  type RatesBy,
} from './rates.ts';

const EVERY_MS = 60_000;

const BY = [
  { value: 'relay', label: 'Relay' },
  { value: 'domain', label: 'Recipient domain' },
  { value: 'tag', label: 'Tag' },
] as const;

const DAYS = [
  { value: '7', label: '7 d' },
  { value: '30', label: '30 d' },
  { value: '90', label: '90 d' },
] as const;

/** How much of the mail came back, and how much of it was called spam. */
export function ReputationPage() {
  const [{ by = 'relay', days = '30' }, put] = useAddress();
  const rates = useCall('rates', { by, days: Number(days) }, { everyMs: EVERY_MS, keep: true });
  return (
    <Page title="Reputation" note="How much of your mail comes back, and how much of it is called spam.">
      <Toolbar>
        <Segments
          label="By"
          choices={BY}
          value={by}
          onChange={(next) =>
            put({ by: next === 'relay' ? undefined : next, name: undefined, untagged: undefined })
          }
        />
        <Segments
          label="Days"
          choices={DAYS}
          value={days}
          onChange={(next) => put({ days: next === '30' ? undefined : next })}
        />
        <ViewsMenu page="/reputation" />
      </Toolbar>
      {/* The former answer may stay for other days, but names of another kind must not be there to be chosen. */}
      <Fetched
        query={rates.data?.by === by ? rates : { ...rates, data: undefined }}
        lines={3}
        shape="figures"
      >
        {(found) => <Found rates={found} />}
      </Fetched>
    </Page>
  );
}

type Rates = ResultOf<'rates'>;

function Found({ rates }: { readonly rates: Rates }) {
  const [{ name, untagged = false }, put] = useAddress();
  const { by, rows, from, moreNames, total, others } = rates;
  const columns = useMemo(() => columnsBy(by), [by]);
  const noun = labelOf(by).toLowerCase();
  const wanted = untagged ? '' : name;
  const shown = wanted === undefined ? total : rows.find((row) => row.name === wanted);
  if (isNothing(figuresOf(total)))
    return (
      <Card flush>
        <EmptyState icon={Gauge} title="No mail in this time">
          Once mail has left by a relay, it stands here how much of it came back, and how much was called
          spam.
        </EmptyState>
      </Card>
    );
  return (
    <div className="space-y-4">
      {wanted !== undefined && (
        <p className="flex min-w-0 items-center gap-2">
          <span className="shrink-0 text-soft">Shown:</span>
          <Chip label="this choice" onRemove={() => put({ name: undefined, untagged: undefined })}>
            <Name of={wanted} by={by} />
          </Chip>
        </p>
      )}
      {shown === undefined ? (
        <Card flush>
          <EmptyState
            icon={Gauge}
            title={moreNames === 0 ? 'No mail in this time' : 'Not among those with the most mail'}
          />
        </Card>
      ) : (
        <>
          <Summary figures={figuresOf(shown)} />
          <div className="grid gap-4 xl:grid-cols-2">
            <Complaints days={figuresByDay(shown)} from={from} />
            <Bounces days={figuresByDay(shown)} from={from} />
          </div>
        </>
      )}
      <Card flush title={`By ${noun}`} note="Recipients. Choose a row to see it over time.">
        <DataTable
          label="Rates"
          columns={columns}
          rows={rows}
          rowId={(row) => row.name}
          onOpen={(row) => put({ name: row.name || undefined, untagged: row.name === '' || undefined })}
        />
        <LeftOut names={moreNames} noun={noun} recipients={others} />
      </Card>
    </div>
  );
}

function Summary({ figures }: { readonly figures: Figures }) {
  const { delivered, failed, complained, bounceRate, complaintRate } = figures;
  const tone = { good: 'delivered', warn: 'retrying', bad: 'failed' } as const;
  const judged = complaintTone(figures);
  return (
    <StatRow>
      <Stat label="Delivered" value={formatCount(delivered)} note="taken by the next hop" />
      <Stat
        label="Bounced"
        value={formatRate(bounceRate)}
        note={`${formatCount(failed)} refused, given up, or come back`}
      />
      <Stat
        label="Called spam"
        value={formatRate(complaintRate)}
        tone={judged in tone ? tone[judged as keyof typeof tone] : undefined}
        note={plural(complained, 'complaint')}
      />
    </StatRow>
  );
}

const THRESHOLDS = [
  { rate: ASKED_FOR, label: '0.1 %', tone: 'retrying' },
  { rate: LIMIT, label: '0.3 %', tone: 'failed' },
] as const;

interface DaysProps {
  readonly days: readonly Figures[];
  /** Start of the first, RFC 3339. */
  readonly from: string;
}

function Complaints({ days, from }: DaysProps) {
  return (
    <Card
      title="Complaints"
      note="Of those who got mail, how many called it spam; by day, when it was told (UTC)."
    >
      <RateChart
        label="Rate of complaints by day"
        from={from}
        rates={days.map(({ complaintRate }) => complaintRate)}
        said={days.map(complaintWords)}
        top={[0.004, 0.01]}
        thresholds={THRESHOLDS}
        color="failed"
      />
      <p className="mt-3 text-sm text-soft">
        Gmail asks senders to stay below 0.1 %, and never to reach 0.3 %; Yahoo asks for less than 0.3 %. They
        count by themselves: Gmail tells nobody of single complaints, and has its figure in Postmaster Tools.
      </p>
    </Card>
  );
}

function Bounces({ days, from }: DaysProps) {
  return (
    <Card
      title="Bounces"
      note="Of those whose mail was tried to its end, how many did not get it; by day (UTC)."
    >
      <RateChart
        label="Rate of bounces by day"
        from={from}
        rates={days.map(({ bounceRate }) => bounceRate)}
        said={days.map(bounceWords)}
        top={[0.05, 1]}
        color="retrying"
      />
      <p className="mt-3 text-sm text-soft">
        Refused while we delivered, given up after the last attempt, or come back later. Many at once mean a
        list of bad addresses, or a receiver that refuses you: the replies of failed messages say which.
      </p>
    </Card>
  );
}

function Name({ of, by }: { readonly of: string; readonly by: RatesBy }) {
  return <Said text={of} none={by === 'tag' ? '(no tag)' : '–'} className="min-w-0 font-medium" />;
}

function labelOf(by: RatesBy): string {
  return BY.find(({ value }) => value === by)?.label ?? by;
}

function columnsBy(by: RatesBy): readonly Column<RateRow>[] {
  return [
    {
      header: labelOf(by),
      width: 'minmax(0, 1.6fr)',
      sort: ({ name }) => name,
      cell: ({ name }) => <Name of={name} by={by} />,
    },
    countColumn({ header: 'Delivered', width: '7rem', sorts: true }, (row) => figuresOf(row).delivered),
    countColumn({ header: 'Bounced', width: '6.5rem', sorts: true }, (row) => figuresOf(row).failed),
    {
      header: 'Bounce rate',
      width: '7rem',
      align: 'end',
      sort: (row) => figuresOf(row).bounceRate ?? 0,
      cell: (row) => formatRate(figuresOf(row).bounceRate),
    },
    countColumn({ header: 'Complaints', width: '7rem', sorts: true }, (row) => figuresOf(row).complained),
    {
      header: 'Complaint rate',
      width: '8.5rem',
      align: 'end',
      sort: (row) => figuresOf(row).complaintRate ?? 0,
      cell: (row) => <ComplaintRate figures={figuresOf(row)} />,
    },
  ];
}

function ComplaintRate({ figures }: { readonly figures: Figures }) {
  const tone = complaintTone(figures);
  const text = formatRate(figures.complaintRate);
  if (tone === 'neutral' || tone === 'good') return text;
  return (
    <Badge tone={tone} title={tone === 'bad' ? 'At or over 0.3 %' : 'At or over 0.1 %'}>
      {text}
    </Badge>
  );
}
