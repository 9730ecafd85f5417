import { FileClock, RefreshCw, Search } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { useAddress } from '../../address.ts';
import { formatCount } from '../../format.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { NameFilter } from '../../parts/choice.tsx';
import { Copyable } from '../../parts/copy.tsx';
import { type Column, DataTable, timeColumn } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Card, KeyValue, Page } from '../../parts/page.tsx';
import { EmptyState, Fetched, LoadingState } from '../../parts/states.tsx';
import { Segments, Toolbar } from '../../parts/toolbar.tsx';
import { Duration, Said, Time } from '../../parts/values.tsx';
import { useCall, usePages } from '../../queries.ts';
import { RefusedSources, Words } from './refused-sources.tsx';

const PAGE = 100;

type LoggedRequest = ResultOf<'requestLog'>['requests'][number];
/** A request with what tells it from the others of the list. */
type Line = LoggedRequest & { readonly place: number };

/** Which requests are shown, in words. */
const SHOWN = [
  { value: 'all', label: 'All' },
  { value: 'refused', label: 'Refused' },
  { value: 'accepted', label: 'Accepted' },
  { value: 'unknown', label: 'Unknown key' },
] as const;

/** What became of requests to the API: why did my call fail? */
export function RequestsPage() {
  const [{ key, show, source }, put] = useAddress();
  const [opened, setOpened] = useState<LoggedRequest | null>(null);
  const keys = useCall('listKeys', {}, { topics: ['keys'] });
  const isUnknown = show === 'unknown';
  const list = usePages('requestLog', {
    request: (cursor: string | null) => ({
      key: isUnknown ? null : (key ?? null),
      unknown: isUnknown,
      only: show === 'refused' || show === 'accepted' ? show : null,
      limit: PAGE,
      cursor,
    }),
    rows: ({ requests }) => requests,
    next: ({ nextCursor }) => nextCursor ?? null,
    keep: true,
  });
  const lines = useMemo(() => list.rows.map((line, place): Line => ({ ...line, place })), [list.rows]);
  const { isPlaceholderData, isFetching, refetch } = list.query;
  return (
    <Page
      title="Requests"
      note="Why did my call fail? What was asked of the API, and how it was answered."
      actions={<Button icon={RefreshCw} label="Refresh" busy={isFetching} onClick={() => void refetch()} />}
    >
      <Toolbar>
        <Segments
          label="Which requests"
          choices={SHOWN}
          value={show ?? 'all'}
          onChange={(next) => put({ show: next === 'all' ? undefined : next })}
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
      </Toolbar>
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
                ) : show !== undefined || key !== undefined ? (
                  <EmptyState icon={Search} title="No requests match">
                    Other keys, or all requests, may have more.
                  </EmptyState>
                ) : (
                  <EmptyState icon={FileClock} title="No request yet">
                    A request is here about a second after its answer, for as long as{' '}
                    <code className="font-mono">retention.requests_days</code> says.
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
        />
      )}
    </Page>
  );
}

const COLUMNS: readonly Column<Line>[] = [
  {
    header: 'Request',
    width: 'minmax(0, 2fr)',
    cell: ({ method, path }) => (
      <span className="block min-w-0 font-mono text-sm break-all">
        <span className="font-medium">{method}</span> <Said text={path} lines="several" mono />
      </span>
    ),
  },
  {
    header: 'Answer',
    width: '6.5rem',
    card: 'aside',
    cell: (line) => <StatusSign of={line} />,
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
    cell: ({ key }) => (key === null ? <span className="text-soft">unknown</span> : <Said text={key} />),
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

function StatusSign({ of: { status, standsFor } }: { readonly of: LoggedRequest }) {
  return (
    <span className="inline-flex flex-wrap items-center gap-1">
      <Badge tone={toneOf(status)} dot>
        {status ?? 'left'}
      </Badge>
      {standsFor > 1 && (
        <span className="text-xs text-soft" title={`Stands for ${formatCount(standsFor)} requests`}>
          ×{formatCount(standsFor)}
        </span>
      )}
    </span>
  );
}

function toneOf(status: number | null): Tone {
  if (status === null) return 'warn';
  return status < 400 ? 'good' : 'bad';
}

/** Everything about a request, and what to do if it was refused. */
function RequestDrawer({
  of,
  onClose,
  onKey,
}: {
  readonly of: LoggedRequest;
  readonly onClose: () => void;
  readonly onKey: (name: string) => void;
}) {
  const { at, key, method, path, code, meaning, cure, faults, durationMs, requestId, standsFor } = of;
  return (
    <Dialog
      kind="drawer"
      onClose={onClose}
      title={<Said text={`${method} ${path}`} lines="several" />}
      {...(meaning !== null && { description: <Words text={meaning} /> })}
    >
      <div className="space-y-6">
        <KeyValue
          rows={{
            Answer: <StatusSign of={of} />,
            Code: code === null ? undefined : <Copyable text={code} />,
            'What to do': cure === null ? undefined : <Words text={cure} />,
            Key:
              key === null ? (
                'unknown'
              ) : (
                <button
                  type="button"
                  title={`All requests of ${key}`}
                  onClick={() => onKey(key)}
                  className="link text-left break-words"
                >
                  {key}
                </button>
              ),
            When: <Time at={at} exact />,
            Took: <Duration ms={durationMs} />,
            'Stands for': standsFor === 1 ? undefined : `${formatCount(standsFor)} requests`,
            'Request id': <Copyable text={requestId} />,
          }}
        />
        {faults.length > 0 && (
          <section>
            <h3 className="mb-2 font-semibold">Fields that were wrong</h3>
            <KeyValue
              rows={Object.fromEntries(
                faults.map((fault, place) => [
                  faults.findIndex(({ pointer }) => pointer === fault.pointer) === place
                    ? fault.pointer
                    : `${fault.pointer} (${place + 1})`,
                  <div key={`${fault.pointer} ${fault.code}`}>
                    <code className="font-mono text-sm break-all">{fault.code}</code>
                    <p>
                      <Words text={fault.meaning} /> <Words text={fault.cure} />
                    </p>
                  </div>,
                ]),
              )}
            />
          </section>
        )}
      </div>
    </Dialog>
  );
}
