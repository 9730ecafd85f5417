import { useRouter } from '@tanstack/react-router';
import { CircleCheck, CirclePause, CirclePlay, MoreHorizontal, Trash2 } from 'lucide-react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { ask } from '../../parts/ask.tsx';
import { IconButton } from '../../parts/button.tsx';
import { Menu, MenuItem, MenuLine } from '../../parts/menu.tsx';
import { useAct } from '../../queries.ts';
import { refreshSession, useMay } from '../../session.tsx';

/** A relay as the server tells of it. */
export type RelayView = ResultOf<'relays'>[number];

/** What can be done with a relay as a whole. */
export function RelayMenu({ relay }: { readonly relay: RelayView }) {
  const { name, isDefault, disabled, origin } = relay;
  const mayChange = useMay('admin');
  const router = useRouter();
  const enable = useAct('switchRelay', {
    done: `${name} is enabled`,
  });
  const remove = () =>
    askToRemove(name, () => {
      refreshSession();
      void router.navigate({ to: '/relays' });
    });
  const isStored = origin === 'stored';
  if (!mayChange || (isDefault && !isStored)) return null;
  return (
    <Menu trigger={<IconButton icon={MoreHorizontal} label={`What to do with ${name}`} small />}>
      {!isDefault && (
        <MenuItem icon={CircleCheck} label="Make it the default" onSelect={() => askForDefault(relay)} />
      )}
      {isStored && !disabled && (
        <MenuItem icon={CirclePause} label="Disable" onSelect={() => askToDisable(relay)} />
      )}
      {isStored && disabled && (
        <MenuItem
          icon={CirclePlay}
          label="Enable"
          onSelect={() => enable.mutate({ name, disabled: false })}
        />
      )}
      {isStored && (
        <>
          <MenuLine />
          <MenuItem icon={Trash2} danger label="Remove" onSelect={remove} />
        </>
      )}
    </Menu>
  );
}

function askForDefault({ name, type }: RelayView): void {
  ask('putSettings', {
    request: { values: { 'delivery.default_relay': name } },
    done: `${name} is the default`,
    title: 'Make it the default?',
    text: (
      <p>
        {type === 'inbox' ? (
          'Mail that no rule sends elsewhere is then captured here, and does not leave.'
        ) : (
          <>
            Mail that no rule sends elsewhere then goes through{' '}
            <strong className="font-semibold">{name}</strong>, at once.
          </>
        )}{' '}
        Waiting mail that was routed by the default moves to it, too; what is under way stays.
      </p>
    ),
    confirm: 'Make it the default',
  });
}

function askToDisable({ name, waiting, processing }: RelayView): void {
  const left = waiting + processing;
  ask('switchRelay', {
    request: { name, disabled: true },
    done: `${name} is disabled`,
    title: 'Disable this relay?',
    text: (
      <p>
        Nothing is sent by <strong className="font-semibold">{name}</strong> until it is enabled again. Mail
        for it waits{left > 0 && `: ${left.toLocaleString('en-US')} recipients at this moment`}, or goes to
        the next relay of its rule.
      </p>
    ),
    confirm: 'Disable relay',
    danger: true,
  });
}

function askToRemove(name: string, onDone: () => void): void {
  ask('removeRelay', {
    request: { name },
    done: `${name} is removed`,
    onDone,
    title: 'Remove this relay?',
    text: 'Its definition and its secret are deleted. Messages sent through it keep its name.',
    confirm: 'Remove relay',
    danger: true,
    typed: name,
  });
}
