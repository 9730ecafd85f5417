import { Link, linkOptions } from '@tanstack/react-router';
import { ChevronRight, Send } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatCount, formatDuration } from '../../format.ts';
import { classNames } from '../../parts/class-names.ts';
import { type Column, column, countColumn, DataTable, statusColumn } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/states.tsx';
import { Bytes } from '../../parts/values.tsx';

/** Due for so long, mail is late: as the check of health has it. */
const LATE_SECONDS = 300;

/** The way of mail through the service, as it is now: in, waiting, under way, out. */
export function Flow({ view: { last5m, queue } }: { readonly view: ResultOf<'overview'> }) {
  const { oldestSeconds } = queue;
  const isLate = oldestSeconds !== null && oldestSeconds > LATE_SECONDS;
  return (
    <section
      aria-label="Now"
      className="grid grid-cols-2 overflow-hidden rounded-lg border border-line bg-surface md:grid-cols-4"
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
      <Cell label="Sent" value={last5m.sent} note="in the last 5 minutes" />
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
        'relative border-line px-4 py-3.5 max-md:nth-[-n+2]:border-b md:px-5',
        'even:border-l md:not-first:border-l',
        link && 'hover:bg-sunken/60',
      )}
    >
      {!first && (
        <span
          aria-hidden
          className="absolute top-1/2 -left-[0.68rem] z-1 hidden size-[1.35rem] -translate-y-1/2 items-center justify-center rounded-full border border-line bg-surface text-faint md:flex"
        >
          <ChevronRight size={13} />
        </span>
      )}
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

type Relay = ResultOf<'overview'>['relays'][number];

const COLUMNS: readonly Column<Relay>[] = [
  {
    header: 'Relay',
    cell: ({ name, type }) => (
      <>
        <span className="font-medium">{name}</span>{' '}
        <span className="text-soft">{type === name ? '' : type}</span>
      </>
    ),
    sort: ({ name }) => name,
  },
  statusColumn({ header: 'State', width: '8rem', card: 'aside', sorts: true }, ({ state }) => state),
  countColumn({ header: 'In flight', width: '6rem', sorts: true }, ({ inFlight }) => inFlight),
  countColumn({ header: 'Waiting', width: '6rem', sorts: true }, ({ waiting }) => waiting),
  countColumn({ header: 'Delivered', width: '7rem', sorts: true }, ({ deliveredToday }) => deliveredToday),
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
