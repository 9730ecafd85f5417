import { linkOptions } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { StatusBadge } from '../../parts/badge.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/states.tsx';
import { Count } from '../../parts/values.tsx';

type Relay = ResultOf<'overview'>['relays'][number];

const COLUMNS: readonly Column<Relay>[] = [
  {
    id: 'name',
    header: 'Relay',
    cell: ({ name, type }) => (
      <>
        <span className="font-medium">{name}</span>{' '}
        <span className="text-soft">{type === name ? '' : type}</span>
      </>
    ),
    sort: ({ name }) => name,
  },
  {
    id: 'state',
    header: 'State',
    width: '8rem',
    card: 'aside',
    cell: ({ state }) => <StatusBadge status={state} />,
    sort: ({ state }) => state,
  },
  {
    id: 'inFlight',
    header: 'In flight',
    width: '6rem',
    align: 'end',
    cell: ({ inFlight }) => <Count value={inFlight} />,
    sort: ({ inFlight }) => inFlight,
  },
  {
    id: 'waiting',
    header: 'Waiting',
    width: '6rem',
    align: 'end',
    cell: ({ waiting }) => <Count value={waiting} />,
    sort: ({ waiting }) => waiting,
  },
  {
    id: 'delivered',
    header: 'Delivered',
    width: '7rem',
    align: 'end',
    cell: ({ deliveredToday }) => <Count value={deliveredToday} />,
    sort: ({ deliveredToday }) => deliveredToday,
  },
  {
    id: 'failed',
    header: 'Failed',
    width: '6rem',
    align: 'end',
    cell: ({ failedToday }) => (
      <span className={failedToday > 0 ? 'text-failed' : undefined}>
        <Count value={failedToday} />
      </span>
    ),
    sort: ({ failedToday }) => failedToday,
  },
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
