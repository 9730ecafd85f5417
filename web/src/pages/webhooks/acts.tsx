import { useNavigate } from '@tanstack/react-router';
import {
  CirclePause,
  CirclePlay,
  FlaskConical,
  History,
  MoreHorizontal,
  Pencil,
  RotateCw,
  Trash2,
} from 'lucide-react';
import { useState } from 'react';
import { ask } from '../../parts/ask.tsx';
import { IconButton } from '../../parts/button.tsx';
import { Menu, MenuItem, MenuLine } from '../../parts/menu.tsx';
import { useAct, useCall } from '../../queries.ts';
import { useMay } from '../../session.tsx';
import { EndpointDrawer, type NewSecret, SecretOfEndpoint } from './endpoint-drawer.tsx';
import { ReplayDialog } from './replay-dialog.tsx';
import { TestDialog } from './tries.tsx';
import { type Endpoint, isDown, mayEnable } from './words.ts';

/** What is being done, and to which endpoint. */
type Asked =
  | { readonly act: 'add' }
  | { readonly act: 'change' | 'test' | 'replay'; readonly of: Endpoint }
  /** It is told again after it was not: of what happened meanwhile. */
  | { readonly act: 'enabled'; readonly of: Endpoint }
  | { readonly act: 'secret'; readonly of: NewSecret; readonly rotated: boolean };

/** Opens what is done to an endpoint in a dialog. */
export type Open = (asked: Asked) => void;

/** All endpoints. What is newly pending for one that fails is told of by no hint. */
export function useEndpoints() {
  const enabled = useMay('admin');
  return useCall('listWebhooks', {}, { topics: ['webhooks', 'keys'], everyMs: 15_000, enabled });
}

/** What can be done with endpoints: what opens it, and the dialog that is open. */
export function useWebhookActs() {
  const [asked, open] = useState<Asked | null>(null);
  return { open: open as Open, dialog: asked && <ActDialog asked={asked} open={open} /> };
}

function ActDialog({ asked, open }: { readonly asked: Asked; readonly open: (asked: Asked | null) => void }) {
  const navigate = useNavigate();
  const close = () => open(null);
  switch (asked.act) {
    case 'add':
    case 'change':
      return (
        <EndpointDrawer
          of={asked.act === 'add' ? null : asked.of}
          onAdded={(added) => open({ act: 'secret', of: added, rotated: false })}
          onClose={close}
        />
      );
    case 'secret': {
      const { webhook } = asked.of;
      return (
        <SecretOfEndpoint
          of={asked.of}
          rotated={asked.rotated}
          onClose={() => {
            close();
            void navigate({ to: '/webhooks/$id', params: { id: webhook.id } });
          }}
        />
      );
    }
    case 'test':
      return <TestDialog of={asked.of} onClose={close} />;
    case 'enabled':
    case 'replay':
      return <ReplayDialog of={asked.of} afterPause={asked.act === 'enabled'} onClose={close} />;
  }
}

/** Tells an endpoint of events again, and offers what it missed. */
export function useEnable(of: Endpoint, open: Open) {
  const act = useAct('changeWebhook', {
    done: 'It is told of events again',
    onDone: () => open({ act: 'enabled', of }),
  });
  return { enable: () => act.mutate({ which: of.id, enabled: true }), isPending: act.isPending };
}

/** What can be done with an endpoint. */
export function EndpointMenu({
  of,
  open,
  onRemoved,
}: {
  readonly of: Endpoint;
  readonly open: Open;
  readonly onRemoved?: () => void;
}) {
  const { enable } = useEnable(of, open);
  const isStopped = isDown(of);
  const isStored = of.source === 'api';
  return (
    <Menu trigger={<IconButton icon={MoreHorizontal} label={`What to do with ${of.url}`} small />}>
      <MenuItem icon={FlaskConical} label="Test" onSelect={() => open({ act: 'test', of })} />
      {!isStopped && (
        <MenuItem icon={History} label="Replay events" onSelect={() => open({ act: 'replay', of })} />
      )}
      {mayEnable(of) && <MenuItem icon={CirclePlay} label="Enable" onSelect={enable} />}
      {isStored && (
        <>
          <MenuLine />
          <MenuItem icon={Pencil} label="Change" onSelect={() => open({ act: 'change', of })} />
          <MenuItem icon={RotateCw} label="Rotate: a new secret" onSelect={() => askToRotate(of, open)} />
          {!isStopped && <MenuItem icon={CirclePause} label="Disable" onSelect={() => askToDisable(of)} />}
          <MenuLine />
          <MenuItem icon={Trash2} danger label="Remove" onSelect={() => askToRemove(of, onRemoved)} />
        </>
      )}
    </Menu>
  );
}

function askToRotate({ id, url }: Endpoint, open: Open): void {
  ask('rotateWebhook', {
    request: { which: id },
    onDone: (made) => open({ act: 'secret', of: made, rotated: true }),
    title: 'Give this endpoint a new secret?',
    text: (
      <p>
        For 24 hours requests to <Url of={url} /> are signed with the old secret, too, so that you can replace
        it at your own pace.
      </p>
    ),
    confirm: 'Make a new secret',
  });
}

function askToDisable({ id, url, pending }: Endpoint): void {
  ask('changeWebhook', {
    request: { which: id, enabled: false },
    done: 'The endpoint is off',
    title: 'Disable this endpoint?',
    text: (
      <p>
        Nothing is posted to <Url of={url} /> until it is enabled again
        {pending > 0 && `; ${pending.toLocaleString('en-US')} pending events wait until then`}. What happens
        meanwhile stays in the log of events, and can be replayed.
      </p>
    ),
    confirm: 'Disable endpoint',
    danger: true,
  });
}

function askToRemove({ id, url, pending }: Endpoint, onDone?: () => void): void {
  ask('removeWebhook', {
    request: { which: id },
    done: 'The endpoint is removed',
    ...(onDone && { onDone }),
    title: 'Remove this endpoint?',
    text: (
      <p>
        <Url of={url} /> is told of nothing any more. Its secret, its deliveries
        {pending > 0 && ` and ${pending.toLocaleString('en-US')} pending events`} are deleted; the log of
        events stays. To stop for a while, disable it instead.
      </p>
    ),
    confirm: 'Remove endpoint',
    danger: true,
  });
}

function Url({ of }: { readonly of: string }) {
  return <strong className="font-semibold break-all">{of}</strong>;
}
