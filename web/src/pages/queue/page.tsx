import { Link } from '@tanstack/react-router';
import { ListOrdered, X } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { useAddress } from '../../address.ts';
import { formatCount, formatDuration, plural } from '../../format.ts';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { NameFilter } from '../../parts/choice.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Card, Page, Stat, StatRow } from '../../parts/page.tsx';
import { Banner, EmptyState, Fetched } from '../../parts/states.tsx';
import { Toolbar } from '../../parts/toolbar.tsx';
import { ViewsMenu } from '../../parts/views-menu.tsx';
import { useCall } from '../../queries.ts';
import { IfMay, useMay } from '../../session.tsx';
import { ActDialog, EVERYTHING, type PlannedAct } from './act-dialog.tsx';
import { laneColumns, RelayActs } from './lanes.tsx';

type QueueView = ResultOf<'queue'>;

/** Rates and ages change without a hint. */
const REFRESH_MS = 5_000;

/** What waits where, how each lane does, and what can be done about it. */
export function QueuePage() {
  const [{ relay }, put] = useAddress();
  const relays = useCall('relays', {}, { topics: ['relays'] });
  const queue = useCall(
    'queue',
    { relay: relay ?? null },
    { topics: ['queue', 'relays'], everyMs: REFRESH_MS, keep: true },
  );
  return (
    <Page title="Queue" note="What waits to be handed on, by lane. Counts are of recipients.">
      <Toolbar>
        <NameFilter
          label="Relay"
          every="Every relay"
          names={relays.data?.map(({ name }) => name)}
          value={relay}
          onChange={(name) => put({ relay: name })}
        />
        {relay !== undefined && (
          <Button
            small
            look="quiet"
            icon={X}
            label="Show every relay"
            onClick={() => put({ relay: undefined })}
          />
        )}
        <ViewsMenu page="/queue" />
      </Toolbar>
      <Fetched query={queue} lines={2} shape="figures">
        {(view) => <Lanes view={view} relay={relay} />}
      </Fetched>
    </Page>
  );
}

function Lanes({ view, relay }: { readonly view: QueueView; readonly relay: string | undefined }) {
  const { lanes, more, totals, withoutRoute } = view;
  const mayAct = useMay('operator');
  const [planned, setPlanned] = useState<PlannedAct | null>(null);
  const columns = useMemo(() => laneColumns(mayAct ? setPlanned : null), [mayAct]);
  return (
    <div className="space-y-4">
      <Totals totals={totals} />
      {relay === undefined && withoutRoute.waiting > 0 && (
        <WithoutRoute {...withoutRoute} onAct={setPlanned} />
      )}
      {relay !== undefined && (
        <IfMay role="operator">
          <div role="toolbar" aria-label={`All of ${relay}`} className="flex flex-wrap items-center gap-2">
            <span className="mr-1 text-soft">
              All of{' '}
              <Link to="/relays/$name" params={{ name: relay }} className="link">
                {relay}
              </Link>
              :
            </span>
            <RelayActs relay={relay} states={lanes.map(({ state }) => state)} onAct={setPlanned} />
          </div>
        </IfMay>
      )}
      <Card flush>
        <DataTable
          label="Lanes"
          columns={columns}
          rows={lanes}
          rowId={({ lane }) => lane}
          empty={
            <EmptyState
              icon={ListOrdered}
              title="No lanes yet"
              actions={<ButtonLink label="Relays" to="/relays" />}
            >
              A lane appears as soon as mail is routed to a relay.
            </EmptyState>
          }
        />
      </Card>
      {more && (
        <p className="text-sm text-soft">
          The fullest {formatCount(lanes.length)} lanes are shown; the counts above include all. Choose a
          relay to see more of its lanes.
        </p>
      )}
      {planned && <ActDialog planned={planned} onClose={() => setPlanned(null)} />}
    </div>
  );
}

function Totals({ totals }: Pick<QueueView, 'totals'>) {
  const { waiting, processing, inFlight, oldestSeconds, perMinute } = totals;
  return (
    <StatRow>
      <Stat label="Waiting" value={formatCount(waiting)} />
      <Stat
        label="Longest overdue"
        value={oldestSeconds === null || oldestSeconds === 0 ? '–' : formatDuration(oldestSeconds * 1000)}
        note={oldestSeconds === 0 ? 'Nothing is due' : undefined}
        tone={oldestSeconds !== null && oldestSeconds > 900 ? 'retrying' : undefined}
      />
      <Stat label="Processing" value={formatCount(processing)} />
      <Stat label="In flight" value={formatCount(inFlight)} note="attempts in progress" />
      <Stat label="Attempts" value={formatCount(perMinute)} note="in the last minute" />
    </StatRow>
  );
}

function WithoutRoute({
  waiting,
  more,
  onAct,
}: QueueView['withoutRoute'] & { readonly onAct: (act: PlannedAct) => void }) {
  return (
    <Banner
      level="warning"
      title={`${more ? 'At least ' : ''}${plural(waiting, 'recipient')} without a route`}
      actions={
        <>
          <ButtonLink small label="Routes" to="/routes" />
          <IfMay role="operator">
            <Button
              small
              label="Route anew"
              onClick={() =>
                onAct({
                  act: 'reroute',
                  selection: EVERYTHING,
                  toRelay: null,
                  title: 'Reroute everything that waits?',
                })
              }
            />
          </IfMay>
        </>
      }
    >
      No rule and no relay accepts them. They wait until one does, or until they expire.
    </Banner>
  );
}
