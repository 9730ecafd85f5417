import { Link } from '@tanstack/react-router';
import { HeartPulse } from 'lucide-react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatBytes, formatCount } from '../../format.ts';
import {
  type Column,
  codeColumn,
  column,
  DataTable,
  statusColumn,
  timeColumn,
} from '../../parts/data-table.tsx';
import { Card, KeyValue, type Rows, Stat, StatRow } from '../../parts/page.tsx';
import { Banner, EmptyState } from '../../parts/states.tsx';
import { Duration } from '../../parts/values.tsx';
import { useMay } from '../../session.tsx';
import { RelayQuota, typeTitle, whereTo } from '../relays/relay-card.tsx';
import { RelayTest } from '../relays/relay-test.tsx';
import { RestActs, RestWords, useRestDialog } from '../relays/rest.tsx';
import { TestMessage } from '../relays/test-message.tsx';
import { HookCard } from './hook-card.tsx';

/** A relay with its definition. */
export type RelayDetail = ResultOf<'relay'>;

/** How a relay does, and whether it can be reached. */
export function OverviewTab({ relay }: { readonly relay: RelayDetail }) {
  const [today, ofToday] = dayOf(relay);
  const mayTest = useMay('admin') && relay.type !== 'inbox';
  return (
    <div className="space-y-5">
      <Warnings relay={relay} />
      <StatRow>
        <Stat label="Waiting" value={formatCount(relay.waiting)} note="recipients" />
        <Stat label="Under way" value={formatCount(relay.processing)} note="recipients" />
        <Stat label="Today (UTC)" value={today} note={ofToday} />
      </StatRow>
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <div className="min-w-0 space-y-5">
          <Card title="Where it connects to">
            <KeyValue rows={connection(relay)} />
          </Card>
          <Card title="Limits">
            {relay.allowedToday !== null && (
              <div className="mb-4">
                <RelayQuota relay={relay} />
              </div>
            )}
            <KeyValue rows={limitRows(relay)} />
          </Card>
        </div>
        <div className="min-w-0 space-y-5">
          {mayTest && (
            <Card title="Test" note="Connects, and signs in if necessary. Nothing is sent.">
              <RelayTest name={relay.name} type={relay.type} unsaved={null} />
            </Card>
          )}
          {mayTest && (
            <Card
              title="Test message"
              note="Goes through this relay alone, whatever the routes say. What becomes of it is shown here, for a minute at most."
            >
              <TestMessage relay={relay} />
            </Card>
          )}
          {mayTest && relay.hasHook && <HookCard relay={relay.name} />}
          <Card title="Used by">
            <Rules relay={relay} />
          </Card>
        </div>
      </div>
    </div>
  );
}

function Warnings({ relay }: { readonly relay: RelayDetail }) {
  const { open, dialog } = useRestDialog();
  return (
    <>
      {dialog}
      {relay.rest && (
        <Banner
          level="critical"
          ticks
          title={
            relay.state === 'resting'
              ? 'It rests, because its next hop fails'
              : 'Its next hop is being tested'
          }
          actions={<RestActs relay={relay.name} open={open} />}
        >
          <RestWords rest={relay.rest} waiting={relay.waiting} />
        </Banner>
      )}
      {relay.credentialsUnreadable && (
        <Banner level="critical" title="Its secret cannot be read">
          The key that encrypts secrets is not the one with which it was stored. Put that key back, or edit
          the relay and give the secret again.
        </Banner>
      )}
      {relay.disabled && (
        <Banner level="warning" title="It is disabled">
          It sends nothing until it is enabled again.
        </Banner>
      )}
      {relay.warmUp?.outlivesMail && (
        <Banner level="warning" title="Mail expires before its warm-up begins">
          Mail that is accepted now gives up before {relay.warmUp.start}. Let it begin earlier, or raise
          delivery.max_age_hours.
        </Banner>
      )}
      {relay.origin === 'file' && (
        <Banner title="It is declared in the configuration file">
          What is here can be looked at and tested; it is changed in the file.
        </Banner>
      )}
    </>
  );
}

