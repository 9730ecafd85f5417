import { useNavigate } from '@tanstack/react-router';
import { Ban, Droplets, Pause, Play, RotateCw, Search, Split } from 'lucide-react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { Button } from '../../parts/button.tsx';
import { MenuItem, MenuLine } from '../../parts/menu.tsx';
import { useAct } from '../../queries.ts';
import { ofLane, ofRelay, type PlannedAct } from './act-dialog.tsx';

/** A lane of the queue. */
export type Lane = ResultOf<'queue'>['lanes'][number];

/** Pauses or drains a relay with all its lanes, or lets it go on. */
export function HoldButtons({
  target,
  states,
}: {
  readonly target: string;
  readonly states: readonly Lane['state'][];
}) {
  const hold = useHold();
  const isHeld = states.some((state) => state === 'paused' || state === 'draining');
  const put = (kind: 'pause' | 'drain' | null) => hold.mutate({ target, kind });
  return (
    <>
      {isHeld && (
        <Button small icon={Play} busy={hold.isPending} onClick={() => put(null)}>
          Resume
        </Button>
      )}
      {!states.every((state) => state === 'paused') || states.length === 0 ? (
        <Button small icon={Pause} busy={hold.isPending} onClick={() => put('pause')}>
          Pause
        </Button>
      ) : null}
      {!states.every((state) => state === 'draining') || states.length === 0 ? (
        <Button small icon={Droplets} busy={hold.isPending} onClick={() => put('drain')}>
          Drain
        </Button>
      ) : null}
    </>
  );
}

/** What can be done to all that waits at a relay. */
export function RelayActs({
  relay,
  onAct,
}: {
  readonly relay: string;
  readonly onAct: (act: PlannedAct) => void;
}) {
  const plan = (act: PlannedAct['act'], title: string) => () =>
    onAct({ act, selection: ofRelay(relay), toRelay: null, title });
  return (
    <>
      <Button small icon={RotateCw} onClick={plan('retry', `Retry what waits at ${relay} now?`)}>
        Retry now
      </Button>
      <Button small icon={Split} onClick={plan('reroute', `Reroute what waits at ${relay}?`)}>
        Reroute
      </Button>
      <Button small icon={Ban} onClick={plan('cancel', `Cancel what waits at ${relay}?`)}>
        Cancel
      </Button>
    </>
  );
}

/** What can be done to a lane. */
export function LaneMenu({
  lane: { lane, relay, state },
  onAct,
}: {
  readonly lane: Lane;
  readonly onAct: (act: PlannedAct) => void;
}) {
  const hold = useHold();
  const navigate = useNavigate();
  const selection = ofLane(lane);
  return (
    <>
      {(state === 'paused' || state === 'draining') && (
        <MenuItem icon={Play} onSelect={() => hold.mutate({ target: lane, kind: null })}>
          Resume
        </MenuItem>
      )}
      {state !== 'paused' && (
        <MenuItem icon={Pause} onSelect={() => hold.mutate({ target: lane, kind: 'pause' })}>
          Pause
        </MenuItem>
      )}
      {state !== 'draining' && (
        <MenuItem icon={Droplets} onSelect={() => hold.mutate({ target: lane, kind: 'drain' })}>
          Drain
        </MenuItem>
      )}
      <MenuLine />
      <MenuItem
        icon={RotateCw}
        onSelect={() =>
          onAct({ act: 'retry', selection, toRelay: null, title: `Retry what waits in ${lane} now?` })
        }
      >
        Retry now
      </MenuItem>
      <MenuItem
        icon={Split}
        onSelect={() =>
          onAct({ act: 'reroute', selection, toRelay: null, title: `Reroute what waits in ${lane}?` })
        }
      >
        Reroute
      </MenuItem>
      <MenuItem
        icon={Ban}
        danger
        onSelect={() =>
          onAct({ act: 'cancel', selection, toRelay: null, title: `Cancel what waits in ${lane}?` })
        }
      >
        Cancel what waits
      </MenuItem>
      <MenuLine />
      <MenuItem
        icon={Search}
        onSelect={() => void navigate({ to: '/messages', search: { q: `relay:${relay}` } })}
      >
        Find its messages
      </MenuItem>
    </>
  );
}

const WORDS = { pause: 'is paused', drain: 'is drained: what waits is sent, nothing new is routed to it' };

/** Holds a lane or a relay back, or lets it go; says what it is then. */
function useHold() {
  return useAct('hold', {
    changes: ['queue', 'relays', 'messages'],
    done: ({ target, kind, changed }: ResultOf<'hold'>) => {
      if (kind !== null) return `${target} ${WORDS[kind]}${changed ? '.' : ', as it was.'}`;
      if (changed) return `${target} goes on.`;
      return `${target} was not held. If it still rests, resume its ${target.includes('/') ? 'relay' : 'lanes'}.`;
    },
  });
}
