import { LogOut, Monitor } from 'lucide-react';
import { useMemo } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { actsColumn, type Column, codeColumn, DataTable, timeColumn } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/states.tsx';

/** A session that has not ended. */
export type SessionRow = ResultOf<'sessions'>[number];

/** Sessions: where somebody is signed in, and how to end that. */
export function SessionsTable({
  sessions,
  withNames = false,
  onEnd,
}: {
  readonly sessions: readonly SessionRow[];
  /** They are of several people. */
  readonly withNames?: boolean;
  readonly onEnd: (session: SessionRow) => void;
}) {
  const columns = useMemo(() => columnsOf(withNames, onEnd), [withNames, onEnd]);
  return (
    <DataTable
      label="Sessions"
      columns={columns}
      rows={sessions}
      rowId={({ id }) => id}
      empty={<EmptyState icon={Monitor} title="Nobody is signed in" />}
    />
  );
}

function columnsOf(withNames: boolean, onEnd: (session: SessionRow) => void): readonly Column<SessionRow>[] {
  const name: Column<SessionRow> = {
    header: 'User',
    sort: (session) => session.name,
    cell: (session) => <span className="block truncate font-medium">{session.name}</span>,
  };
  return [
    ...(withNames ? [name] : []),
    {
      header: 'Browser',
      width: 'minmax(0, 2fr)',
      cell: ({ agent, current }) => (
        <span className="flex min-w-0 flex-wrap items-center gap-x-2" title={agent}>
          <span className="min-w-0 break-words [overflow-wrap:anywhere]">{agentWords(agent)}</span>
          {current && <Badge tone="good">This one</Badge>}
        </span>
      ),
    },
    codeColumn({ header: 'From' }, ({ sourceAddress }) => sourceAddress),
    timeColumn({ header: 'Last seen', width: '6.5rem', sorts: true }, (row) => row.lastSeenAt),
    timeColumn({ header: 'Since', width: '6rem' }, ({ createdAt }) => createdAt),
    actsColumn(
      '5.5rem',
      (session) =>
        !session.current && (
          <Button
            small
            look="quiet"
            icon={LogOut}
            label="End"
            aria-label={`End the session of ${session.name} from ${session.sourceAddress}`}
            onClick={() => onEnd(session)}
          />
        ),
    ),
  ];
}

// What a browser calls itself, in words.

const BROWSERS = [
  [/Edg(?:e|A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/(?:Firefox|FxiOS)\//, 'Firefox'],
  [/(?:Chrome|CriOS)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
  [/^curl\//, 'curl'],
] as const;

const SYSTEMS = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Macintosh|Mac OS X/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux|X11/, 'Linux'],
] as const;

/** `Chrome on Linux`; what cannot be told apart is given as it is, and nothing as `Unknown`. */
export function agentWords(agent: string): string {
  const browser = BROWSERS.find(([sign]) => sign.test(agent))?.[1];
  const system = SYSTEMS.find(([sign]) => sign.test(agent))?.[1];
  if (browser !== undefined) return system === undefined ? browser : `${browser} on ${system}`;
  return agent.trim() === '' ? 'Unknown' : agent;
}
