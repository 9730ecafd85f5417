import type { Random } from '../../src/lib/random.ts';
import { type Store, StoreError } from '../../src/store/store.ts';
import type { Watch } from './invariants.ts';
import type { Ledger } from './ledger.ts';
import type { Limits } from './limits.ts';
import type { Seen } from './seen.ts';
import type { NodeLife, VirtualTime } from './virtual-clock.ts';

/** How ill the store is: chances in [0, 1] for every call. */
export interface StoreFaults {
  /** Fails, and nothing happened. */
  failBefore: number;
  /** Happens, and the caller is told that it failed. */
  failAfter: number;
  /** No room: what writes more than an end is refused, and nothing happens. */
  isFull: boolean;
  /** Nobody can reach it. */
  isAway: boolean;
}

/** What a node's store is made of. */
export interface FaultyStoreParts {
  readonly inner: Store;
  readonly life: NodeLife;
  readonly time: VirtualTime;
  readonly dice: Random;
  readonly faults: StoreFaults;
  readonly watch: Watch;
  readonly ledger: Ledger;
  readonly limits: Limits;
  readonly seen: Seen;
}

/** So many calls, and so many answers, take time. */
const SLOW_SHARE = 0.4;
const MAX_CALL_MS = 5;
/** It is noticed after so long, in ms, that the store cannot be reached. */
const NOTICED_MS = 10_000;

/**
 * The real store as one node sees it: every call takes virtual time, may fail before or after its commit, and
 * never returns to a node that has died meanwhile. After each commit the watch looks at what was touched.
 */
export function faultyStore(parts: FaultyStoreParts): Store {
  const { inner, life, time, watch, ledger, limits: counted, seen } = parts;
  const call = callOver(parts);
  const none = (): readonly string[] => [];
  const everythingIf = (changed: boolean) => (changed ? watch.unfinished() : none());

  return {
    accept: (batch, at, limits, together) =>
      call(
        'accept',
        async () => {
          const answers = await inner.accept(batch, at, limits, together);
          const stored = batch.filter((_, place) => answers[place]?.kind === 'accepted');
          for (const record of stored) watch.stored(record);
          return answers;
        },
        (answers) => batch.flatMap(({ id }, place) => (answers[place]?.kind === 'accepted' ? id : [])),
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
          const begun = units.filter((_, place) => granted[place] === 'begun');
          watch.began(begun, at.now, time.now);
          for (const unit of begun) counted.begun(unit);
          return granted;
        },
        none,
      ),
    settle: (batch, at) =>
      call(
        'settle',
        async () => {
          const answers = await inner.settle(batch, at);
          for (const [place, { unit, transitions, report }] of batch.entries()) {
            if (answers[place]?.kind !== 'settled') {
              seen.note('lease lost mid-send');
              continue;
            }
            watch.settled(unit, transitions, life);
            counted.settled(unit, transitions);
            if (report !== null) watch.stored(report);
          }
          return answers;
        },
        () => batch.flatMap(({ unit, report }) => [unit.messageId, ...(report === null ? [] : [report.id])]),
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
        async () => {
          const answers = await inner.expire(batch, at);
          for (const [place, { report }] of batch.entries())
            if (answers[place] === true && report !== null) watch.stored(report);
          return answers;
        },
        () => batch.flatMap(({ messageId, report }) => [messageId, ...(report === null ? [] : [report.id])]),
      ),
    suppress: (batch, at) =>
      call(
        'suppress',
        async () => {
          const answers = await inner.suppress(batch, at);
          for (const [place, { report }] of batch.entries())
            if (answers[place]?.kind === 'settled' && report !== null) watch.stored(report);
          return answers;
        },
        () => batch.flatMap(({ unit, report }) => [unit.messageId, ...(report === null ? [] : [report.id])]),
      ),
    tell: (batch, rules, at) =>
      call(
        'tell',
        () => inner.tell(batch, rules, at),
        (answers) => answers.flatMap(({ results }) => results.flatMap(({ messageId }) => messageId ?? [])),
      ),
    retell: (after, limit, rules, at) =>
      call(
        'retell',
        () => inner.retell(after, limit, rules, at),
        ({ results }) => results.flatMap(({ messageId }) => messageId ?? []),
      ),
    tellRelays: (news, at) => call('tellRelays', () => inner.tellRelays(news, at), none),
    guard: (domain, firstId, at) => call('guard', () => inner.guard(domain, firstId, at), none),
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
    reschedule: (requests, at) =>
      call(
        'reschedule',
        () => inner.reschedule(requests, at),
        () => requests.map(({ id }) => id),
      ),
    reassign: (moves, at) => call('reassign', () => inner.reassign(moves, at), none),
    acquireLanes: (wanted, limit, until, at, except) => {
      ledger.leased(life, until);
      return call(
        'acquireLanes',
        async () => {
          const leases = await inner.acquireLanes(wanted, limit, until, at, except);
          for (const { lane, fence } of leases) watch.granted(lane, fence);
          return leases;
        },
        none,
      );
    },
    renewLanes: (leases, until, at) => {
      ledger.leased(life, until);
      return call('renewLanes', () => inner.renewLanes(leases, until, at), none);
    },
    releaseLanes: (leases, at) => call('releaseLanes', () => inner.releaseLanes(leases, at), none),
    purge: (policy, limit, at) => call('purge', () => inner.purge(policy, limit, at), none),
    erase: (request, at) =>
      call(
        'erase',
        () => inner.erase(request, at),
        () => watch.idsTo(request.person.address),
      ),
    discard: (ids, at) => call('discard', () => inner.discard(ids, at), none),
    mark: (marks, at) => call('mark', () => inner.mark(marks, at), none),
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

type Call = <T>(verb: string, work: () => Promise<T>, touched: (answer: T) => Iterable<string>) => Promise<T>;

function callOver({ life, time, dice, faults, watch, seen }: FaultyStoreParts): Call {
  const pass = async () => {
    if (dice.next() < SLOW_SHARE) await time.sleep(dice.next() * MAX_CALL_MS);
    await life.running();
  };
  const away = async () => {
    if (!life.isCutOff && !faults.isAway) return;
    await time.sleep(NOTICED_MS);
    await life.running();
    seen.note(faults.isAway ? 'all nodes cut off from their store' : 'node cut off from its store');
    throw new StoreError('store_unavailable', 'simulated: it cannot be reached');
  };
  return async (verb, work, touched) => {
    await pass();
    await away();
    if (faults.isFull && NEEDS_ROOM.has(verb)) {
      seen.note('store full');
      throw new StoreError('store_full', 'simulated: no room');
    }
    if (dice.next() < faults.failBefore) {
      seen.note('store failed before its commit');
      throw new StoreError('store_unavailable', 'simulated: before');
    }
    const answer = await time.outside(async () => {
      const done = await work();
      await watch.look(verb, touched(done), time.now);
      return done;
    });
    await pass();
    await away();
    if (dice.next() < faults.failAfter) {
      seen.note('store failed after its commit');
      throw new StoreError('store_unavailable', 'simulated: after');
    }
    return answer;
  };
}

/** Without room nothing is written; what is only read, or lets go, goes on. */
const NEEDS_ROOM: ReadonlySet<string> = new Set([
  'accept',
  'claim',
  'begin',
  'settle',
  'release',
  'reclaim',
  'expire',
  'cancel',
  'requeue',
  'reschedule',
  'reassign',
  'acquireLanes',
  'renewLanes',
  'index',
  'suppress',
  'tell',
  'retell',
  'guard',
  'erase',
]);
