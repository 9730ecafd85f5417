import type { LaneLease } from '../../domain/lane.ts';
import { endCancelled } from '../../domain/settle.ts';
import type { Queries } from '../../postgres/database.ts';
import type { ExpiringDelivery, ExpiringMessage } from '../store.ts';
import {
  type Expiry,
  groupByAttempt,
  lostAttempt,
  type ReclaimAnswer,
  type ReclaimOptions,
  settleLost,
} from '../upkeep.ts';
import { attemptsOf, expireDelivery, giveBack, isWaiting, settleDelivery } from './changes.ts';
import { unitDeliveryOf, unitHeadOf } from './claim.ts';
import type { OpenDelivery } from './ledger.ts';
import { appendAttempt, recipientsOf, tellOwnBounces } from './settle.ts';
import {
  DELIVERIES,
  type DeliveryRow,
  MESSAGES,
  type MessageRow,
  OPEN_DELIVERY,
  OPEN_MESSAGE,
} from './tables.ts';
import type { Work } from './work.ts';

/** The verb `expiring`. It changes nothing, and locks nothing: `expire` checks again. */
export async function expiring(db: Queries, limit: number, now: number): Promise<ExpiringMessage[]> {
  const longest = await db.rows<{ message: string }>(LONGEST_PAST, [now, limit]);
  const ids = [...new Set(longest.map(({ message }) => message))];
  const heads = new Map((await db.rows<MessageRow>(HEADS, [ids])).map((row) => [row.id, row]));
  const rows = Map.groupBy(await db.rows<DeliveryRow>(PAST, [ids, now]), ({ message }) => message);
  const messages: ExpiringMessage[] = [];
  let left = limit;
  for (const id of ids) {
    const head = heads.get(id);
    if (left <= 0 || head === undefined) break;
    const deliveries = (rows.get(id) ?? []).map(expiringDeliveryOf);
    messages.push({ ...unitHeadOf(head, deliveries[0]?.index ?? 0), deliveries });
    left -= deliveries.length;
  }
  return messages;
}

function expiringDeliveryOf(row: DeliveryRow): ExpiringDelivery {
  const { lastCode, lastEnhanced, lastReply, relay } = row;
  return { ...unitDeliveryOf(row), lastCode, lastEnhanced, lastReply, relay };
}

/** The verb `expire`. */
export async function expire(work: Work, batch: readonly Expiry[]): Promise<boolean[]> {
  await work.ledger.open(batch.map(({ messageId }) => messageId));
  await work.ledger.load(batch);
  await work.list.look(batch.flatMap(({ report }) => recipientsOf(report)));
  const answers = batch.map((expiry) => {
    const found = expiredOf(work, expiry);
    if (found === null) return false;
    for (const delivery of found) expireDelivery(work, delivery);
    if (expiry.report !== null) work.desk.enterReport(expiry.report, work.at);
    return true;
  });
  const expired = batch.filter((_, place) => answers[place] === true);
  for (const { messageId, own } of expired) await tellOwnBounces(work, messageId, own);
  return answers;
}

/** The deliveries of an expiry; null if any of them does not wait, or is not past its expiry. */
function expiredOf({ ledger, at }: Work, { messageId, indexes }: Expiry): OpenDelivery[] | null {
  const found: OpenDelivery[] = [];
  for (const index of indexes) {
    const delivery = ledger.delivery(messageId, index);
    if (delivery === null || !isWaiting(delivery) || delivery.row.expiresAt >= at.now) return null;
    found.push(delivery);
  }
  return found.length === 0 ? null : found;
}

const WAITS = `state IN ('queued', 'retrying')`;
const LONGEST_PAST = `SELECT message FROM deliveries WHERE ${WAITS} AND expires_at < $1
  ORDER BY expires_at, message, index LIMIT $2`;
const HEADS = `SELECT ${MESSAGES.columns} FROM messages WHERE id = ANY($1::text[]) AND ${OPEN_MESSAGE}`;
// Selected by message first, apart from the other conditions: otherwise the planner may search the whole past for each.
const PAST = `WITH found AS MATERIALIZED (
    SELECT ${DELIVERIES.columns} FROM deliveries WHERE message = ANY($1::text[]) AND ${OPEN_DELIVERY})
  SELECT * FROM found WHERE ${WAITS} AND "expiresAt" < $2 ORDER BY message, index`;

