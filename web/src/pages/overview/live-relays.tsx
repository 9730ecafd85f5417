import { Link } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatCount } from '../../format.ts';
import { StatusBadge } from '../../parts/badge.tsx';
import { Sparkline } from '../../parts/sparkline.tsx';
import { EmptyState } from '../../parts/states.tsx';
import { SPANS_ROW } from '../../parts/table-row.tsx';

type Relay = ResultOf<'live'>['relays'][number];

/** What each relay did, minute by minute. */
export function LiveRelays({ relays }: { readonly relays: readonly Relay[] }) {
  if (relays.length === 0) return <EmptyState icon={Send} title="No relay yet" />;
  return (
    <ul data-list className="divide-y divide-line">
      {relays.map((relay) => (
        <Row key={relay.name} relay={relay} />
      ))}
    </ul>
  );
}

function Row({
  relay: { name, type, state, waiting, inFlight, delivered, failed },
}: {
  readonly relay: Relay;
}) {
  return (
    <li className="relative flex items-center gap-3 px-4 py-2 hover:bg-sunken/60">
      <div className="min-w-0 flex-1">
        <div className="flex min-w-0 items-center gap-2">
          <Link
            to="/relays/$name"
            params={{ name }}
            data-row=""
            className={`truncate font-medium ${SPANS_ROW}`}
          >
            {name}
          </Link>
          <StatusBadge status={state} />
        </div>
        <div className="truncate text-sm text-soft">
          {formatCount(waiting)} waiting, {formatCount(inFlight)} in flight
        </div>
      </div>
      <Minutes type={type} delivered={delivered} failed={failed} />
      <div className="min-w-14 text-right whitespace-nowrap">
        <div className="font-medium tabular-nums">{formatCount(lastWhole(delivered))}</div>
        <div className="text-xs text-soft">a minute</div>
      </div>
    </li>
  );
}

/** Of the last minute that is over, or the present one if more has happened in it already. */
function lastWhole(values: readonly number[]): number {
  return Math.max(values.at(-1) ?? 0, values.at(-2) ?? 0);
}

function Minutes({ type, delivered, failed }: Pick<Relay, 'type' | 'delivered' | 'failed'>) {
  const sum = (values: readonly number[]) => formatCount(values.reduce((all, one) => all + one, 0));
  const done = type === 'inbox' ? 'captured' : 'delivered';
  const failures = failed.some((count) => count > 0) ? [{ color: 'failed', values: failed } as const] : [];
  return (
    <Sparkline
      label={`${sum(delivered)} ${done} and ${sum(failed)} failed in ${delivered.length} minutes`}
      lines={[...failures, { color: done, values: delivered }]}
      className="h-7 w-20 shrink-0 2xl:w-30"
    />
  );
}
