import { useRouter } from '@tanstack/react-router';
import { CircleCheck, CirclePause, CirclePlay, MoreHorizontal, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { ConfirmAction } from '../../parts/action.tsx';
import { IconButton } from '../../parts/button.tsx';
import { Menu, MenuItem, MenuLine } from '../../parts/menu.tsx';
import { useAct } from '../../queries.ts';
import { refreshSession, useMay } from '../../session.tsx';
import type { RelayView } from './relay-quota.tsx';

type Asked = 'default' | 'disable' | 'remove';

/** What can be done with a relay as a whole. */
export function RelayMenu({ relay }: { readonly relay: RelayView }) {
  const { name, isDefault, disabled, origin, type } = relay;
  const mayChange = useMay('admin');
  const [asked, setAsked] = useState<Asked | null>(null);
  const enable = useAct('switchRelay', {
    changes: ['relays', 'queue', 'health'],
    done: `${name} is enabled`,
  });
  const isStored = origin === 'stored';
  if (!mayChange || (isDefault && !isStored)) return null;
  return (
    <>
      <Menu trigger={<IconButton icon={MoreHorizontal} label={`What to do with ${name}`} small />}>
        {!isDefault && (
          <MenuItem icon={CircleCheck} onSelect={() => setAsked('default')}>
            Make it the default
          </MenuItem>
        )}
        {isStored && !disabled && (
          <MenuItem icon={CirclePause} onSelect={() => setAsked('disable')}>
            Disable
          </MenuItem>
        )}
        {isStored && disabled && (
          <MenuItem icon={CirclePlay} onSelect={() => enable.mutate({ name, disabled: false })}>
            Enable
          </MenuItem>
        )}
        {isStored && (
          <>
            <MenuLine />
            <MenuItem icon={Trash2} danger onSelect={() => setAsked('remove')}>
              Remove
            </MenuItem>
          </>
        )}
      </Menu>
      {asked === 'default' && <MakeDefault name={name} type={type} onClose={() => setAsked(null)} />}
      {asked === 'disable' && <Disable relay={relay} onClose={() => setAsked(null)} />}
      {asked === 'remove' && <Remove relay={relay} onClose={() => setAsked(null)} />}
    </>
  );
}

function MakeDefault({
  name,
  type,
  onClose,
}: {
  readonly name: string;
  readonly type: string;
  readonly onClose: () => void;
}) {
  return (
    <ConfirmAction
      operation="putSettings"
      request={{ values: { 'delivery.default_relay': name } }}
      changes={['relays', 'settings', 'routes', 'health']}
      done={`${name} is the default`}
      onDone={onClose}
      onClose={onClose}
      title="Make it the default?"
      confirm="Make it the default"
    >
      <p>
        {type === 'inbox' ? (
          <>Mail that no rule sends elsewhere is then captured here, and does not leave.</>
        ) : (
          <>
            Mail that no rule sends elsewhere then goes by <strong className="font-semibold">{name}</strong>,
            at once.
          </>
        )}{' '}
        Waiting mail that was routed by the default moves to it, too; what is under way stays.
      </p>
    </ConfirmAction>
  );
}

function Disable({
  relay: { name, waiting, processing },
  onClose,
}: {
  readonly relay: RelayView;
  readonly onClose: () => void;
}) {
  const left = waiting + processing;
  return (
    <ConfirmAction
      operation="switchRelay"
      request={{ name, disabled: true }}
      changes={['relays', 'queue', 'health']}
      done={`${name} is disabled`}
      onDone={onClose}
      onClose={onClose}
      title="Disable this relay?"
      confirm="Disable relay"
      danger
    >
      <p>
        Nothing is sent by <strong className="font-semibold">{name}</strong> until it is enabled again. Mail
        for it waits{left > 0 && `: ${left.toLocaleString('en-US')} recipients at this moment`}, or goes by
        the next relay of its rule.
      </p>
    </ConfirmAction>
  );
}

function Remove({ relay: { name }, onClose }: { readonly relay: RelayView; readonly onClose: () => void }) {
  const router = useRouter();
  return (
    <ConfirmAction
      operation="removeRelay"
      request={{ name }}
      changes={['relays', 'settings', 'health']}
      done={`${name} is removed`}
      onDone={() => {
        refreshSession();
        onClose();
        void router.navigate({ to: '/relays' });
      }}
      onClose={onClose}
      title="Remove this relay?"
      confirm="Remove relay"
      danger
      typed={name}
    >
      <p>Its definition and its secret are forgotten. Messages that went by it keep its name.</p>
    </ConfirmAction>
  );
}
