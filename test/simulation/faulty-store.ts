import type { Random } from '../../src/lib/random.ts';
import { type Store, StoreError } from '../../src/store/store.ts';
import type { Watch } from './invariants.ts';
import type { NodeLife, VirtualTime } from './virtual-clock.ts';

/** How ill the store is: chances in [0, 1] for every call. */
export interface StoreFaults {
  /** Fails, and nothing happened. */
  failBefore: number;
  /** Happens, and the caller is told that it failed. */
  failAfter: number;
}

const MAX_CALL_MS = 5;

/**
 * The real store as one node sees it: every call takes virtual time, may fail before or after its commit, and
 * never returns to a node that has died meanwhile. After each commit the watch looks at what was touched.
 */
export function faultyStore(
  inner: Store,
  life: NodeLife,
  time: VirtualTime,
  dice: Random,
  faults: StoreFaults,
  watch: Watch,
): Store {
  async function call<T>(
    verb: string,
    work: () => Promise<T>,
    touched: (answer: T) => Iterable<string>,
  ): Promise<T> {
    await time.sleep(dice.next() * MAX_CALL_MS);
    await life.running();
    if (dice.next() < faults.failBefore) throw new StoreError('store_unavailable', 'simulated: before');
    const answer = await time.outside(async () => {
      const done = await work();
      await watch.look(verb, touched(done), time.now);
      return done;
    });
    await time.sleep(dice.next() * MAX_CALL_MS);
    await life.running();
    if (dice.next() < faults.failAfter) throw new StoreError('store_unavailable', 'simulated: after');
    return answer;
  }
  const none = (): readonly string[] => [];
  const everythingIf = (changed: boolean) => (changed ? watch.unfinished() : none());

  return {
    accept: (batch, at, limits) =>
      call(
        'accept',
        () => {
          for (const { id, header, deliveries } of batch)
            watch.expectMessage(id, header.subject, deliveries.length);
          return inner.accept(batch, at, limits);
        },
        () => batch.map(({ id }) => id),
      ),
    foresee: (wishes, at, limits) => call('foresee', () => inner.foresee(wishes, at, limits), none),
    claim: (requests, at) =>
      call(
        'claim',
        () => inner.claim(requests, at),
        (answers) => answers.flatMap(({ units }) => units.map(({ messageId }) => messageId)),
      ),
    begin: (units, at) =>
      call(
        'begin',
        async () => {
          const granted = await inner.begin(units, at);
          watch.began(units.filter((_, place) => granted[place] === 'begun'));
          return granted;
        },
        none,
      ),
    settle: (batch, at) =>
      call(
        'settle',
        () => inner.settle(batch, at),
        () => batch.map(({ unit }) => unit.messageId),
      ),
    release: (units, at) =>
      call(
        'release',
        () => inner.release(units, at),
        () => units.map(({ messageId }) => messageId),
      ),
    reclaim: (options, at) =>
      call(
        'reclaim',
        () => inner.reclaim(options, at),
        ({ released, unknown }) => everythingIf(released + unknown > 0),
      ),
    expiring: (limit, at) => call('expiring', () => inner.expiring(limit, at), none),
    expire: (batch, at) =>
      call(
        'expire',
        () => inner.expire(batch, at),
        () => batch.map(({ messageId }) => messageId),
      ),
    cancel: (ids, at) =>
      call(
        'cancel',
        () => inner.cancel(ids, at),
        () => ids,
      ),
    requeue: (requests, at) =>
      call(
        'requeue',
        () => inner.requeue(requests, at),
        () => requests.map(({ id }) => id),
      ),
    reassign: (moves, at) => call('reassign', () => inner.reassign(moves, at), none),
    acquireLanes: (wanted, limit, until, at, except) =>
      call(
        'acquireLanes',
        async () => {
          const leases = await inner.acquireLanes(wanted, limit, until, at, except);
          for (const { lane, fence } of leases) watch.granted(lane, fence);
          return leases;
        },
        none,
      ),
    renewLanes: (leases, until, at) => call('renewLanes', () => inner.renewLanes(leases, until, at), none),
    releaseLanes: (leases, at) => call('releaseLanes', () => inner.releaseLanes(leases, at), none),
    purge: (policy, limit, at) => call('purge', () => inner.purge(policy, limit, at), none),
    discard: (ids, at) => call('discard', () => inner.discard(ids, at), none),
    index: (limit) => call('index', () => inner.index(limit), none),
    liveSegments: (segments) => call('liveSegments', () => inner.liveSegments(segments), none),
    segmentUse: (segments) => call('segmentUse', () => inner.segmentUse(segments), none),
    relocatable: (places) => call('relocatable', () => inner.relocatable(places), none),
    relocate: (batch, at) =>
      call(
        'relocate',
        () => inner.relocate(batch, at),
        () => batch.map(({ messageId }) => messageId),
      ),
    decideRestored: (act, expiresAt, limit, at) =>
      call('decideRestored', () => inner.decideRestored(act, expiresAt, limit, at), none),
    forgetSegments: (segments) => call('forgetSegments', () => inner.forgetSegments(segments), none),
    tally: (counts, at) => call('tally', () => inner.tally(counts, at), none),
    close: async () => {},
  };
}
