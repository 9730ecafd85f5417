import { linkOptions, useNavigate } from '@tanstack/react-router';
import { BellOff, BellRing, CircleCheck, History } from 'lucide-react';
import { useState } from 'react';
import { useAddress } from '../../address.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Copyable } from '../../parts/copy.tsx';
import { type Column, DataTable, timeColumn } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Line } from '../../parts/line.tsx';
import { Card, KeyValue } from '../../parts/page.tsx';
import { Banner, EmptyState, Fetched } from '../../parts/states.tsx';
import { Said, Time } from '../../parts/values.tsx';
import { useCall, usePages } from '../../queries.ts';
import { useMay } from '../../session.tsx';
import { SeverityBadge } from './severity-badge.tsx';
import { SilenceDialog, Silences } from './silences.tsx';
import { type Alert, noticeWords, stateOf } from './words.ts';

const TOPICS = ['alerts'] as const;

/** What is wrong now, and what was. */
export function AlertsTab() {
  const [{ id }] = useAddress();
  const open = useCall('listAlerts', { open: true, limit: 200 }, { topics: TOPICS });
  const fired = usePages('listAlerts', {
    request: (cursor: string | null) => ({ limit: 50, cursor }),
    rows: ({ alerts }): readonly Alert[] => alerts,
    next: ({ nextCursor }) => nextCursor ?? null,
    topics: TOPICS,
  });
  const over = fired.rows.filter(({ state }) => state === 'resolved');
  const shown = [...(open.data?.alerts ?? []), ...fired.rows].find((alert) => alert.id === id);
  return (
    <div className="space-y-4">
      <NobodyIsTold />
      <Card title="Now" flush>
        <Fetched query={open} lines={3} shape="table">
          {({ alerts }) => (
            <DataTable
              label="Alerts now"
              columns={NOW}
              rows={alerts}
              rowId={(alert) => alert.id}
              rowLink={linkTo}
              empty={
                <EmptyState icon={CircleCheck} title="Nothing is wrong">
                  All rules are watched every 15 seconds. What one of them finds appears here, and is told to
                  your channels.
                </EmptyState>
              }
            />
          )}
        </Fetched>
      </Card>
      <Silences />
      <Card title="History" flush>
        <Fetched query={fired.query} lines={6} shape="table">
          {() => (
            <DataTable
              label="History of alerts"
              columns={BEFORE}
              rows={over}
              rowId={(alert) => alert.id}
              rowLink={linkTo}
              more={fired.more}
              empty={
                <EmptyState icon={History} title="Nothing to look back on">
                  Alerts that fired and are over stay here as long as the activity.
                </EmptyState>
              }
            />
          )}
        </Fetched>
      </Card>
      {shown && <AlertDrawer of={shown} />}
    </div>
  );
}

/** Rules are on from the start, but somebody has to be told. */
function NobodyIsTold() {
  const isAdmin = useMay('admin');
  const channels = useCall('alertChannels', {}, { topics: TOPICS, enabled: isAdmin });
  if (channels.data === undefined || channels.data.some(({ enabled }) => enabled)) return null;
  return (
    <Banner
      title="Nobody is told"
      actions={<ButtonLink small look="primary" to="/alerts" search={{ tab: 'channels' }} label="Channels" />}
    >
      The server watches itself already. Add a channel, so that somebody hears of it when this page is not
      open.
    </Banner>
  );
}

function linkTo({ id }: Alert) {
  return linkOptions({ to: '/alerts', search: { id } });
}

const WHAT: Column<Alert> = {
  header: 'Alert',
  width: 'minmax(0, 3fr)',
  cell: ({ title, text }) => (
    <div className="min-w-0">
      <div className="font-medium">{title}</div>
      <Said text={text} lines="several" className="block text-sm text-soft" />
    </div>
  ),
};

const STATE: Column<Alert> = {
  header: 'State',
  width: '6.5rem',
  card: 'aside',
  cell: (alert) => {
    const { name, tone, means } = stateOf(alert);
    return (
      <Badge tone={tone} dot title={means}>
        {name}
      </Badge>
    );
  },
};

const SEVERITY: Column<Alert> = {
  header: 'Severity',
  width: '6rem',
  cell: ({ severity }) => <SeverityBadge severity={severity} />,
};

const NOW: readonly Column<Alert>[] = [
  WHAT,
  SEVERITY,
  STATE,
  timeColumn({ header: 'Since', width: '8rem' }, ({ since }) => since),
];

const BEFORE: readonly Column<Alert>[] = [
  WHAT,
  SEVERITY,
  STATE,
  timeColumn({ header: 'Fired', width: '8rem' }, ({ firedAt }) => firedAt),
  timeColumn({ header: 'Over', width: '8rem' }, ({ resolvedAt }) => resolvedAt),
];

/** An alert with all that is known of it. */
function AlertDrawer({ of }: { readonly of: Alert }) {
  const navigate = useNavigate();
  const [silencing, setSilencing] = useState(false);
  const maySilence = useMay('operator') && of.state !== 'resolved' && !of.silenced;
  const close = () => void navigate({ to: '/alerts', search: {}, replace: true });
  if (silencing) return <SilenceDialog of={of} onClose={close} />;
  const { name, tone } = stateOf(of);
  return (
    <Dialog
      kind="drawer"
      title={of.title}
      onClose={close}
      description={<Said text={of.text} lines="several" />}
      footer={maySilence && <Button icon={BellOff} label="Silence this" onClick={() => setSilencing(true)} />}
    >
      <div className="space-y-5">
        {of.state !== 'resolved' && (
          <p>
            <Line text={of.advice} />
          </p>
        )}
        <KeyValue
          rows={{
            State: (
              <Badge tone={tone} dot>
                {name}
              </Badge>
            ),
            Severity: <SeverityBadge severity={of.severity} />,
            About: of.subject === '' ? 'the server' : <Copyable text={of.subject} />,
            Since: <Time at={of.since} exact />,
            Fired: of.firedAt === null ? undefined : <Time at={of.firedAt} exact />,
            Over: of.resolvedAt === null ? undefined : <Time at={of.resolvedAt} exact />,
            Id: <Copyable text={of.id} />,
          }}
        />
        <section>
          <h3 className="mb-1 font-semibold">Who was told</h3>
          {of.notices.length === 0 ? (
            <p className="text-soft">{nobodyWords(of)}</p>
          ) : (
            <ul className="divide-y divide-line">
              {of.notices.map((notice) => (
                <li key={`${notice.channel} ${notice.kind}`} className="flex items-start gap-2 py-2">
                  <NoticeIcon of={notice} />
                  <div className="min-w-0 flex-1">
                    <span className="font-medium">{notice.channel}</span>{' '}
                    <span className="break-words">{noticeWords(notice)}</span>
                  </div>
                  <span className="shrink-0 text-sm text-soft">
                    <Time at={notice.at} />
                  </span>
                </li>
              ))}
            </ul>
          )}
        </section>
      </div>
    </Dialog>
  );
}

function NoticeIcon({ of: { kind, state } }: { readonly of: Alert['notices'][number] }) {
  const Icon =
    state === 'failed' || state === 'dropped' ? BellOff : kind === 'fired' ? BellRing : CircleCheck;
  return <Icon aria-hidden size={15} className="mt-1 shrink-0 text-soft" />;
}

function nobodyWords({ state, silenced }: Alert): string {
  if (state === 'pending') return 'Nobody yet: it has not fired.';
  if (silenced) return 'Nobody, because of a silence.';
  return 'Nobody: no channel is told of this severity, or the same was told shortly before.';
}
