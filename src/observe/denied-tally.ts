import type { Clock } from '../lib/clock.ts';
import { NewestMap } from '../lib/newest-map.ts';
import type { Events, Unsubscribe } from './events.ts';

/** How often a source was refused for a reason, on this node since it started. */
export interface DeniedTally {
  readonly sourceAddress: string;
  /** The code of the refusal. */
  readonly reason: string;
  /** Whose list of allowed sources it was not on; null where that was not why, or SMTP. */
  readonly port: 'api' | 'webui' | null;
  readonly count: number;
  /** Wall ms. */
  readonly firstAt: number;
  readonly lastAt: number;
}

/** Sources and reasons remembered; the one that was refused longest ago makes room. */
export const MAX_DENIED = 500;

/** Remembers who was refused. */
export interface DeniedSources {
  /** Those refused last come first. */
  list(): readonly DeniedTally[];
  /** Takes one refusal of a source for a reason back: it was a test of our own. */
  takeBack(sourceAddress: string, reason: string): void;
  readonly stop: Unsubscribe;
}

/** Begins to remember who is refused. */
export function rememberDenied(events: Events, clock: Pick<Clock, 'wall'>): DeniedSources {
  /** By reason and source; the one refused longest ago first. */
  const tallies = new NewestMap<string, Omit<DeniedTally, 'count'> & { count: number }>(MAX_DENIED);
  const stop = events.on((event) => {
    if (event.type !== 'denied' || event.sourceAddress === null) return;
    const { reason, sourceAddress, port = null, count } = event;
    const name = nameOf(reason, port, sourceAddress);
    const now = clock.wall();
    const known = tallies.get(name);
    tallies.set(name, {
      ...{ sourceAddress, reason, port, lastAt: now },
      count: (known?.count ?? 0) + count,
      firstAt: known?.firstAt ?? now,
    });
  });
  const takeBack = (sourceAddress: string, reason: string) => {
    const name = nameOf(reason, null, sourceAddress);
    const known = tallies.get(name);
    if (known === undefined) return;
    // Set again, it would be the newest.
    if (known.count > 1) known.count--;
    else tallies.delete(name);
  };
  return { list: () => [...tallies.values()].map((tally) => ({ ...tally })).reverse(), takeBack, stop };
}

function nameOf(reason: string, port: DeniedTally['port'], sourceAddress: string): string {
  return `${reason} ${port} ${sourceAddress}`;
}
