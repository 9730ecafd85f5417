import {
  BellPlus,
  CirclePause,
  CirclePlay,
  FlaskConical,
  MoreHorizontal,
  Pencil,
  Plus,
  Trash2,
} from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import { call } from '../../api.ts';
import { ask } from '../../parts/ask.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Button, IconButton } from '../../parts/button.tsx';
import { actsColumn, type Column, DataTable } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FormError } from '../../parts/form.tsx';
import { Menu, MenuItem, MenuLine } from '../../parts/menu.tsx';
import { Card } from '../../parts/page.tsx';
import { useRun } from '../../parts/run.tsx';
import { SecretDialog } from '../../parts/secret.tsx';
import { EmptyState, Fetched, LoadingState } from '../../parts/states.tsx';
import { Said } from '../../parts/values.tsx';
import { useAct, useCall } from '../../queries.ts';
import { type Added, ChannelDrawer } from './channel-drawer.tsx';
import { SeverityBadge } from './severity-badge.tsx';
import { type Channel, KINDS } from './words.ts';

type Asked =
  | { readonly act: 'add' }
  | { readonly act: 'change' | 'test'; readonly of: Channel }
  | { readonly act: 'added'; readonly of: Added };

type Open = (asked: Asked) => void;

/** Whom alerts are told to. */
export function ChannelsTab() {
  const channels = useCall('alertChannels', {}, { topics: ['alerts'] });
  const [asked, setAsked] = useState<Asked | null>(null);
  const columns = useMemo(() => columnsOf(setAsked), []);
  const add = (
    <Button look="primary" icon={Plus} label="Add channel" onClick={() => setAsked({ act: 'add' })} />
  );
  return (
    <Card
      flush
      title="Channels"
      note="Whoever should hear of alerts, however they are reached."
      actions={(channels.data?.length ?? 0) > 0 && add}
    >
      <Fetched query={channels} lines={4}>
        {(rows) => (
          <DataTable
            label="Channels"
            columns={columns}
            rows={rows}
            rowId={({ id }) => id}
            empty={
              <EmptyState icon={BellPlus} title="Nobody is told yet" actions={add}>
                Mail, a webhook of yours, Slack, Discord, Microsoft Teams, ntfy or PagerDuty: add one, and try
                it by its test.
              </EmptyState>
            }
          />
        )}
      </Fetched>
      {asked && <ActDialog asked={asked} open={setAsked} />}
    </Card>
  );
}

function ActDialog({ asked, open }: { readonly asked: Asked; readonly open: (asked: Asked | null) => void }) {
  const close = () => open(null);
  switch (asked.act) {
    case 'add':
    case 'change':
      return (
        <ChannelDrawer
          of={asked.act === 'add' ? null : asked.of}
          onAdded={(added) =>
            added.secret === null
              ? open({ act: 'test', of: added.channel })
              : open({ act: 'added', of: added })
          }
          onClose={close}
        />
      );
    case 'test':
      return <TestDialog of={asked.of} onClose={close} />;
    case 'added':
      return (
        <SecretDialog
          kind="drawer"
          title="Channel added"
          description={<Said text={asked.of.channel.url ?? ''} />}
          secret={asked.of.secret ?? ''}
          label="signing secret"
          onClose={() => open({ act: 'test', of: asked.of.channel })}
        >
          <p>
            Give it to the program behind the URL: with it the program verifies that an alert comes from here.
          </p>
        </SecretDialog>
      );
  }
}

function columnsOf(open: Open): readonly Column<Channel>[] {
  return [
    {
      header: 'Channel',
      width: 'minmax(0, 2fr)',
      cell: ({ name, kind, to, url }) => (
        <div className="min-w-0">
          <div className="font-medium">{name}</div>
          <Said
            text={[
              KINDS[kind].name,
              ...(to.length > 0 ? [to.join(', ')] : []),
              ...(url === null ? [] : [url]),
            ].join(' · ')}
            className="text-sm text-soft"
          />
        </div>
      ),
    },
    {
      header: 'Told of',
      width: 'minmax(0, 1.3fr)',
      card: 'plain',
      cell: ({ severity, rules }) => (
        <span className="flex flex-wrap items-center gap-1.5">
          <SeverityBadge severity={severity} />
          {severity !== 'critical' && <span className="text-soft">and above</span>}
          {rules.length > 0 && (
            <span className="text-soft">of {rules.length === 1 ? 'one rule' : `${rules.length} rules`}</span>
          )}
        </span>
      ),
    },
    {
      header: 'State',
      width: '5rem',
      card: 'aside',
      cell: ({ enabled }) => (
        <Badge tone={enabled ? 'good' : 'neutral'} dot>
          {enabled ? 'On' : 'Off'}
        </Badge>
      ),
    },
    actsColumn('2.25rem', (channel) => <ChannelMenu of={channel} open={open} />),
  ];
}

function ChannelMenu({ of, open }: { readonly of: Channel; readonly open: Open }) {
  const { id: which, name, enabled } = of;
  const turn = useAct('enableAlertChannel', {
    done: enabled ? 'It is told nothing' : 'It is told of alerts',
  });
  return (
    <Menu trigger={<IconButton icon={MoreHorizontal} label={`What to do with ${name}`} small />}>
      <MenuItem icon={FlaskConical} label="Test" onSelect={() => open({ act: 'test', of })} />
      <MenuItem icon={Pencil} label="Change" onSelect={() => open({ act: 'change', of })} />
      <MenuItem
        icon={enabled ? CirclePause : CirclePlay}
        label={enabled ? 'Disable' : 'Enable'}
        onSelect={() => turn.mutate({ which, enabled: !enabled })}
      />
      <MenuLine />
      <MenuItem
        icon={Trash2}
        danger
        label="Remove"
        onSelect={() =>
          ask('removeAlertChannel', {
            request: { which },
            done: 'The channel is removed',
            title: `Remove the channel ${name}?`,
            text: <p>It is told nothing any more, not even that an alert it heard of is over.</p>,
            confirm: 'Remove channel',
            danger: true,
          })
        }
      />
    </Menu>
  );
}

/** Tells a channel at once that this is a test. */
function TestDialog({ of, onClose }: { readonly of: Channel; readonly onClose: () => void }) {
  const { state, result, error, start } = useRun(
    async (signal) => await call('testAlertChannel', { which: of.id }, signal),
  );
  useEffect(start, [start]);
  const isRunning = state === 'running';
  return (
    <Dialog
      onClose={onClose}
      title={`Test ${of.name}`}
      description={KINDS[of.kind].name}
      footer={
        <>
          <Button label="Test again" busy={isRunning} onClick={start} />
          <Button look="primary" label="Done" onClick={onClose} />
        </>
      }
    >
      <div className="min-h-20 space-y-3">
        <p className="text-soft">It is told that this is a test, and that nothing is wrong.</p>
        {isRunning && <LoadingState lines={1} label="Waiting for the answer" />}
        <FormError>{error}</FormError>
        {result && !isRunning && (
          <div role="status">
            <p className="font-medium">
              {result.ok ? takenWords(of) : 'It does not work yet: the channel did not take it.'}
            </p>
            {result.error !== null && (
              <Said text={result.error} lines="several" className="block text-failed" />
            )}
          </div>
        )}
      </div>
    </Dialog>
  );
}

function takenWords({ kind }: Channel): string {
  return kind === 'mail'
    ? 'The message is on its way: see whether it arrives.'
    : 'It works: the channel took it.';
}
