import { Link, useNavigate } from '@tanstack/react-router';
import { ChartColumn, Search } from 'lucide-react';
import { useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { useAddress } from '../../address.ts';
import { formatCount, formatRate, formatWithin, plural, timeQuery } from '../../format.ts';
import { Button } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import { Card, Page, Stat, StatRow } from '../../parts/page.tsx';
import { EmptyState, Fetched } from '../../parts/states.tsx';
import { INPUT } from '../../parts/text-field.tsx';
import { TimeSeriesChart } from '../../parts/time-series-chart.tsx';
import { Chip, Segments, Toolbar } from '../../parts/toolbar.tsx';
import { Said } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { DIMENSIONS, type Dimension, queryFor, RANGES, type Range, rangeIn, whereIn } from './narrowing.ts';
import { Replies } from './replies.tsx';
import { Rows } from './rows.tsx';
import { WaitingFor } from './waiting-for.tsx';

/** Counts are written a while after what they count: hints would come too early. */
const EVERY_MS = { hour: 5_000, day: 60_000 };
const MAX_ROWS = 100;

/** What becomes of all mail, and of that of one relay, domain, provider, tag or key. */
export function ExplorePage() {
  const [address, put] = useAddress();
  const { rows: by = 'relay' } = address;
  const range = rangeIn(address);
  const where = whereIn(address);
  const traffic = useCall(
    'traffic',
    { step: range.step, count: range.count, by, where, limit: MAX_ROWS },
    { everyMs: EVERY_MS[range.step], keep: true },
  );
  return (
    <Page title="Explore" note="What becomes of your mail, in recipients.">
      <Toolbar>
        <Segments
          label="Range"
          choices={RANGES}
          value={range.value}
          onChange={(next) => put({ range: next === 'day' ? undefined : next })}
        />
        <DomainField key={address.domain ?? ''} domain={address.domain} />
      </Toolbar>
      <Narrowed where={where} range={range} />
      {where.domain !== undefined && where.domain !== '' && (
        <div className="mb-4">
          <WaitingFor domain={where.domain} />
        </div>
      )}
      <Fetched query={traffic} lines={3} shape="figures">
        {(view) => <Found view={view} by={by} range={range} where={where} />}
      </Fetched>
    </Page>
  );
}

type View = ResultOf<'traffic'>;
type Where = Partial<Record<Dimension, string>>;

/** Asks for the mail of one domain: why it is late, too. */
function DomainField({ domain }: { readonly domain: string | undefined }) {
  const [, put] = useAddress();
  const [written, write] = useState(domain ?? '');
  return (
    <form
      className="flex min-w-0 flex-1 basis-72 items-center gap-2 sm:justify-end"
      onSubmit={(event) => {
        event.preventDefault();
        const named = written.trim().toLowerCase();
        put({ domain: named.slice(named.lastIndexOf('@') + 1) || undefined });
      }}
    >
      <input
        data-search
        aria-label="Recipient domain"
        placeholder="Why is mail late to… example.org"
        value={written}
        onChange={({ target }) => write(target.value)}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        className={classNames(INPUT, 'h-8.5 max-w-80')}
      />
      <Button small type="submit" icon={Search} label="Look" />
    </form>
  );
}

/** What the page is narrowed to, and the way to its messages. */
function Narrowed({ where, range }: { readonly where: Where; readonly range: Range }) {
  const [address, put] = useAddress();
  const keys = useCall('listKeys', {}, { topics: ['keys'], enabled: Boolean(where.key) });
  const held = DIMENSIONS.filter(({ value }) => where[value] !== undefined);
  if (held.length === 0) return null;
  return (
    <div className="mb-4 flex min-w-0 flex-wrap items-center gap-2">
      {held.map(({ value, label, none }) => {
        const name = where[value] ?? '';
        const shown = value === 'key' ? (keys.data?.find(({ id }) => id === name)?.name ?? name) : name;
        return (
          <Chip
            key={value}
            label={label}
            onRemove={() =>
              put({ [value]: undefined, without: address.without === value ? undefined : address.without })
            }
          >
            <span className="shrink-0 text-soft">{label}</span>
            <Said text={shown} none={none} className="min-w-0 font-medium" />
          </Chip>
        );
      })}
      <Link
        to="/messages"
        search={{ q: queryFor(where, `after:${range.after}`) }}
        className="link ml-auto text-sm"
      >
        {where.provider === undefined && address.without === undefined
          ? 'Its messages'
          : 'Messages like these'}
      </Link>
    </div>
  );
}

const SERIES = [
  { measure: 'delivered', label: 'Delivered' },
  { measure: 'captured', label: 'Captured' },
  { measure: 'failed', label: 'Failed' },
] as const;

function Found({
  view,
  by,
  range,
  where,
}: {
  readonly view: View;
  readonly by: Dimension;
  readonly range: Range;
  readonly where: Where;
}) {
  const { total, steps, from, stepSeconds, replies } = view;
  const navigate = useNavigate();
  const pick = (start: number, until: number) =>
    void navigate({ to: '/messages', search: { q: queryFor(where, timeQuery(start, until)) } });
  const { accepted, delivered, captured, failed, deferred, complained } = total;
  if (accepted + delivered + captured + failed + deferred + complained === 0)
    return (
      <Card flush>
        <EmptyState icon={ChartColumn} title="No mail in this time">
          {Object.keys(where).length === 0
            ? 'Once mail has come in, it stands here what became of it: by relay, recipient domain, mailbox provider, tag and key, how long it took, and why receivers refused it.'
            : 'Nothing that this page is narrowed to was accepted, delivered or refused. Look at a longer time, or take something away above.'}
        </EmptyState>
      </Card>
    );
  return (
    <div className="space-y-4">
      <Figures total={total} />
      <Card title="Over time" note={`Recipients over ${range.words}.`}>
        <div className="space-y-4">
          <TimeSeriesChart
            label={`Recipients delivered, captured and failed, over ${range.words}`}
            from={Date.parse(from)}
            stepSeconds={stepSeconds}
            height={190}
            onPick={pick}
            series={SERIES.map(({ measure, label }) => ({
              label,
              color: measure,
              values: steps.map((step) => step[measure]),
            }))}
          />
          {deferred > 0 && (
            <TimeSeriesChart
              label={`Attempts deferred, over ${range.words}`}
              from={Date.parse(from)}
              stepSeconds={stepSeconds}
              height={100}
              onPick={pick}
              series={[
                { label: 'Attempts deferred', color: 'retrying', values: steps.map((step) => step.deferred) },
              ]}
            />
          )}
        </div>
      </Card>
      <Rows view={view} by={by} />
      <Replies replies={replies} />
    </div>
  );
}

function Figures({ total }: { readonly total: View['total'] }) {
  const { accepted, delivered, failed, bounced, complained, success, p50Ms, p95Ms } = total;
  return (
    <StatRow>
      <Stat label="Accepted" value={formatCount(accepted)} note="recipients" />
      <Stat
        label="Delivered"
        value={formatCount(delivered)}
        tone={delivered > 0 ? 'delivered' : undefined}
        note={success === null ? 'none has ended' : `${formatRate(success)} of those with an end`}
      />
      <Stat
        label="Half delivered within"
        value={formatWithin(p50Ms)}
        note={p95Ms === null ? 'nothing delivered' : `95 % within ${formatWithin(p95Ms)}`}
      />
      <Stat
        label="Failed"
        value={formatCount(failed)}
        tone={failed > 0 ? 'failed' : undefined}
        note={bounced === 0 ? 'refused or given up' : `${formatCount(bounced)} of them came back later`}
      />
      <Stat
        label="Called spam"
        value={formatCount(complained)}
        tone={complained > 0 ? 'failed' : undefined}
        note={plural(complained, 'complaint')}
      />
    </StatRow>
  );
}
