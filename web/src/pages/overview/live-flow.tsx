import { Link } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatCount, plural } from '../../format.ts';
import { classNames, FILLS } from '../../parts/class-names.ts';
import { FATES } from './flow.tsx';

/** What the live mode shows. */
export type LiveView = ResultOf<'live'>;

/** Messages a minute from which on the dots of a leg move, and move faster. */
const PACES = [
  { from: 600, class: 'flow-fast' },
  { from: 60, class: 'flow-brisk' },
  { from: 1, class: 'flow-slow' },
] as const;

/** How dots move where so many messages a minute pass; empty: they stand still. */
export function paceClass(perMinute: number): string {
  return PACES.find(({ from }) => perMinute >= from)?.class ?? '';
}

/** Mail on its way: accepted, waiting, delivered, with dots between them that move as much mail does. */
export function LiveFlow({ view: { pace, waiting, processing } }: { readonly view: LiveView }) {
  const ended = pace.delivered + pace.captured + pace.failed;
  return (
    <section
      aria-label="Mail on its way"
      className="grid grid-cols-[auto_minmax(1.5rem,1fr)_auto_minmax(1.5rem,1fr)_auto] items-center rounded-lg border border-line bg-surface px-3 py-4 md:px-6"
    >
      <Stop label="Accepted" value={pace.received} note="a minute" />
      <Leg perMinute={pace.received} />
      <Stop
        label={
          <Link to="/queue" className="hover:text-ink hover:underline">
            Waiting
          </Link>
        }
        value={waiting}
        note={processing === 0 ? 'none under way' : `${formatCount(processing)} under way`}
      />
      <Leg perMinute={ended} />
      <Stop label="Delivered" value={pace.delivered} note={<Ends pace={pace} />} />
    </section>
  );
}

function Stop({
  label,
  value,
  note,
}: {
  readonly label: ReactNode;
  readonly value: number;
  readonly note: ReactNode;
}) {
  return (
    <div className="min-w-0 text-center">
      <div className="caption">{label}</div>
      <div className="text-2xl font-semibold tracking-tight tabular-nums">{formatCount(value)}</div>
      <div className="mt-0.5 text-sm text-soft">{note}</div>
    </div>
  );
}

/** What became of them, where not all were delivered. */
function Ends({ pace }: Pick<LiveView, 'pace'>) {
  const others = FATES.filter(({ event }) => event !== 'delivered' && pace[event] > 0);
  return (
    <>
      a minute
      {others.map(({ event, label }) => (
        <span key={event} className="ml-2 inline-flex items-center gap-1 whitespace-nowrap">
          <span aria-hidden className={classNames('size-2 rounded-xs', FILLS[event])} />
          {formatCount(pace[event])} {label.toLowerCase()}
        </span>
      ))}
    </>
  );
}

/** One element that moves, however much mail passes. */
function Leg({ perMinute }: { readonly perMinute: number }) {
  const speed = paceClass(perMinute);
  return (
    <div
      role="img"
      aria-label={`${plural(perMinute, 'message')} a minute pass`}
      className={classNames('mx-2 flex items-center md:mx-5', speed === '' && 'opacity-40')}
    >
      <div className="flow-leg min-w-0 flex-1">
        <div className={classNames('flow-dots', speed)} />
      </div>
      <ChevronRight aria-hidden size={14} className="-ml-0.5 shrink-0 text-accent" />
    </div>
  );
}
