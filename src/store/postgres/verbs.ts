import type { LaneLease } from '../../domain/lane.ts';
import type { Database } from '../../postgres/database.ts';
import type { Stamp, Store } from '../store.ts';
import { acceptCall, foresee } from './accept.ts';
import { cancel, requeue } from './acts.ts';
import { claim } from './claim.ts';
import type { TakesContents } from './contents.ts';
import { discard } from './discard.ts';
import { expire, expiring } from './expire.ts';
import { Gatherer } from './gatherer.ts';
import type { Partitions } from './partitions.ts';
import { purge, purgeFigures } from './purge.ts';
import { reassign } from './reassign.ts';
import { reclaim } from './reclaim.ts';
import { relocatable, relocate, segmentUse } from './relocate.ts';
import { beginCall, releaseCall, settleCall } from './settle.ts';
import { indexWords } from './words.ts';
import { Work } from './work.ts';

/** The store, and what only this one can do. */
export interface PostgresStore extends Store, TakesContents {}

/**
 * The store over a database. What comes message by message shares transactions with others; each of the other
 * verbs has one of its own.
 */
export function storeOver(
  database: Database,
  partitions: Partitions,
  close: () => Promise<void>,
): PostgresStore {
  const within = <T>(at: Stamp, verb: (work: Work) => Promise<T>): Promise<T> =>
    database.transact(async (db) => {
      const work = new Work(db, at);
      const answer = await verb(work);
      await work.write();
      return answer;
    });
  const gatherer = new Gatherer(database);
  // A slot of the next hop stands still until its attempt is marked as begun, which moves no figures: it waits for no one who does.
  const marks = new Gatherer(database);
  return {
    accept: (batch, at, limits) => gatherer.ask(acceptCall(batch, at, limits)),
    acceptWith: (contents, batch, at, limits) => gatherer.ask(acceptCall(batch, at, limits, contents)),
    foresee: (wishes, at, limits) => database.inSnapshot((db) => foresee(db, wishes, at.now, limits)),
    claim: (requests, at) => within(at, (work) => claim(work, requests)),
    begin: (units, at) => marks.ask(beginCall(units, at)),
    settle: (batch, at) => gatherer.ask(settleCall(batch, at)),
    release: (units, at) => gatherer.ask(releaseCall(units, at)),
    reclaim: (options, at) => within(at, (work) => reclaim(work, options)),
    expiring: (limit, at) => database.inSnapshot((db) => expiring(db, limit, at.now)),
    expire: (batch, at) => within(at, (work) => expire(work, batch)),
    cancel: (ids, at) => within(at, (work) => cancel(work, ids)),
    requeue: (requests, at) => within(at, (work) => requeue(work, requests)),
    reassign: (moves, at) => within(at, (work) => reassign(work, moves)),
    discard: (ids, at) => within(at, (work) => discard(work, ids)),
    purge: async (policy, limit, at) => {
      await partitions.prepare(at.now);
      const answer = await within(at, (work) => purge(work, policy, limit));
      const moreFigures = await within(at, (work) => purgeFigures(work, limit));
      const dropped = await partitions.dropOldest(at.now - policy.recordAgeMs, at.now);
      return {
        contents: answer.contents,
        records: answer.records + (dropped ?? 0),
        more: answer.more || moreFigures || dropped !== null,
      };
    },
    acquireLanes: (wanted, limit, leaseUntil, at, except = []) =>
      within(at, async ({ lanes }) =>
        lanes.grant([...wanted, ...(await lanes.due(limit, at.now, except))], leaseUntil, at),
      ),
    renewLanes: (leases, leaseUntil, at) => within(at, (work) => renew(work, leases, leaseUntil)),
    releaseLanes: (leases, at) => within(at, (work) => releaseAll(work, leases)),
    index: (limit) => database.transact((db) => indexWords(db, limit)),
    tally: (counts, at) =>
      within(at, async ({ tallies }) => {
        for (const { event, count } of counts) tallies.count(event, at, count);
      }),
    segmentUse: (segments) => segmentUse(database, segments),
    relocatable: (places) => relocatable(database, places),
    relocate: (batch, at) => within(at, (work) => relocate(work, batch)),
    // Our backups are of SQLite; PostgreSQL has its own.
    decideRestored: async () => ({ count: 0, lanes: [], more: false }),
    liveSegments: (segments) => liveSegments(database, segments),
    forgetSegments: async (segments) => {
      await database.transact((db) => db.run(FORGET_SEGMENTS, [segments]));
    },
    close: async () => {
      for (const one of [gatherer, marks]) one.close();
      await Promise.all([gatherer.idle(), marks.idle()]);
      await close();
    },
  };
}

async function lockLanes({ lanes }: Work, leases: readonly LaneLease[]): Promise<void> {
  await lanes.lock(
    leases.map(({ lane }) => lane),
    'UPDATE',
  );
}

/**
 * Extends leases, also those that have lapsed if nobody has taken the lane or its deliveries since: a clock that jumped
 * ends nothing.
 */
async function renew(work: Work, leases: readonly LaneLease[], leaseUntil: number): Promise<string[]> {
  await lockLanes(work, leases);
  const ours = Map.groupBy(leases, (lease) => work.lanes.isOf(lease, work.at.node));
  await work.lanes.extend(
    (ours.get(true) ?? []).map(({ lane }) => lane),
    leaseUntil,
  );
  return (ours.get(false) ?? []).map(({ lane }) => lane);
}

async function releaseAll(work: Work, leases: readonly LaneLease[]): Promise<void> {
  await lockLanes(work, leases);
  await work.lanes.end(leases.filter((lease) => work.lanes.isOf(lease, work.at.node)));
}

async function liveSegments(database: Database, segments: readonly number[]): Promise<Map<number, number>> {
  const rows = await database.rows<{ segment: number; live: number }>(LIVE_SEGMENTS, [segments]);
  const found = new Map(rows.map(({ segment, live }) => [segment, live]));
  return new Map(segments.map((segment) => [segment, found.get(segment) ?? 0]));
}

const LIVE_SEGMENTS = 'SELECT segment, live FROM segments WHERE segment = ANY($1::bigint[])';
const FORGET_SEGMENTS = `DELETE FROM segments WHERE live = 0 AND segment IN (
  SELECT segment FROM segments WHERE segment = ANY($1::bigint[]) ORDER BY segment FOR UPDATE)`;
