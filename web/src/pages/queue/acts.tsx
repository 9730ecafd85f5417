import { Ban, Droplets, type LucideIcon, Pause, Play, RotateCw, Search, Split } from 'lucide-react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { Button } from '../../parts/button.tsx';
import { MenuItem, MenuLine, MenuLink } from '../../parts/menu.tsx';
import { useAct } from '../../queries.ts';
import { ofLane, ofRelay, type PlannedAct } from './act-dialog.tsx';

/** A lane of the queue. */
export type Lane = ResultOf<'queue'>['lanes'][number];

/** Something that can be done now. */
interface Offer {
  readonly icon: LucideIcon;
  readonly label: string;
  readonly run: () => void;
}

const WORDS = { pause: 'is paused', drain: 'is drained: what waits is sent, nothing new is routed to it' };

/** Holds a lane or a relay back, or lets it go; says what it is then. What would change nothing is not offered. */
function useHolds(target: string, states: readonly Lane['state'][]) {
  const hold = useAct('hold', {
    done: ({ target: held, kind, changed }) => {
      if (kind !== null) return `${held} ${WORDS[kind]}${changed ? '.' : ', as it was.'}`;
      if (changed) return `${held} goes on.`;
      return `${held} was not held. If it still rests, resume its ${held.includes('/') ? 'relay' : 'lanes'}.`;
    },
  });
  const put = (kind: 'pause' | 'drain' | null) => () => hold.mutate({ target, kind });
  const areAll = (state: Lane['state']) => states.length > 0 && states.every((each) => each === state);
  const offers: readonly (Offer | false)[] = [
    states.some((state) => state === 'paused' || state === 'draining') && {
      icon: Play,
      label: 'Resume',
      run: put(null),
    },
    !areAll('paused') && { icon: Pause, label: 'Pause', run: put('pause') },
    !areAll('draining') && { icon: Droplets, label: 'Drain', run: put('drain') },
  ];
  return { offers: offers.filter((offer) => offer !== false), isBusy: hold.isPending };
}

/** What can be done to all that waits somewhere, once it was confirmed. */
function plansFor(
  place: string,
  selection: PlannedAct['selection'],
  onAct: (act: PlannedAct) => void,
): readonly Offer[] {
  const plan = (act: PlannedAct['act'], title: string) => () =>
    onAct({ act, selection, toRelay: null, title });
  return [
    { icon: RotateCw, label: 'Retry now', run: plan('retry', `Retry what waits ${place} now?`) },
    { icon: Split, label: 'Reroute', run: plan('reroute', `Reroute what waits ${place}?`) },
    { icon: Ban, label: 'Cancel what waits', run: plan('cancel', `Cancel what waits ${place}?`) },
  ];
}

interface Props {
  readonly onAct: (act: PlannedAct) => void;
}

/** What can be done to a relay with all its lanes, and to all that waits there. */
export function RelayActs({
  relay,
  states,
  onAct,
}: Props & { readonly relay: string; readonly states: readonly Lane['state'][] }) {
  const { offers, isBusy } = useHolds(relay, states);
  return (
    <>
      {offers.map(({ icon, label, run }) => (
        <Button key={label} small icon={icon} label={label} busy={isBusy} onClick={run} />
      ))}
      {plansFor(`at ${relay}`, ofRelay(relay), onAct).map(({ icon, label, run }) => (
        <Button key={label} small icon={icon} label={label} onClick={run} />
      ))}
    </>
  );
}

/** What can be done to a lane. */
export function LaneMenu({ lane: { lane, relay, state }, onAct }: Props & { readonly lane: Lane }) {
  const { offers } = useHolds(lane, [state]);
  const plans = plansFor(`in ${lane}`, ofLane(lane), onAct);
  return (
    <>
      {offers.map(({ icon, label, run }) => (
        <MenuItem key={label} icon={icon} label={label} onSelect={run} />
      ))}
      <MenuLine />
      {plans.map(({ icon, label, run }) => (
        <MenuItem key={label} icon={icon} danger={icon === Ban} label={label} onSelect={run} />
      ))}
      <MenuLine />
      <MenuLink icon={Search} label="Find its messages" to="/messages" search={{ q: `relay:${relay}` }} />
    </>
  );
}
