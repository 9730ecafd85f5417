import { FileClock, RefreshCw, Search } from 'lucide-react';
import { useCallback, useMemo, useState } from 'react';
import { useAddress } from '../../address.ts';
import { Button } from '../../parts/button.tsx';
import { NameFilter } from '../../parts/choice.tsx';
import { type Column, DataTable, timeColumn } from '../../parts/data-table.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { EmptyState, Fetched, LoadingState } from '../../parts/states.tsx';
import { SearchField, Segments, Toolbar } from '../../parts/toolbar.tsx';
import { Duration, Said } from '../../parts/values.tsx';
import { ViewsMenu } from '../../parts/views-menu.tsx';
import { useCall, usePages } from '../../queries.ts';
import { RefusedSources, Words } from './refused-sources.tsx';
import { AnswerSign, keyless, type LoggedRequest, RequestDrawer } from './request-drawer.tsx';

const PAGE = 100;

/** A request with what tells it from the others of the list. */
type Line = LoggedRequest & { readonly place: number };

/** Which requests are shown, in words. */
const SHOWN = [
  { value: 'all', label: 'All' },
  { value: 'refused', label: 'Refused' },
  { value: 'accepted', label: 'Accepted' },
  { value: 'unknown', label: 'Unknown key' },
] as const;

/** What the list is about, in words. */
const KINDS = [
  { value: 'both', label: 'Both' },
  { value: 'api', label: 'API' },
  { value: 'smtp', label: 'SMTP' },
] as const;

/** What became of requests to the API, and of SMTP sessions: why did my call fail, and why can the printer not send? */
export function RequestsPage() {
  const [{ key, show, kind, source, message }, put] = useAddress();
  const [opened, setOpened] = useState<LoggedRequest | null>(null);
  const keys = useCall('listKeys', {}, { topics: ['keys'] });
  const isUnknown = show === 'unknown';
  const list = usePages('requestLog', {
    request: (cursor: string | null) => ({
      key: isUnknown ? null : (key ?? null),
      unknown: isUnknown,
      only: show === 'refused' || show === 'accepted' ? show : null,
      kind: kind ?? null,
      source: source ?? null,
      message: message ?? null,
      limit: PAGE,
      cursor,
    }),
    rows: ({ requests }) => requests,
    next: ({ nextCursor }) => nextCursor ?? null,
    keep: true,
  });
  const lines = useMemo(() => list.rows.map((line, place): Line => ({ ...line, place })), [list.rows]);
  const { isPlaceholderData, isFetching, refetch } = list.query;
  const search = useCallback((text: string) => put({ source: text || undefined }), [put]);
  const isFiltered = [show, key, kind, source, message].some((filter) => filter !== undefined);
  return (
    <Page
      title="Requests"
      note="Why did my call fail, and why can the printer not send? What came over the API and SMTP, and how it was answered."
      actions={<Button icon={RefreshCw} label="Refresh" busy={isFetching} onClick={() => void refetch()} />}
    >
      <Toolbar>
        <Segments
          label="Which requests"
          choices={SHOWN}
          value={show ?? 'all'}
          onChange={(next) => put({ show: next === 'all' ? undefined : next })}
        />
        <Segments
          label="API or SMTP"
          choices={KINDS}
          value={kind ?? 'both'}
          onChange={(next) => put({ kind: next === 'both' ? undefined : next })}
        />
        {!isUnknown && (
          <NameFilter
            label="API key"
            every="Every key"
            names={keys.data?.map(({ name }) => name)}
            value={key}
            onChange={(name) => put({ key: name })}
          />
        )}
        <SearchField
          label="Source address"
          placeholder="Source address, such as 192.168.7.20"
          value={source ?? ''}
          onSearch={search}
        />
        <ViewsMenu page="/requests" />
      </Toolbar>
      {message !== undefined && (
        <p className="mb-3 flex flex-wrap items-center gap-2 text-sm text-soft">
          The session that sent <code className="font-mono break-all">{message}</code>
          <Button small look="quiet" label="All requests" onClick={() => put({ message: undefined })} />
        </p>
      )}
      {show === 'refused' && key === undefined && (
        <RefusedSources source={source} onAll={() => put({ source: undefined })} />
      )}
      <Card flush>
        <Fetched query={list.query} lines={10} shape="table">
          {() => (
            <DataTable
              label="Requests"
              columns={COLUMNS}
              rows={lines}
              rowId={({ place }) => String(place)}
              onOpen={setOpened}
              more={list.more}
              empty={
                isPlaceholderData ? (
                  // Empty is the answer to the former question.
                  <LoadingState lines={10} shape="table" />
                ) : isFiltered ? (
                  <EmptyState icon={Search} title="No requests match">
                    {message === undefined
                      ? 'Other keys and sources, or all requests, may have more.'
                      : 'The session is no longer kept, or sent more than the 20 messages that are noted.'}
                  </EmptyState>
                ) : (
                  <EmptyState icon={FileClock} title="No request yet">
                    A request is here about a second after its answer, and an SMTP session after its end, for
                    as long as <code className="font-mono">retention.requests_days</code> says.
                  </EmptyState>
                )
              }
            />
          )}
        </Fetched>
      </Card>
      {opened && (
        <RequestDrawer
          of={opened}
          onClose={() => setOpened(null)}
          onKey={(name) => {
            setOpened(null);
            put({ key: name, show: undefined });
          }}
          onSource={(address) => {
            setOpened(null);
            put({ source: address, show: undefined, key: undefined });
          }}
        />
      )}
    </Page>
  );
}

const COLUMNS: readonly Column<Line>[] = [
  {
    header: 'Request',
    width: 'minmax(0, 2fr)',
    cell: (line) => <What of={line} />,
  },
  {
    header: 'Answer',
    width: '6.5rem',
    card: 'aside',
    cell: (line) => <AnswerSign of={line} />,
  },
  {
    header: 'Why',
    width: 'minmax(0, 1.6fr)',
    card: 'plain',
    cell: ({ code, meaning, faults }) =>
      code === null ? (
        <span className="text-faint @max-[42rem]:hidden">–</span>
      ) : (
        <span className="block min-w-0">
          <code className="font-mono text-sm break-all">
            {[code, ...faults.map((fault) => fault.pointer)].join(' ')}
          </code>
          <span className="line-clamp-2 text-xs text-soft">
            <Words text={meaning} />
          </span>
        </span>
      ),
  },
  {
    header: 'Key',
    width: 'minmax(0, 9rem)',
    card: 'figure',
    cell: (line) =>
      line.key === null ? <span className="text-soft">{keyless(line)}</span> : <Said text={line.key} />,
  },
  {
    header: 'Took',
    width: '4.5rem',
    card: 'figure',
    align: 'end',
    cell: ({ durationMs }) => <Duration ms={durationMs} />,
  },
  timeColumn({ header: 'When', width: '6.5rem', card: 'figure', align: 'end' }, ({ at }) => at),
];

/** What was asked: the request, or how the client of a session called itself, and where it came from. */
function What({ of: { method, path, sourceAddress, session } }: { readonly of: LoggedRequest }) {
  return (
    <span className="block min-w-0">
      <span className="block font-mono text-sm break-all">
        <span className="font-medium">{method}</span>{' '}
        <Said text={session === null ? path : session.hello} none="" lines="several" mono />
      </span>
      {sourceAddress !== null && <Said text={`from ${sourceAddress}`} className="text-xs text-soft" />}
    </span>
  );
}