function connection(relay: RelayDetail): Rows {
  const { type, tls, verify, username, hasSecret } = relay;
  return {
    Type: typeTitle(type),
    To: <span className="break-all">{whereTo(relay)}</span>,
    TLS: tls ?? undefined,
    Certificate: verify === null || tls === 'none' ? undefined : verify ? 'checked' : 'not checked',
    'User name': username ?? undefined,
    Secret: type === 'inbox' ? undefined : hasSecret ? 'stored, never shown' : 'none',
  };
}

function Rules({ relay: { rules, isDefault } }: { readonly relay: RelayDetail }) {
  if (rules.length === 0 && !isDefault)
    return <p className="text-soft">No rule sends mail through it, and it is not the default.</p>;
  return (
    <ul className="space-y-1.5">
      {isDefault && <li>Mail that no rule sends elsewhere: it is the default.</li>}
      {rules.map((rule) => (
        <li key={rule} className="break-words">
          Rule{' '}
          <Link to="/routes" className="link font-mono text-sm">
            {rule}
          </Link>
        </li>
      ))}
    </ul>
  );
}

type Limited = Pick<RelayDetail, 'limits' | 'maxPerDay'>;

/** What a relay keeps to, by name. Where it keeps to nothing, it says so. */
export function limitRows({ limits, maxPerDay }: Limited): Rows {
  if (limits === null) return {};
  const { maxConcurrency, maxRatePerSecond, maxPerDomain, maxRecipients, maxMessageBytes } = limits;
  return {
    'Attempts at once': formatCount(maxConcurrency),
    'Attempts a second': orNoLimit(maxRatePerSecond, formatCount),
    'At once to one domain': maxPerDomain === null ? undefined : formatCount(maxPerDomain),
    'Recipients at once': formatCount(maxRecipients),
    'Largest message': orNoLimit(maxMessageBytes, formatBytes),
    'Recipients a day': orNoLimit(maxPerDay, formatCount),
  };
}

function orNoLimit(value: number, words: (value: number) => string): string {
  return value === 0 ? 'no limit' : words(value);
}

/** The figure of the day and what stands under it: how much was sent of how much. */
export function dayOf({
  usedToday,
  allowedToday,
}: Pick<RelayDetail, 'usedToday' | 'allowedToday'>): readonly [value: string, note: string] {
  const used = usedToday === null ? null : formatCount(usedToday);
  if (allowedToday !== null) return [used ?? '0', `of ${formatCount(allowedToday)} recipients`];
  return used === null ? ['No limit', 'on recipients a day'] : [used, 'recipients; there is no limit'];
}

type Happening = ResultOf<'relay'>['history'][number];

const COLUMNS: readonly Column<Happening>[] = [
  statusColumn({ header: 'What', width: '8rem' }, ({ kind }) => (kind === 'rested' ? 'resting' : kind)),
  timeColumn({ header: 'When', width: '8rem' }, ({ at }) => at),
  codeColumn({ header: 'Lane' }, ({ lane }) => lane),
  column(
    { header: 'For', width: '6rem' },
    ({ pauseMs }) => pauseMs,
    (ms) => <Duration ms={ms} />,
  ),
  {
    header: 'Why',
    width: 'minmax(0, 2fr)',
    cell: ({ cause }) => <span className="break-words">{cause ?? 'Its next hop works again.'}</span>,
  },
];

/** When a relay rested because its next hop failed, and when it recovered. */
export function HistoryTab({ history }: { readonly history: readonly Happening[] }) {
  return (
    <Card title="Rests and recoveries" note="Since the start, the newest first." flush>
      <DataTable
        label="Rests and recoveries"
        columns={COLUMNS}
        rows={history}
        rowId={({ at, lane, kind }) => `${at} ${lane} ${kind}`}
        empty={
          <EmptyState icon={HeartPulse} title="It has not rested">
            When its next hop fails repeatedly, it rests for a while, and is then tried carefully. This tab
            shows that.
          </EmptyState>
        }
      />
    </Card>
  );
}
