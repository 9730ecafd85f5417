import { HeartPulse } from 'lucide-react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { Badge, StatusBadge } from '../../parts/badge.tsx';
import { Card } from '../../parts/card.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/states.tsx';
import { Duration, Time } from '../../parts/values.tsx';

type Happening = ResultOf<'relay'>['history'][number];

const COLUMNS: readonly Column<Happening>[] = [
  {
    id: 'kind',
    header: 'What',
    width: '8rem',
    cell: ({ kind }) =>
      kind === 'rested' ? (
        <StatusBadge status="resting" />
      ) : (
        <Badge tone="good" dot>
          Recovered
        </Badge>
      ),
  },
  { id: 'at', header: 'When', width: '8rem', cell: ({ at }) => <Time at={at} /> },
  {
    id: 'lane',
    header: 'Lane',
    cell: ({ lane }) => <span className="font-mono text-sm break-all">{lane}</span>,
  },
  {
    id: 'pause',
    header: 'For',
    width: '6rem',
    cell: ({ pauseMs }) =>
      pauseMs === null ? <span className="text-faint">–</span> : <Duration ms={pauseMs} />,
  },
  {
    id: 'cause',
    header: 'Why',
    width: 'minmax(0, 2fr)',
    cell: ({ cause }) => <span className="break-words">{cause ?? 'Its next hop does well again.'}</span>,
  },
];

/** When a relay rested because its next hop failed, and when it recovered. */
export function HistoryTab({ history }: { readonly history: readonly Happening[] }) {
  return (
    <Card title="Rests and recoveries" note="Since the start, the newest first." flush>
      <DataTable
        label="Rests and recoveries"
        columns={COLUMNS}
        rows={history}
        rowId={({ at, lane, kind }) => `${at} ${lane} ${kind}`}
        empty={
          <EmptyState icon={HeartPulse} title="It has not rested">
            When its next hop fails again and again, it rests a while, and is then tried with care. That is
            told here.
          </EmptyState>
        }
      />
    </Card>
  );
}
