import type { Queries } from '../../postgres/database.ts';
import type { ExpiringDelivery, ExpiringMessage, Expiry } from '../store.ts';
import { expireDelivery, isWaiting } from './changes.ts';
import { unitDeliveryOf, unitHeadOf } from './claim.ts';
import type { OpenDelivery } from './ledger.ts';
import {
  DELIVERIES,
  type DeliveryRow,
  MESSAGES,
  type MessageRow,
  OPEN_DELIVERY,
  OPEN_MESSAGE,
} from './tables.ts';
import type { Work } from './work.ts';

/** The verb `expiring`. It changes nothing, so it locks nothing either: `expire` looks again. */
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
    messages.push({ ...unitHeadOf(head), deliveries });
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
  return batch.map((expiry) => {
    const found = expiredOf(work, expiry);
    if (found === null) return false;
    for (const delivery of found) expireDelivery(work, delivery);
    if (expiry.report !== null) work.desk.enterReport(expiry.report, work.at);
    return true;
  });
}

/** The deliveries of an expiry; null where any of them does not wait, or is not past its expiry. */
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
// By their messages, apart from what else is asked of them: else the planner may look for each in all that is past.
const PAST = `WITH found AS MATERIALIZED (
    SELECT ${DELIVERIES.columns} FROM deliveries WHERE message = ANY($1::text[]) AND ${OPEN_DELIVERY})
  SELECT * FROM found WHERE ${WAITS} AND "expiresAt" < $2 ORDER BY message, index`;