/** The verb `reclaim`. */
export async function reclaim(work: Work, options: ReclaimOptions): Promise<ReclaimAnswer> {
  const { seize, longestLeaseMs, limit } = options;
  if (seize) await work.lanes.endAll();
  const leases = await endLost(work, limit + 1);
  const lost = await findLost(work, leases, limit + 1);
  const taken = lost.slice(0, limit);
  const found = await openAll(work, taken);
  let unknown = 0;
  for (const attempt of groupByAttempt(found, ({ row }) => row)) unknown += takeBack(work, attempt, options);
  // Last, as it locks lanes out of their order: whoever waits for other locks after it may wait in a circle.
  if (!seize && longestLeaseMs !== undefined) await work.lanes.shorten(work.at.now + longestLeaseMs);
  return { released: found.length - unknown, unknown, more: lost.length > taken.length };
}

/**
 * Leases under which deliveries were claimed and that are not live. They are ended for good: a holder may be alive but
 * late, and reclaimed deliveries must not return under its fence.
 */
async function endLost({ db, lanes, at }: Work, limit: number): Promise<LaneLease[]> {
  const suspects = await db.rows<LaneLease>(LOST_LEASES, [at.now, limit]);
  await lanes.lock(
    suspects.map(({ lane }) => lane),
    'UPDATE',
  );
  // It may have been extended before it was locked.
  const lost = suspects.filter((lease) => !lanes.isLive(lease, at.now));
  await lanes.end(lost);
  return lost;
}

interface Place {
  readonly messageId: string;
  readonly index: number;
  readonly lane: string;
  readonly fence: number;
}

function findLost({ db }: Work, leases: readonly LaneLease[], limit: number): Promise<Place[]> {
  const lanes = leases.map(({ lane }) => lane);
  const fences = leases.map(({ fence }) => fence);
  return db.rows<Place>(UNDER_LEASES, [lanes, fences, limit]);
}

/** Opens deliveries, in order, except those settled or reclaimed meanwhile. */
async function openAll({ ledger }: Work, places: readonly Place[]): Promise<OpenDelivery[]> {
  await ledger.open(places.map(({ messageId }) => messageId));
  await ledger.load(places.map(({ messageId, index }) => ({ messageId, indexes: [index] })));
  return places.flatMap(({ messageId, index, lane, fence }) => {
    const delivery = ledger.delivery(messageId, index);
    const isLeased =
      delivery?.row.state === 'processing' && delivery.row.lane === lane && delivery.row.fence === fence;
    return isLeased ? [delivery] : [];
  });
}

/** Takes back the deliveries of one attempt; returns how many recipients it may have been sent to. */
function takeBack(work: Work, attempt: readonly OpenDelivery[], options: ReclaimOptions): number {
  const [first] = attempt;
  if (first === undefined) return 0;
  const { begunAt, relay } = first.row;
  if (begunAt === null) {
    for (const delivery of attempt) giveBack(work, delivery, 'reclaim');
    return 0;
  }
  const indexes = attempt.map(({ row }) => row.index);
  let deferred = false;
  for (const delivery of attempt) {
    const { expiresAt, cancelRequested } = delivery.row;
    const planned = settleLost({ attempts: attemptsOf(delivery), expiresAt }, options, work.at.now);
    const transition = cancelRequested ? endCancelled(planned) : planned;
    deferred ||= transition.state === 'retrying';
    settleDelivery(work, delivery, transition, 'unknown', 'reclaim');
  }
  appendAttempt(work, first.message, lostAttempt(begunAt, relay, indexes), deferred);
  return attempt.length;
}

const LOST_LEASES = `SELECT DISTINCT lane, fence FROM deliveries
  WHERE state = 'processing' AND NOT EXISTS (
    SELECT 1 FROM lanes
    WHERE lanes.lane = deliveries.lane AND lanes.fence = deliveries.fence AND lease_until > $1)
  ORDER BY lane, fence LIMIT $2`;

const UNDER_LEASES = `SELECT message AS "messageId", index, lane, fence FROM deliveries
  JOIN unnest($1::text[], $2::bigint[]) AS lost (lane, fence) USING (lane, fence)
  WHERE state = 'processing' ORDER BY lane, fence, message, index LIMIT $3`;
