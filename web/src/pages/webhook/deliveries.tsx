import { Send } from 'lucide-react';
import { useEffect } from 'react';
import { useAddress } from '../../address.ts';
import { type Column, column, countColumn, DataTable } from '../../parts/data-table.tsx';
import { Card } from '../../parts/page.tsx';
import { EmptyState, Fetched, LoadingState } from '../../parts/states.tsx';
import { Segments } from '../../parts/toolbar.tsx';
import { DueAt, Duration, Said, Time } from '../../parts/values.tsx';
import { usePages } from '../../queries.ts';
import { AnswerBadge, isTaken } from '../webhooks/tries.tsx';
import type { Endpoint } from '../webhooks/words.ts';
import { type Delivery, DeliveryBadge, DeliveryDrawer } from './delivery-drawer.tsx';

const PAGE = 50;

/** What an endpoint was told, and is still to be told. */
export function Deliveries({ of }: { readonly of: Endpoint }) {
  const [{ status, event }, put] = useAddress();
  const list = usePages('webhookDeliveries', {
    request: (cursor: string | null) => ({ which: of.id, status: status ?? null, limit: PAGE, cursor }),
    rows: ({ deliveries }) => deliveries,
    next: ({ nextCursor }) => nextCursor ?? null,
    topics: ['webhooks'],
    keep: true,
  });
  const sequence = Number(event);
  const { refetch } = list.query;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what has come, or gone, is asked for
  useEffect(() => void refetch(), [of.pending]);
  return (
    <Card
      flush
      title="Deliveries"
      note={of.pending === 0 ? 'Nothing is pending.' : `${of.pending.toLocaleString('en-US')} pending`}
      actions={
        <Segments
          label="Which deliveries"
          choices={CHOICES}
          value={status ?? ''}
          onChange={(next) => put({ status: next === '' ? undefined : next })}
        />
      }
    >
      <Fetched query={list.query} lines={8} shape="table">
        {() => (
          <DataTable
            label="Deliveries"
            columns={COLUMNS}
            rows={list.rows}
            rowId={({ eventId, sequence: one }) => `${eventId}-${one}`}
            onOpen={(delivery) => put({ event: String(delivery.sequence) })}
            more={list.more}
            empty={
              list.query.isPlaceholderData ? (
                <LoadingState shape="table" />
              ) : status === undefined ? (
                <EmptyState icon={Send} title="No deliveries yet">
                  It is told of what happens from its creation on. A test shows at once whether it listens.
                </EmptyState>
              ) : (
                <EmptyState icon={Send} title={`No delivery is ${status}`} />
              )
            }
          />
        )}
      </Fetched>
      {Number.isSafeInteger(sequence) && sequence > 0 && (
        <DeliveryDrawer
          key={sequence}
          endpoint={of}
          sequence={sequence}
          onClose={() => put({ event: undefined })}
        />
      )}
    </Card>
  );
}

const CHOICES = [
  { value: '' as const, label: 'All' },
  { value: 'pending' as const, label: 'Pending' },
  { value: 'delivered' as const, label: 'Delivered' },
  { value: 'failed' as const, label: 'Failed' },
];

const COLUMNS: readonly Column<Delivery>[] = [
  {
    header: 'Event',
    width: 'minmax(0, 1.5fr)',
    cell: ({ type, eventId }) => (
      <>
        <span className="block truncate font-mono text-sm font-medium">{type}</span>
        <span className="block truncate font-mono text-xs text-soft" title={eventId}>
          {eventId}
        </span>
      </>
    ),
  },
  {
    header: 'Status',
    width: '6.5rem',
    card: 'aside',
    cell: ({ status }) => <DeliveryBadge status={status} />,
  },
  {
    header: 'Last answer',
    width: 'minmax(0, 1fr)',
    card: 'plain',
    cell: ({ tries }) => <LastAnswer of={tries.at(-1)} />,
  },
  countColumn({ header: 'Tries', width: '3.5rem' }, ({ tries }) => tries.length),
  column(
    { header: 'Last try', width: '5.5rem', card: 'figure' },
    ({ tries }) => tries.at(-1)?.at ?? null,
    (at) => <Time at={at} />,
  ),
  column(
    { header: 'Next try', width: '5.5rem', card: 'figure' },
    ({ nextTryAt }) => nextTryAt,
    (at) => <DueAt at={at} />,
  ),
];

function LastAnswer({ of }: { readonly of: Delivery['tries'][number] | undefined }) {
  if (of === undefined) return <span className="text-faint">not tried yet</span>;
  return (
    <div className="flex min-w-0 items-center gap-2">
      <AnswerBadge of={of} />
      <span className="min-w-0 text-xs text-soft">
        {of.error === null || isTaken(of) ? <Duration ms={of.durationMs} /> : <Said text={of.error} />}
      </span>
    </div>
  );
}
