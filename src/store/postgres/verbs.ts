import type { LaneLease } from '../../domain/lane.ts';
import { idFloor, messageIdFloor } from '../../lib/id.ts';
import type { Database, Queries } from '../../postgres/database.ts';
import {
  type AcceptAnswer,
  type AcceptRecord,
  type AcceptWish,
  type Foresight,
  NO_LIMITS,
  type QueueLimits,
  type Refusal,
  refusalOfAll,
  wishOfRecord,
} from '../accepting.ts';
import type { InboxMark, Reassignment } from '../acting.ts';
import { fromGroup } from '../columns.ts';
import { BYTES_GAUGE } from '../counting.ts';
import { erase } from '../plain/erasing.ts';
import { forgetStoryLinks } from '../plain/sharing.ts';
import { forgetTold as forget, guard, retell, tell, tellRelays } from '../plain/telling.ts';
import { forgetLinks } from '../plain/unsubscribe-links.ts';
import { stopsOf } from '../stops.ts';
import type { Stamp, Store } from '../store.ts';
import type { ContentPlace, PurgeAnswer, PurgePolicy, Relocation, SegmentUse } from '../upkeep.ts';
import { cancel, requeue, reschedule } from './acting.ts';
import { isWaiting } from './changes.ts';
import { claim } from './claim.ts';
import { type Contents, type TakesContents, weightOf } from './contents.ts';
import { purgeEvents } from './events.ts';
import { Gatherer } from './gatherer.ts';
import type { Partitions } from './partitions.ts';
import { done } from './plain.ts';
import { purge, purgeFigures } from './purge.ts';
import { beginCall, recipientsOf, releaseCall, settleCall, settleWithOwn, suppress } from './settle.ts';
import { expire, expiring, reclaim } from './sweep.ts';
import type { MessageRow } from './tables.ts';
import { runMail } from './telling.ts';
import { indexWords } from './words.ts';
import { type BooksTerms, booksOver, type Call, Repeats, Room, Work } from './work.ts';

/** The store, with what only this one can do. */
export interface PostgresStore extends Store, TakesContents {}

/** Runs a verb in a transaction of its own. */
type Within = <T>(at: Stamp, verb: (work: Work) => Promise<T>) => Promise<T>;

