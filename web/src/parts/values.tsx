import { useState, useSyncExternalStore } from 'react';
import {
  formatAhead,
  formatBytes,
  formatCount,
  formatDuration,
  formatMoment,
  formatRelative,
} from '../format.ts';
import { classNames } from './class-names.ts';

/** All relative times change together, on one timer. */
const TICK_MS = 5_000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The time now, in milliseconds; what uses it is drawn again every few seconds. */
export function useNow(): number {
  const [mountedAt] = useState(() => Date.now());
  const ticked = useSyncExternalStore(subscribe, () => now);
  return Math.max(ticked, mountedAt);
}

/** A moment, as far from now; exactly, in UTC, as its title. `exact` shows both; `ahead` is for what is yet to come. */
export function Time({
  at,
  exact = false,
  ahead = false,
}: {
  readonly at: string | number;
  readonly exact?: boolean;
  readonly ahead?: boolean;
}) {
  const current = useNow();
  const time = typeof at === 'number' ? at : Date.parse(at);
  const moment = formatMoment(time);
  const relative = (ahead ? formatAhead : formatRelative)(time, current);
  return (
    <time dateTime={Number.isNaN(time) ? undefined : new Date(time).toISOString()} title={moment}>
      {exact ? (
        <>
          {moment} <span className="text-soft">({relative})</span>
        </>
      ) : (
        <span className="whitespace-nowrap">{relative}</span>
      )}
    </time>
  );
}

/** A size. */
export function Bytes({ bytes }: { readonly bytes: number }) {
  return (
    <span className="whitespace-nowrap" title={`${formatCount(bytes)} bytes`}>
      {formatBytes(bytes)}
    </span>
  );
}

/** A length of time. */
export function Duration({ ms }: { readonly ms: number }) {
  return (
    <span className="whitespace-nowrap" title={`${formatCount(ms)} ms`}>
      {formatDuration(ms)}
    </span>
  );
}

/** When something is to happen; what should have begun already is due. */
export function DueAt({ at }: { readonly at: string }) {
  const now = useNow();
  return Date.parse(at) > now ? <Time at={at} ahead /> : <span title={at}>due</span>;
}

/** A line of what was taken away, or added. */
export function DiffLine({ kind, text }: { readonly kind: 'removed' | 'added'; readonly text: string }) {
  const isAdded = kind === 'added';
  return (
    <div
      className={classNames(
        'flex gap-2 px-3 py-1 font-mono text-sm',
        isAdded ? 'bg-delivered-soft text-delivered' : 'bg-failed-soft text-failed',
      )}
    >
      <span aria-hidden className="select-none">
        {isAdded ? '+' : '−'}
      </span>
      <span className="sr-only">{kind}: </span>
      <span className="min-w-0 break-all whitespace-pre-wrap">{text}</span>
    </div>
  );
}
