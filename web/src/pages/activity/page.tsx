import { Activity } from 'lucide-react';
import { useCallback, useState } from 'react';
import { useAddress } from '../../address.ts';
import { Badge } from '../../parts/badge.tsx';
import { type Column, codeColumn, DataTable, timeColumn } from '../../parts/data-table.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { EmptyState, Fetched, Forbidden } from '../../parts/states.tsx';
import { Chip, SearchField, Toolbar } from '../../parts/toolbar.tsx';
import { ViewsMenu } from '../../parts/views-menu.tsx';
import { usePages } from '../../queries.ts';
import { useMay } from '../../session.tsx';
import { EntryDrawer } from './entry-drawer.tsx';
import { actorWords, type Entry, isAlarming, refusalOf } from './words.ts';

const PAGE_ROWS = 50;

/** Who did what, to what, from where; nothing of it can be changed. */
export function ActivityPage() {
  return (
    <Page title="Activity" note="Who did what, from where, and what the service did on its own.">
      {useMay('admin') ? <ActivityList /> : <Forbidden />}
    </Page>
  );
}

function ActivityList() {
  const [{ actor, action, subject }, filter] = useAddress();
  const [opened, setOpened] = useState<Entry | null>(null);
  const pages = usePages('activity', {
    request: (before: number | null) => ({
      actor: actor ?? null,
      action: action ?? null,
      subject: subject ?? null,
      limit: PAGE_ROWS,
      before,
    }),
    rows: ({ entries }) => entries,
    next: ({ next }) => next,
    topics: ['activity'],
    keep: true,
  });
  const search = useCallback((text: string) => filter({ subject: text === '' ? undefined : text }), [filter]);
  // Until something is found, the name has to do.
  const words = pages.rows.find((entry) => entry.action === action)?.words;
  const isFiltered = actor !== undefined || action !== undefined || subject !== undefined;
  return (
    <>
      <Toolbar>
        <SearchField label="Search by what it was done to" value={subject ?? ''} onSearch={search} />
        {actor !== undefined && (
          <Chip label={`the filter: by ${actor}`} onRemove={() => filter({ actor: undefined })}>
            by {actor}
          </Chip>
        )}
        {action !== undefined && (
          <Chip label={`the filter: ${words ?? action}`} onRemove={() => filter({ action: undefined })}>
            {words ?? action}
          </Chip>
        )}
        <ViewsMenu page="/activity" />
      </Toolbar>
      <Card flush>
        <Fetched query={pages.query} lines={10} shape="table">
          {() => (
            <DataTable
              label="Activity"
              columns={COLUMNS}
              rows={pages.rows}
              rowId={({ number }) => String(number)}
              onOpen={setOpened}
              more={pages.more}
              empty={
                <EmptyState icon={Activity} title={isFiltered ? 'No matching activity' : 'No activity yet'}>
                  {isFiltered
                    ? 'Remove a filter to see more.'
                    : 'Changes, sign-ins and removals by retention are recorded here.'}
                </EmptyState>
              }
            />
          )}
        </Fetched>
      </Card>
      {opened && (
        <EntryDrawer
          entry={opened}
          onClose={() => setOpened(null)}
          onFilter={(change) => {
            setOpened(null);
            filter(change);
          }}
        />
      )}
    </>
  );
}

const COLUMNS: readonly Column<Entry>[] = [
  {
    header: 'What',
    width: 'minmax(0, 1.3fr)',
    cell: ({ action, words, after }) => (
      <>
        <span className={isAlarming(action) ? 'font-medium text-failed' : 'font-medium'}>{words}</span>{' '}
        {refusalOf({ after }) !== null && <Badge tone="bad">not done</Badge>}
      </>
    ),
  },
  {
    header: 'To what',
    width: 'minmax(0, 1.3fr)',
    card: 'plain',
    cell: ({ subject }) => <span className="break-words">{subject}</span>,
  },
  {
    header: 'Who',
    width: 'minmax(0, 1fr)',
    card: 'figure',
    cell: (entry) => (
      <>
        {actorWords(entry)} {entry.actorKind === 'key' && <Badge>key</Badge>}
      </>
    ),
  },
  codeColumn(
    { header: 'From', width: 'minmax(0, 9rem)', card: 'figure' },
    ({ sourceAddress }) => sourceAddress,
    'here',
  ),
  timeColumn({ header: 'When', width: '7rem', card: 'aside', align: 'end' }, ({ at }) => at),
];
