import { Link } from '@tanstack/react-router';
import { EllipsisVertical } from 'lucide-react';
import { formatCount, formatDuration } from '../../format.ts';
import { StatusBadge } from '../../parts/badge.tsx';
import { IconButton } from '../../parts/button.tsx';
import { actsColumn, type Column, countColumn } from '../../parts/data-table.tsx';
import { Menu } from '../../parts/menu.tsx';
import { Said, Time, useNow } from '../../parts/values.tsx';
import { replyText } from '../message/timeline.ts';
import type { PlannedAct } from './act-dialog.tsx';
import { type Lane, LaneMenu } from './acts.tsx';

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
    <Menu trigger={<IconButton icon={EllipsisVertical} label={`Act on ${lane.lane}`} small />}>
      <LaneMenu lane={lane} onAct={onAct} />
    </Menu>
  );
  return [...COLUMNS, actsColumn('2.25rem', acts, 'Act')];
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
    cell: ({ state, restsUntil }) => (
      <span className="block">
        <StatusBadge status={state} />
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
      <span
        title={
          concurrency === null ? undefined : `The next hop bears ${concurrency} at once, as far as is known`
        }
      >
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