/** The store over a database. Calls that come per message share transactions; every other verb has its own. */
export function storeOver(
  database: Database,
  partitions: Partitions,
  terms: BooksTerms,
  close: () => Promise<void>,
): PostgresStore {
  const within: Within = (at, verb) =>
    database.transact(async (db) => {
      const work = new Work(db, at, booksOver(db, terms));
      const answer = await verb(work);
      await work.write();
      return answer;
    });
  const gatherer = new Gatherer(database, terms);
  // Apart from the rest: a slot of the next hop idles until its attempt is marked as begun. That changes no figures, so
  // it need not wait for those who do.
  const marks = new Gatherer(database, terms);
  return {
    accept: (batch, at, limits, together) => gatherer.ask(acceptCall(batch, at, { limits, together })),
    acceptWith: (contents, batch, at, limits, together) =>
      gatherer.ask(acceptCall(batch, at, { limits, together, contents })),
    foresee: (wishes, at, limits) => database.inSnapshot((db) => foresee(db, wishes, at.now, limits)),
    claim: (requests, at) => within(at, (work) => claim(work, requests)),
    begin: (units, at) => marks.ask(beginCall(units, at)),
    settle: (batch, at) =>
      batch.some(({ own }) => own !== undefined)
        ? within(at, (work) => settleWithOwn(work, batch))
        : gatherer.ask(settleCall(batch, at)),
    release: (units, at) => gatherer.ask(releaseCall(units, at)),
    reclaim: (options, at) => within(at, (work) => reclaim(work, options)),
    expiring: (limit, at) => database.inSnapshot((db) => expiring(db, limit, at.now)),
    expire: (batch, at) => within(at, (work) => expire(work, batch)),
    suppress: (batch, at) => within(at, (work) => suppress(work, batch)),
    tell: (batch, rules, at) => within(at, (work) => runMail(tell(batch, rules, at.now), work)),
    erase: (request, at) => within(at, (work) => runMail(erase(request, at.now), work)),
    retell: (after, limit, rules, at) =>
      within(at, (work) => runMail(retell(after, limit, rules, at.now), work)),
    tellRelays: (news, at) => within(at, (work) => runMail(tellRelays(news), work)),
    guard: (domain, firstId, at) => within(at, (work) => runMail(guard(domain, firstId, at.now), work)),
    ...actsWithin(within),
    purge: (...args) => purgeAll(within, partitions, ...args),
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

/** What people and programs do to messages. */
function actsWithin(
  within: Within,
): Pick<Store, 'cancel' | 'requeue' | 'reschedule' | 'reassign' | 'discard' | 'mark'> {
  return {
    cancel: (ids, at) => within(at, (work) => cancel(work, ids)),
    requeue: (requests, at) => within(at, (work) => requeue(work, requests)),
    reschedule: (requests, at) => within(at, (work) => reschedule(work, requests)),
    reassign: (moves, at) => within(at, (work) => reassign(work, moves)),
    discard: (ids, at) => within(at, (work) => discard(work, ids)),
    mark: (marks, at) => within(at, (work) => mark(work, marks)),
  };
}

/** Removes what is remembered no longer of what was told, and what became of messages whose records are gone. */
async function forgetTold(
  db: Queries,
  { feedbackAgeMs, recordAgeMs }: PurgePolicy,
  limit: number,
  now: number,
): Promise<number> {
  const told = await done(forget(idFloor('fbk_', now - feedbackAgeMs), limit, now), db);
  return Math.max(told, await db.run(FORGET_AFTERMATH, [messageIdFloor(now - recordAgeMs), limit]));
}

// Records go by days, up to a day late: what is oldest is looked at, and stays while its record does.
const FORGET_AFTERMATH = `DELETE FROM aftermath WHERE (message, idx) IN (
    SELECT message, idx FROM aftermath WHERE message < $1 ORDER BY message, idx LIMIT $2)
  AND NOT EXISTS (SELECT 1 FROM messages WHERE id = aftermath.message)`;

/** The verb `purge`, in several transactions. */
async function purgeAll(
  within: Within,
  partitions: Partitions,
  policy: PurgePolicy,
  limit: number,
  at: Stamp,
): Promise<PurgeAnswer> {
  await partitions.prepare(at.now);
  const { contents, records, more } = await within(at, (work) => purge(work, policy, limit));
  const events = await within(at, ({ db }) => purgeEvents(db, at.now - policy.eventAgeMs, limit));
  const told = await within(at, ({ db }) => forgetTold(db, policy, limit, at.now));
  const links = await within(at, ({ db }) => done(forgetLinks(policy.maxUnsubscribeLinks, limit), db));
  const ended = await within(at, ({ db }) => done(forgetStoryLinks(at.now, limit), db));
  const moreFigures = await within(at, (work) => purgeFigures(work, limit));
  const dropped = await partitions.dropOldest(at.now - policy.recordAgeMs, at.now);
  return {
    contents,
    records: records + (dropped ?? 0),
    more: more || Math.max(events, told, links, ended) >= limit || moreFigures || dropped !== null,
  };
}

async function lockLanes({ lanes }: Work, leases: readonly LaneLease[]): Promise<void> {
  await lanes.lock(
    leases.map(({ lane }) => lane),
    'UPDATE',
  );
}

/** Extends leases, even lapsed ones if nobody has taken the lane or its deliveries since: a clock jump ends nothing. */
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

type KeptRow = Pick<MessageRow, 'id' | 'status' | 'segment' | 'length'>;

/** The verb `discard`. */
async function discard({ db, tallies }: Work, ids: readonly string[]): Promise<boolean[]> {
  const rows: KeptRow[] = await db.rows(LOCK, [ids]);
  for (const { segment, length, status } of rows) {
    if (segment === null || length === null) continue;
    tallies.segment(segment, -1, -length);
    tallies.gauge(BYTES_GAUGE.captured, -length);
    if (status === 'failed') tallies.gauge('failed_kept', -1);
  }
  const found = new Set(rows.map(({ id }) => id));
  await db.run(DROP, [[...found]]);
  return ids.map((id) => found.delete(id));
}

const LOCK = `SELECT id, status, segment, length FROM messages
  WHERE id = ANY($1::text[]) AND kept = 'captured' ORDER BY id FOR UPDATE`;
const DROP = `UPDATE messages SET kept = 'gone', segment = NULL, "offset" = NULL, length = NULL, copies = NULL
  WHERE id = ANY($1::text[]) AND kept = 'captured'`;

/** The verb `mark`. */
async function mark({ db }: Work, marks: readonly InboxMark[]): Promise<boolean[]> {
  const rows: KeptRow[] = await db.rows(LOCK, [marks.map(({ id }) => id)]);
  const found = new Set(rows.map(({ id }) => id));
  const merged = new Map<string, InboxMark>();
  for (const one of marks) if (found.has(one.id)) merged.set(one.id, { ...merged.get(one.id), ...one });
  const changes = [...merged.values()];
  await db.run(MARK, [
    changes.map(({ id }) => id),
    changes.map(({ read = null }) => read),
    changes.map(({ tags }) => (tags === undefined ? null : JSON.stringify(tags))),
  ]);
  return marks.map(({ id }) => found.has(id));
}

const MARK = `UPDATE messages
  SET inbox_read = coalesce(new.read, inbox_read), inbox_tags = coalesce(new.tags, inbox_tags)
  FROM unnest($1::text[], $2::boolean[], $3::text[]) AS new (id, read, tags)
  WHERE messages.id = new.id AND kept = 'captured'`;

/** The verb `reassign`. Another route changes no state, so no message changes. */
async function reassign(work: Work, moves: readonly Reassignment[]): Promise<boolean[]> {
  await work.ledger.open(moves.map(({ messageId }) => messageId));
  await work.ledger.load(moves.map(({ messageId, index }) => ({ messageId, indexes: [index] })));
  return moves.map((move) => reassignDelivery(work, move));
}

function reassignDelivery({ ledger, tallies }: Work, move: Reassignment): boolean {
  const { messageId, index, fromLane, to, rule, group } = move;
  const delivery = ledger.delivery(messageId, index);
  if (delivery === null || !isWaiting(delivery) || delivery.row.lane !== fromLane) return false;
  const { row } = delivery;
  // An id is the relay's that gave it.
  if (row.relay !== (to?.relay ?? null)) row.providerMessageId = null;
  row.lane = to?.lane ?? null;
  row.relay = to?.relay ?? null;
  row.routeRule = rule;
  row.routeGroup = fromGroup(group);
  tallies.lane(fromLane, -1, 0);
  tallies.lane(row.lane, 1, 0);
  ledger.touch(delivery);
  return true;
}

/** The verb `relocatable`. */
async function relocatable(database: Database, places: readonly ContentPlace[]): Promise<boolean[]> {
  const answers: boolean[] = [];
  for (const { messageId, content } of places) {
    const rows = await database.rows(FIND, [messageId, content.segment, content.offset, content.length]);
    answers.push(rows.length > 0);
  }
  return answers;
}

/** The verb `relocate`. Messages are locked in the order of their ids, as everywhere. */
async function relocate({ db, tallies }: Work, batch: readonly Relocation[]): Promise<boolean[]> {
  const moved = new Set<Relocation>();
  for (const relocation of [...batch].sort((a, b) => (a.messageId < b.messageId ? -1 : 1))) {
    const { messageId, content, to } = relocation;
    const place = [messageId, content.segment, content.offset, content.length];
    if ((await db.run(MOVE, [...place, to.segment, to.offset])) === 0) continue;
    tallies.segment(content.segment, -1, -content.length);
    tallies.segment(to.segment, 1, content.length);
    moved.add(relocation);
  }
  return batch.map((relocation) => moved.has(relocation));
}

/** The verb `segmentUse`. */
async function segmentUse(database: Database, segments: readonly number[]): Promise<Map<number, SegmentUse>> {
  const rows = await database.rows<SegmentUse & { readonly segment: number }>(USE, [segments]);
  const found = new Map(rows.map(({ segment, live, bytes }) => [segment, { live, bytes }]));
  return new Map(segments.map((segment) => [segment, found.get(segment) ?? { live: 0, bytes: 0 }]));
}

const IS_THERE = 'id = $1 AND segment = $2 AND "offset" = $3 AND length = $4 AND processing = 0';
const FIND = `SELECT 1 AS found FROM messages WHERE ${IS_THERE}`;
const MOVE = `UPDATE messages SET segment = $5, "offset" = $6 WHERE ${IS_THERE}`;
const USE = 'SELECT segment, live, bytes FROM segments WHERE segment = ANY($1::bigint[])';

/** How a call of the verb `accept` accepts. */
interface AcceptTerms {
  readonly limits: QueueLimits | undefined;
  readonly together: boolean | undefined;
  readonly contents?: Contents;
}

/** A call of the verb `accept`, with the contents of its records unless they are already written. */
function acceptCall(
  batch: readonly AcceptRecord[],
  at: Stamp,
  { limits, together = false, contents }: AcceptTerms,
): Call<AcceptAnswer[]> {
  const deliveries = batch.reduce((sum, record) => sum + record.deliveries.length, 0);
  return {
    at,
    contents,
    weight: deliveries + (contents === undefined ? 0 : weightOf(contents)),
    needs: {
      lanes: batch.flatMap(shortLanes),
      repeats: batch,
      room: limits === undefined ? null : batch.map(({ keyId }) => keyId),
      recipients: batch.flatMap((record) => (record.reportable ? [] : recipientsOf(record))),
    },
    decide: (work) => {
      const refusal = together ? refusedTogether(work, batch, limits ?? NO_LIMITS) : null;
      return batch.map((record) => refusal ?? acceptOne(work, record, limits));
    },
  };
}

function acceptOne(work: Work, record: AcceptRecord, limits: QueueLimits | undefined): AcceptAnswer {
  const { repeats, room, desk, at } = work;
  const wish = wishOfRecord(record);
  const refusal = repeats.refusalOf(wish, at.now) ?? (limits ? room.refusalOf(wish, limits) : null);
  if (refusal !== null) return refusal;
  repeats.remember(wish, record.id, at.now);
  room.take(wish);
  const { leased, stopped } = desk.enter(record, at);
  if (stopped.size === 0) return { kind: 'accepted', leased };
  return { kind: 'accepted', leased, suppressed: stopsOf(stopped) };
}

/** The verb `foresee`. It locks nothing: others may be faster, and `accept` decides. */
async function foresee(
  db: Queries,
  wishes: readonly AcceptWish[],
  now: number,
  limits: QueueLimits,
): Promise<Foresight[]> {
  const repeats = new Repeats(db);
  const room = new Room(db);
  await repeats.look(wishes);
  await room.look(wishes.map(({ keyId }) => keyId));
  return takeAll({ repeats, room }, wishes, now, limits);
}

/** Takes the room for each wish that fits. */
function takeAll(
  { repeats, room }: Pick<Work, 'repeats' | 'room'>,
  wishes: readonly AcceptWish[],
  now: number,
  limits: QueueLimits,
): Foresight[] {
  return wishes.map((wish): Foresight => {
    const answer =
      repeats.refusalOf(wish, now) ?? room.refusalOf(wish, limits) ?? ({ kind: 'fits' } as const);
    if (answer.kind === 'fits') room.take(wish);
    return { answer, ...room.left(wish.keyId, limits) };
  });
}

/** Why a batch is not accepted as a whole; null if it is. */
function refusedTogether(work: Work, batch: readonly AcceptRecord[], limits: QueueLimits): Refusal | null {
  const foresee = (wishes: readonly AcceptWish[]) => {
    const foresights = takeAll(work, wishes, work.at.now, limits);
    // It was a trial.
    for (const [place, wish] of wishes.entries())
      if (foresights[place]?.answer.kind === 'fits') work.room.giveBack(wish);
    return foresights;
  };
  return refusalOfAll(batch.map(wishOfRecord), foresee, limits);
}

function shortLanes({ deliveries }: AcceptRecord): string[] {
  return deliveries.flatMap(({ lane, fence }) => (lane !== null && fence !== null ? [lane] : []));
}
