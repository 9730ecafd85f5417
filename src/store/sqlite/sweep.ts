import type { ExpiringDelivery, ExpiringMessage, Expiry, Stamp } from '../store.ts';
import type { Books } from './books.ts';
import {
  UNIT_DELIVERY_COLUMNS,
  UNIT_HEAD_COLUMNS,
  type UnitDeliveryRow,
  type UnitHeadRow,
  unitDeliveryOf,
  unitHeadOf,
} from './claim.ts';
import type { Deliveries, FoundDelivery } from './deliveries.ts';
import type { Driver } from './driver.ts';
import { Inserter } from './insert.ts';

/** Builds the verb `expiring`. */
export function expiringVerb(books: Books) {
  const sql = prepareExpiring(books.db);
  return (limit: number, at: Stamp): ExpiringMessage[] => {
    const messages: ExpiringMessage[] = [];
    let left = limit;
    for (const seq of new Set(sql.longestPast.all(at.now, limit).map(([message]) => message))) {
      if (left <= 0) break;
      const head = sql.message.get(seq);
      if (head === undefined) throw new Error(`no message has the number ${seq}`);
      const deliveries = sql.deliveries.all(seq, at.now).map(expiringDeliveryOf);
      messages.push({ ...unitHeadOf(head), deliveries });
      left -= deliveries.length;
    }
    return messages;
  };
}

/** Builds the verb `expire`. */
export function expireVerb(books: Books, deliveries: Deliveries) {
  const inserter = new Inserter(books);
  return (batch: readonly Expiry[], at: Stamp): boolean[] => {
    const answers = batch.map((expiry) => expireAll(expiry, at));
    books.ledger.flush(at);
    return answers;
  };

  function expireAll({ messageId, indexes, report }: Expiry, at: Stamp): boolean {
    const message = books.ledger.open(messageId);
    if (message === null || indexes.length === 0) return false;
    const found: FoundDelivery[] = [];
    for (const index of indexes) {
      const delivery = deliveries.find(message, index);
      const waits = delivery?.state === 'queued' || delivery?.state === 'retrying';
      if (!waits || delivery.expiresAt >= at.now) return false;
      found.push(delivery);
    }
    for (const delivery of found) deliveries.expire(delivery, at);
    inserter.insertReport(report, at);
    return true;
  }
}

/** A delivery past its expiry; what was last heard of it comes last. */
type ExpiringRow = [
  ...UnitDeliveryRow,
  lastCode: number | null,
  lastEnhanced: string | null,
  lastReply: string | null,
  relay: string | null,
];

function expiringDeliveryOf(row: ExpiringRow): ExpiringDelivery {
  const [, , , , , , , , , , lastCode, lastEnhanced, lastReply, relay] = row;
  return { ...unitDeliveryOf(row), lastCode, lastEnhanced, lastReply, relay };
}

function prepareExpiring(db: Driver) {
  return {
    longestPast: db.prepare<[now: number, limit: number], [seq: number]>(
      `SELECT message FROM deliveries INDEXED BY deliveries_expiring
       WHERE state IN ('queued', 'retrying') AND expires_at < (SELECT ?) ORDER BY expires_at, message, idx LIMIT (SELECT ?)`,
    ),
    message: db.prepare<[seq: number], UnitHeadRow>(
      `SELECT ${UNIT_HEAD_COLUMNS} FROM messages WHERE seq = ?`,
    ),
    deliveries: db.prepare<[seq: number, now: number], ExpiringRow>(
      `SELECT ${UNIT_DELIVERY_COLUMNS}, last_code, last_enhanced, last_reply, relay FROM deliveries NOT INDEXED
       WHERE message = ? AND state IN ('queued', 'retrying') AND expires_at < ? ORDER BY idx`,
    ),
  };
}
