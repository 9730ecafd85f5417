import { Link, linkOptions } from '@tanstack/react-router';
import { ChevronRight, Send } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatCount, formatDuration } from '../../format.ts';
import { classNames, FILLS } from '../../parts/class-names.ts';
import { type Column, column, countColumn, DataTable, statusColumn } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/states.tsx';
import { Bytes, Said } from '../../parts/values.tsx';
import { restReply } from '../relays/rest.tsx';

/** What became of messages, in the order and the words in which the whole page shows it. */
export const FATES = [
  { event: 'delivered', label: 'Delivered' },
  { event: 'captured', label: 'Captured' },
  { event: 'failed', label: 'Failed' },
] as const;

/** Due for so long, mail is late: as the check of health has it. */
const LATE_SECONDS = 300;

type View = ResultOf<'overview'>;

/** The way of messages through the service, as it is now: in, waiting, under way, and what became of them. */
export function Flow({ view: { last5m, queue } }: { readonly view: Pick<View, 'last5m' | 'queue'> }) {
  const { oldestSeconds } = queue;
  const isLate = oldestSeconds !== null && oldestSeconds > LATE_SECONDS;
  return (
    <section
      aria-label="Now"
      className="grid grid-cols-3 overflow-hidden rounded-lg border border-line bg-surface md:grid-cols-[1fr_1fr_1fr_2fr]"
    >
      <Cell label="Accepted" value={last5m.received} note="in the last 5 minutes" first />
      <Cell
        label="Waiting"
        value={queue.incoming}
        link
        note={
          queue.incoming === 0 ? (
            'nothing waits'
          ) : (
            <>
              <span className={classNames(isLate && 'font-medium text-retrying')}>
                {oldestSeconds === null
                  ? 'none is due yet'
                  : `oldest due for ${formatDuration(oldestSeconds * 1000)}`}
              </span>
              , <Bytes bytes={queue.queuedBytes} />
            </>
          )
        }
      />
      <Cell label="Under way" value={queue.processing} note="being handed on" link />
      <Ends counts={last5m} />
    </section>
  );
}

function Cell({
  label,
  value,
  note,
  link = false,
  first = false,
}: {
  readonly label: string;
  readonly value: number;
  readonly note: ReactNode;
  /** Leads to the queue. */
  readonly link?: boolean;
  readonly first?: boolean;
}) {
  return (
    <div
      className={classNames(
        'relative border-line px-3 py-3.5 not-first:border-l md:px-5',
        link && 'hover:bg-sunken/60',
      )}
    >
      {!first && <Onward />}
      <div className="caption">
        {link ? (
          <Link to="/queue" className="after:absolute after:inset-0">
            {label}
          </Link>
        ) : (
          label
        )}
      </div>
      <div className="text-2xl font-semibold tracking-tight">{formatCount(value)}</div>
      <div className="mt-0.5 text-sm text-soft">{note}</div>
    </div>
  );
}

/** What became of messages a moment ago: captured ones went nowhere, and are not among the delivered. */
function Ends({ counts }: { readonly counts: View['last5m'] }) {
  return (
    <div className="relative col-span-3 border-line px-3 py-3.5 max-md:border-t md:col-span-1 md:border-l md:px-5">
      <Onward />
      <dl className="grid grid-cols-3 gap-x-3">
        {FATES.map(({ event, label }) => (
          <div key={event}>
            <dt className="caption flex items-center gap-1.5">
              <span aria-hidden className={classNames('size-2 rounded-xs', FILLS[event])} />
              {label}
            </dt>
            <dd className="text-2xl font-semibold tracking-tight">{formatCount(counts[event])}</dd>
          </div>
        ))}
      </dl>
      <div className="mt-0.5 text-sm text-soft">in the last 5 minutes</div>
    </div>
  );
}

/** Leads from the cell before. */
function Onward() {
  return (
    <span
      aria-hidden
      className="absolute top-1/2 -left-[0.68rem] z-1 hidden size-[1.35rem] -translate-y-1/2 items-center justify-center rounded-full border border-line bg-surface text-faint md:flex"
    >
      <ChevronRight size={13} />
    </span>
  );
}

type Relay = View['relays'][number];

const COLUMNS: readonly Column<Relay>[] = [
  {
    header: 'Relay',
    cell: ({ name, type, rest }) => (
      <>
        <span className="font-medium">{name}</span>{' '}
        <span className="text-soft">{type === name ? '' : type}</span>
        {rest && <Said text={restReply(rest)} className="text-xs text-failed" />}
      </>
    ),
    sort: ({ name }) => name,
  },
  statusColumn({ header: 'State', width: '8rem', card: 'aside', sorts: true }, ({ state }) => state),
  countColumn({ header: 'In flight', width: '6rem', sorts: true }, ({ inFlight }) => inFlight),
  countColumn({ header: 'Waiting', width: '6rem', sorts: true }, ({ waiting }) => waiting),
  {
    header: 'Delivered',
    width: '8rem',
    align: 'end',
    sort: ({ deliveredToday }) => deliveredToday,
    cell: ({ type, deliveredToday }) =>
      type === 'inbox' ? (
        <span className="text-soft">{formatCount(deliveredToday)} captured</span>
      ) : (
        formatCount(deliveredToday)
      ),
  },
  column(
    { header: 'Failed', width: '6rem', align: 'end', sorts: true },
    ({ failedToday }) => failedToday,
    (failed) => <span className={failed > 0 ? 'text-failed' : undefined}>{formatCount(failed)}</span>,
  ),
];

/** Every relay, how its next hop does, and what it did today. */
export function RelaysTable({ relays }: { readonly relays: readonly Relay[] }) {
  return (
    <DataTable
      label="Relays"
      columns={COLUMNS}
      rows={relays}
      rowId={({ name }) => name}
      rowLink={({ name }) => linkOptions({ to: '/relays/$name', params: { name } })}
      empty={<EmptyState icon={Send} title="No relay yet" />}
    />
  );
}
