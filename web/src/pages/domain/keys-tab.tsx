import type { ResultOf } from '../../../../src/operations/table.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Card } from '../../parts/card.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Time } from '../../parts/values.tsx';

type Key = ResultOf<'domain'>['keys'][number];

const STATES: Readonly<Record<Key['state'], readonly [Tone, string]>> = {
  waiting: ['warn', 'Waits for its record'],
  signing: ['good', 'Signs'],
  retired: ['neutral', 'Retired'],
};

const COLUMNS: readonly Column<Key>[] = [
  {
    id: 'selector',
    header: 'Selector',
    width: 'minmax(0, 1.4fr)',
    cell: ({ selector }) => <code className="font-mono text-sm break-all">{selector}</code>,
  },
  {
    id: 'state',
    header: 'State',
    card: 'aside',
    cell: ({ state, unreadable }) =>
      unreadable ? (
        <Badge tone="bad" dot>
          Unreadable
        </Badge>
      ) : (
        <Badge tone={STATES[state][0]} dot>
          {STATES[state][1]}
        </Badge>
      ),
  },
  {
    id: 'algorithm',
    header: 'Algorithm',
    cell: ({ algorithm }) => (algorithm === 'rsa-sha256' ? 'RSA' : 'Ed25519'),
  },
  { id: 'created', header: 'Made', width: '8rem', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    id: 'since',
    header: 'Signs since',
    width: '8rem',
    cell: ({ activeSince }) =>
      activeSince === null ? <span className="text-faint">–</span> : <Time at={activeSince} />,
  },
  {
    id: 'until',
    header: 'Record needed',
    width: '9rem',
    cell: ({ recordUntil }) =>
      recordUntil === null ? (
        'as long as it signs'
      ) : (
        <span title="Mail that it signed may still be under way">
          until <Time at={recordUntil} />
        </span>
      ),
  },
];

/** The keys of a domain: those that sign, that will, and that have. */
export function KeysTab({ keys }: { readonly keys: readonly Key[] }) {
  return (
    <Card flush>
      <DataTable label="DKIM keys" columns={COLUMNS} rows={keys} rowId={({ selector }) => selector} />
    </Card>
  );
}
