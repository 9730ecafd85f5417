import { useNavigate } from '@tanstack/react-router';
import { Ban, Droplets, Pause, Play, RotateCw, Search, Split } from 'lucide-react';
import { MenuItem, MenuLine } from '../../parts/menu.tsx';
import { ofLane } from './act.ts';
import type { PlannedAct } from './act-dialog.tsx';
import type { Lane } from './columns.tsx';
import { useHold } from './use-hold.ts';

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
