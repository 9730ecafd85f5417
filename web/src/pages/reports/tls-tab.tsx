import { Link } from '@tanstack/react-router';
import { LockKeyhole } from 'lucide-react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { type Column, countColumn, DataTable } from '../../parts/data-table.tsx';
import { Card } from '../../parts/page.tsx';
import { EmptyState, Fetched } from '../../parts/states.tsx';
import { Said } from '../../parts/values.tsx';
import { usePages } from '../../queries.ts';

type Day = ResultOf<'tlsReports'>['days'][number];

const EVERY_MS = 60_000;

const STATES: Readonly<Record<Day['state'], readonly [words: string, tone: Tone]>> = {
  counting: ['counting', 'neutral'],
  waiting: ['to be sent', 'busy'],
  sent: ['sent', 'good'],
  failed: ['not taken', 'bad'],
  unwanted: ['not asked for', 'neutral'],
};

/** Sessions with the servers of domains by day, and what the domains were told of them. */
export function TlsTab() {
  const { rows, query, more } = usePages('tlsReports', {
    request: (after: string | null) => ({ limit: 50, after }),
    rows: ({ days }): readonly Day[] => days,
    next: ({ next }) => next,
    everyMs: EVERY_MS,
  });
  return (
    <Card
      flush
      title="TLS reports"
      note="Sessions with the mail servers of domains, and what the domains were told of them."
    >
      <Fetched query={query} lines={8}>
        {({ isOn }) => (
          <DataTable
            label="TLS reports"
            columns={COLUMNS}
            rows={rows}
            rowId={({ date, domain }) => `${date} ${domain}`}
            more={more}
            empty={<Nothing isOn={isOn} />}
          />
        )}
      </Fetched>
    </Card>
  );
}

function Nothing({ isOn }: { readonly isOn: boolean }) {
  if (isOn)
    return (
      <EmptyState icon={LockKeyhole} title="No session has been counted yet">
        Once a relay that delivers directly has sent mail, the domains that it went to are here.
      </EmptyState>
    );
  return (
    <EmptyState icon={LockKeyhole} title="TLS reports are off">
      Domains that ask for them are told once a day how their mail servers were reached over TLS. To send them
      such reports, set{' '}
      <Link to="/settings/$section" params={{ section: 'delivery' }} className="link">
        tls_reports.from
      </Link>
      .
    </EmptyState>
  );
}

const COLUMNS: readonly Column<Day>[] = [
  {
    header: 'Domain',
    width: 'minmax(0, 1.3fr)',
    cell: ({ domain }) => <Said text={domain} className="font-medium" />,
  },
  { header: 'Day', width: '7rem', cell: ({ date }) => <span className="tabular-nums">{date}</span> },
  countColumn({ header: 'Sessions', width: '6.5rem' }, ({ sessions }) => sessions),
  {
    header: 'Failed',
    width: '6rem',
    align: 'end',
    cell: ({ failed }) => (failed === 0 ? '0' : <Badge tone="bad">{failed}</Badge>),
  },
  {
    header: 'Report',
    width: '9rem',
    card: 'aside',
    cell: ({ state, nextAt }) => {
      const [words, tone] = STATES[state];
      return (
        <Badge tone={tone} title={nextAt ?? undefined}>
          {words}
        </Badge>
      );
    },
  },
  {
    header: 'To',
    width: 'minmax(0, 2fr)',
    cell: ({ targets }) =>
      targets.length === 0 ? (
        '–'
      ) : (
        <ul className="min-w-0">
          {targets.map(({ uri, messageId, detail }) => (
            <li key={uri} title={detail === '' ? undefined : detail} className="min-w-0">
              {messageId === null ? (
                <Said text={uri} />
              ) : (
                <Link to="/messages/$id" params={{ id: messageId }} className="link relative z-1 break-all">
                  {uri}
                </Link>
              )}
            </li>
          ))}
        </ul>
      ),
  },
];
