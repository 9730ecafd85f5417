import { Link } from '@tanstack/react-router';
import {
  Ban,
  ChartColumn,
  Droplets,
  type LucideIcon,
  MoreHorizontal,
  Pause,
  Play,
  PlugZap,
  RotateCw,
  Search,
  Split,
} from 'lucide-react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatCount, formatDuration } from '../../format.ts';
import { StatusBadge } from '../../parts/badge.tsx';
import { Button, IconButton } from '../../parts/button.tsx';
import { actsColumn, type Column, countColumn } from '../../parts/data-table.tsx';
import { Menu, MenuItem, MenuLine, MenuLink } from '../../parts/menu.tsx';
import { Said, Time, useNow } from '../../parts/values.tsx';
import { useAct } from '../../queries.ts';
import { replyText } from '../message/story.ts';
import { ofLane, ofRelay, type PlannedAct } from './act-dialog.tsx';

/** When a lane has rested; nothing once that is over. */
function Until({ at }: { readonly at: string }) {
  const now = useNow();
  return Date.parse(at) <= now ? null : (
    <span className="block text-xs text-soft">
      again <Time at={at} ahead />
    </span>
  );
}

/** The columns of the table of lanes; with acts for those who may. */
export function laneColumns(onAct: ((act: PlannedAct) => void) | null): readonly Column<Lane>[] {
  if (onAct === null) return COLUMNS;
  const acts = (lane: Lane) => (
    <Menu trigger={<IconButton icon={MoreHorizontal} label={`What to do with ${lane.lane}`} small />}>
      <LaneMenu lane={lane} onAct={onAct} />
    </Menu>
  );
  return [...COLUMNS, actsColumn('2.25rem', acts)];
}

const COLUMNS: readonly Column<Lane>[] = [
  {
    header: 'Lane',
    width: 'minmax(0, 1.6fr)',
    sort: ({ lane }) => lane,
    cell: ({ lane, relay }) => (
      <span className="block min-w-0">
        <Said text={lane} className="font-medium" />
        {lane !== relay && (
          <Link
            to="/queue"
            search={{ relay }}
            className="link relative z-1 block w-fit max-w-full truncate text-xs"
          >
            {relay}
          </Link>
        )}
      </span>
    ),
  },
  {
    header: 'State',
    width: '7.5rem',
    card: 'aside',
    sort: ({ state }) => state,
    cell: ({ state, restsUntil, restsSince }) => (
      <span className="block">
        <StatusBadge status={state} />
        {restsSince !== null && (
          <span className="block text-xs text-soft">
            began <Time at={restsSince} />
          </span>
        )}
        {restsUntil !== null && <Until at={restsUntil} />}
      </span>
    ),
  },
  countColumn({ header: 'Waiting', width: '4.75rem', sorts: true }, ({ waiting }) => waiting),
  {
    header: 'Overdue',
    width: '5.25rem',
    align: 'end',
    sort: ({ oldestSeconds }) => oldestSeconds ?? -1,
    cell: ({ oldestSeconds }) =>
      oldestSeconds === null ? (
        <span className="text-faint">–</span>
      ) : oldestSeconds === 0 ? (
        <span className="text-soft">not due</span>
      ) : (
        <span className="whitespace-nowrap">{formatDuration(oldestSeconds * 1000)}</span>
      ),
  },
  {
    header: 'In flight',
    width: '5.5rem',
    align: 'end',
    sort: ({ inFlight }) => inFlight,
    cell: ({ inFlight, concurrency }) => (
      <span title={concurrency === null ? undefined : `The next hop is known to bear ${concurrency} at once`}>
        {formatCount(inFlight)}
        <span className="text-soft"> / {concurrency ?? '–'}</span>
      </span>
    ),
  },
  countColumn({ header: 'Per min', width: '4.5rem', sorts: true }, (lane) => lane.perMinute),
  {
    header: 'Last reply',
    width: 'minmax(0, 2fr)',
    card: 'plain',
    cell: ({ lastReply }) =>
      lastReply !== null && (
        <span className="block min-w-0 text-sm text-soft">
          <Said text={replyText(lastReply.code, lastReply.enhancedCode, lastReply.reply)} />
          <span className="text-xs">
            <Time at={lastReply.at} />
          </span>
        </span>
      ),
  },
];

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
function LaneMenu({ lane: { lane, relay, state }, onAct }: Props & { readonly lane: Lane }) {
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
      <MenuLink icon={PlugZap} label="Test its relay" to="/relays/$name" params={{ name: relay }} />
      <MenuLink
        icon={ChartColumn}
        label="Explore its mail"
        to="/explore"
        search={{ relay, domain: lane === relay ? undefined : lane.slice(relay.length + 1) }}
      />
      <MenuLink icon={Search} label="Find its messages" to="/messages" search={{ q: `relay:${relay}` }} />
    </>
  );
}
