import { Inbox } from 'lucide-react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatRate } from '../../format.ts';
import { Badge } from '../../parts/badge.tsx';
import { type Column, countColumn, DataTable, timeColumn } from '../../parts/data-table.tsx';
import { Card } from '../../parts/page.tsx';
import { EmptyState, Fetched } from '../../parts/states.tsx';
import { Said } from '../../parts/values.tsx';
import { usePages } from '../../queries.ts';
import { passTone } from './figures.ts';

type Report = ResultOf<'dmarcReports'>['reports'][number];

/** The reports that came in, the newest first. */
export function ReceivedTab() {
  const { rows, query, more } = usePages('dmarcReports', {
    request: (before: string | null) => ({ limit: 50, before }),
    rows: ({ reports }): readonly Report[] => reports,
    next: ({ next }) => next,
    topics: ['reports'],
  });
  return (
    <Card flush>
      <Fetched query={query} lines={8} shape="table">
        {() => (
          <DataTable
            label="Reports received"
            columns={COLUMNS}
            rows={rows}
            rowId={({ id }) => id}
            more={more}
            empty={
              <EmptyState icon={Inbox} title="No report yet">
                Receivers send one a day at most, in the night after the day that it is about.
              </EmptyState>
            }
          />
        )}
      </Fetched>
    </Card>
  );
}

const COLUMNS: readonly Column<Report>[] = [
  {
    header: 'Reporter',
    width: 'minmax(0, 1.4fr)',
    cell: ({ reporter, contact }) => (
      <span title={contact} className="block min-w-0">
        <Said text={reporter} none="–" className="font-medium" />
      </span>
    ),
  },
  { header: 'Domain', width: 'minmax(0, 1.2fr)', cell: ({ domain }) => <Said text={domain} /> },
  {
    header: 'Day',
    width: '7rem',
    cell: ({ beginAt, endAt }) => (
      <span title={`${beginAt} – ${endAt}`} className="tabular-nums">
        {beginAt.slice(0, 10)}
      </span>
    ),
  },
  countColumn({ header: 'Mail', width: '6rem' }, ({ messages }) => messages),
  {
    header: 'Passed',
    width: '6rem',
    align: 'end',
    cell: (row) => (
      <Badge tone={passTone(row)}>{formatRate(row.messages === 0 ? null : row.passed / row.messages)}</Badge>
    ),
  },
  { header: 'Came by', width: '6rem', cell: ({ via }) => (via === 'mail' ? 'mail' : 'a file') },
  timeColumn({ header: 'Received', width: '8rem' }, ({ receivedAt }) => receivedAt),
];
