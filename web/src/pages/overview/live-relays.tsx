import { Link } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatCount } from '../../format.ts';
import { StatusBadge } from '../../parts/badge.tsx';
import { EmptyState } from '../../parts/states.tsx';
import { SPANS_ROW } from '../../parts/table-row.tsx';

type Relay = ResultOf<'live'>['relays'][number];

const WIDTH = 120;
const HEIGHT = 28;

/** A line through values, the largest of which reaches the top of the picture; along its foot if all are 0. */
export function linePath(values: readonly number[], most: number): string {
  const step = values.length > 1 ? WIDTH / (values.length - 1) : 0;
  const points = values.map((value, place) => {
    const y = HEIGHT - 1 - (most === 0 ? 0 : (value / most) * (HEIGHT - 3));
    return `${round(place * step)} ${round(y)}`;
  });
  return points.length === 0 ? '' : `M${points.join('L')}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

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
      <Sparkline type={type} delivered={delivered} failed={failed} />
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

function Sparkline({ type, delivered, failed }: Pick<Relay, 'type' | 'delivered' | 'failed'>) {
  const most = Math.max(...delivered, ...failed);
  const sum = (values: readonly number[]) => formatCount(values.reduce((all, one) => all + one, 0));
  const done = type === 'inbox' ? 'captured' : 'delivered';
  return (
    <svg
      role="img"
      aria-label={`${sum(delivered)} ${done} and ${sum(failed)} failed in ${delivered.length} minutes`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      className="h-7 w-20 shrink-0 fill-none *:[vector-effect:non-scaling-stroke] 2xl:w-30"
      strokeWidth="1.5"
      strokeLinejoin="round"
    >
      {failed.some((count) => count > 0) && <path d={linePath(failed, most)} stroke="var(--chart-failed)" />}
      <path d={linePath(delivered, most)} stroke={`var(--chart-${done})`} />
    </svg>
  );
}
