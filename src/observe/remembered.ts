import { relayOfLane } from '../domain/lane.ts';
import { shortReply } from '../domain/outcome.ts';
import type { Clock } from '../lib/clock.ts';
import { NewestMap } from '../lib/newest-map.ts';
import type { Store } from '../store/store.ts';
import { type Counting, type CountingOptions, countEvents } from './counting.ts';
import type { Event, Events, Unsubscribe } from './events.ts';

/** How often a source was refused for a reason, with the same key, on this node since it started. */
export interface DeniedTally {
  readonly sourceAddress: string;
  /** The code of the refusal. */
  readonly reason: string;
  /** The list of allowed sources that lacks it; null for another reason, or SMTP. */
  readonly port: 'api' | 'hooks' | 'webui' | null;
  /** The key it came with, or the named source that it is; null: none that is known. */
  readonly keyId: string | null;
  readonly count: number;
  /** Wall ms. */
  readonly firstAt: number;
  readonly lastAt: number;
}

/** Sources, reasons and keys remembered; the one refused longest ago makes room. */
export const MAX_DENIED = 500;

/** Remembers refused sources. */
export interface DeniedSources {
  /** The most recently refused first. */
  list(): readonly DeniedTally[];
  /** Undoes one counted refusal of a source without a key for a reason: it was our own test. */
  takeBack(sourceAddress: string, reason: string): void;
  readonly stop: Unsubscribe;
}

/** Begins to remember refused sources. */
export function rememberDenied(events: Events, clock: Pick<Clock, 'wall'>): DeniedSources {
  /** By reason, source and key; the one refused longest ago first. */
  const tallies = new NewestMap<string, Omit<DeniedTally, 'count'> & { count: number }>(MAX_DENIED);
  const stop = events.on((event) => {
    if (event.type !== 'denied' || event.sourceAddress === null) return;
    const { reason, sourceAddress, port = null, keyId = null, count } = event;
    const name = nameOf(reason, port, sourceAddress, keyId);
    const now = clock.wall();
    const known = tallies.get(name);
    tallies.set(name, {
      sourceAddress,
      reason,
      port,
      keyId,
      lastAt: now,
      count: (known?.count ?? 0) + count,
      firstAt: known?.firstAt ?? now,
    });
  });
  const takeBack = (sourceAddress: string, reason: string) => {
    const name = nameOf(reason, null, sourceAddress, null);
    const known = tallies.get(name);
    if (known === undefined) return;
    // Setting it again would make it the newest.
    if (known.count > 1) known.count--;
    else tallies.delete(name);
  };
  return { list: () => [...tallies.values()].map((tally) => ({ ...tally })).reverse(), takeBack, stop };
}

function nameOf(
  reason: string,
  port: DeniedTally['port'],
  sourceAddress: string,
  keyId: string | null,
): string {
  return `${reason} ${port} ${sourceAddress} ${keyId}`;
}

/** What counting refusals needs. */
export interface DenialOptions extends CountingOptions {
  readonly store: Pick<Store, 'tally'>;
  /** The node that counts. */
  readonly node: string;
}

/** Begins to count refusals, and adds them to the store's figures. Counts that cannot be stored are kept and retried. */
export function tallyDenials(options: DenialOptions): Counting {
  const { store, node, clock } = options;
  let pending = 0;
  const note = (event: Event) => {
    if (event.type === 'denied') pending += event.count;
  };
  const write = async () => {
    const count = pending;
    if (count === 0) return;
    pending = 0;
    try {
      await store.tally([{ event: 'denied', count }], { node, now: clock.wall() });
    } catch (error) {
      pending += count;
      throw error;
    }
  };
  const { log } = options;
  const tellFailure = (message: string) => log.debug('denials.not_tallied', { message });
  return countEvents({ note, write, tellFailure }, options);
}

/** A lane began to rest, or its next hop works again. */
export interface LaneHappening {
  /** Wall ms. */
  readonly at: number;
  readonly lane: string;
  readonly kind: 'rested' | 'recovered';
  /** How long it rests, in ms, and why; null for a recovery. */
  readonly pauseMs: number | null;
  readonly cause: string | null;
}

/** Happenings remembered of one relay; the oldest go first. */
export const MAX_HAPPENINGS = 50;
/** Relays remembered; the longest quiet one makes room. */
const MAX_RELAYS = 1000;
/** Characters of a cause: a peer may have written it. */
const MAX_CAUSE = 500;

/** Remembers the state changes of relays' next hops, on this node since its start. */
export interface RelayHistory {
  /** Of one relay, the newest first. */
  of(relay: string): readonly LaneHappening[];
  /** Of all relays together, the newest first; as many as are remembered of one. */
  newest(): readonly LaneHappening[];
  readonly stop: Unsubscribe;
}

/** Begins to remember. */
export function rememberRelays(events: Events, clock: Pick<Clock, 'wall'>): RelayHistory {
  const byRelay = new NewestMap<string, readonly LaneHappening[]>(MAX_RELAYS);
  let newest: readonly LaneHappening[] = [];
  const add = (happening: LaneHappening) => {
    newest = [happening, ...newest].slice(0, MAX_HAPPENINGS);
    const relay = relayOfLane(happening.lane);
    const before = byRelay.get(relay) ?? [];
    byRelay.set(relay, [happening, ...before].slice(0, MAX_HAPPENINGS));
  };
  const stop = events.on((event) => {
    if (event.type === 'lane_paused') {
      const at = clock.wall();
      const { lane, pauseMs } = event;
      const cause = shortReply(event.reply);
      add({ at, lane, kind: 'rested', pauseMs, cause: cause.slice(0, MAX_CAUSE) });
    } else if (event.type === 'lane_resumed')
      add({ at: clock.wall(), lane: event.lane, kind: 'recovered', pauseMs: null, cause: null });
  });
  return { of: (relay) => byRelay.get(relay) ?? [], newest: () => newest, stop };
}
