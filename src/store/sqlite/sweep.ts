import { endCancelled } from '../../domain/settle.ts';
import type { ExpiringDelivery, ExpiringMessage, Stamp } from '../store.ts';
import {
  type Expiry,
  groupByAttempt,
  lostAttempt,
  type ReclaimAnswer,
  type ReclaimOptions,
  settleLost,
} from '../upkeep.ts';
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
import type { AttemptLog } from './settle.ts';
import type { MailTelling } from './telling.ts';

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
      messages.push({ ...unitHeadOf(head, deliveries[0]?.index ?? 0), deliveries });
      left -= deliveries.length;
    }
    return messages;
  };
}

/** Builds the verb `expire`. */
export function expireVerb(books: Books, deliveries: Deliveries, telling: MailTelling) {
  const inserter = new Inserter(books);
  return (batch: readonly Expiry[], at: Stamp): boolean[] => {
    const answers = batch.map((expiry) => expireAll(expiry, at));
    books.ledger.flush(at);
    return answers;
  };

  function expireAll({ messageId, indexes, report, own }: Expiry, at: Stamp): boolean {
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
    telling.own(messageId, own, at);
    return true;
  }
}

/** An expired delivery; its last reply comes last. */
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

/** Builds the verb `reclaim`. */
export function reclaimVerb(books: Books, deliveries: Deliveries, attempts: AttemptLog) {
  const sql = prepareReclaim(books.db);
  return (options: ReclaimOptions, at: Stamp): ReclaimAnswer => {
    if (options.seize) books.leases.endAll();
    else if (options.longestLeaseMs !== undefined) books.leases.shorten(at.now + options.longestLeaseMs);
    const lost = findLost(options.limit + 1, at.now);
    const taken = lost.slice(0, options.limit);
    let unknown = 0;
    for (const attempt of groupByAttempt(taken, (delivery) => delivery))
      unknown += takeBack(attempt, options, at);
    books.ledger.flush(at);
    return { released: taken.length - unknown, unknown, more: lost.length > taken.length };
  };

  /**
   * Leased deliveries whose lease is not live. Skips live leases as a whole, so the cost depends on the lost ones only.
   */
  function findLost(limit: number, now: number): FoundDelivery[] {
    const lost: FoundDelivery[] = [];
    let lease = sql.nextLease.get('', 0);
    while (lease !== undefined && lost.length < limit) {
      const [lane, fence] = lease;
      if (!books.leases.isLive({ lane, fence }, now)) {
        // Its holder may be alive but late: deliveries taken back now must not return under its fence.
        books.leases.void({ lane, fence });
        for (const [seq, index] of sql.underLease.all(lane, fence, limit - lost.length)) {
          const delivery = deliveries.find(books.ledger.openSeq(seq), index);
          if (delivery !== null) lost.push(delivery);
        }
      }
      lease = sql.nextLease.get(lane, fence);
    }
    return lost;
  }

  /** Takes back the deliveries of one attempt; returns how many recipients it may have been sent to. */
  function takeBack(attempt: readonly FoundDelivery[], options: ReclaimOptions, at: Stamp): number {
    const [first] = attempt;
    if (first === undefined) return 0;
    if (first.begunAt === null) {
      for (const delivery of attempt) deliveries.giveBack(delivery, 'reclaim', at);
      return 0;
    }
    let deferred = false;
    for (const delivery of attempt) {
      const planned = settleLost(delivery, options, at.now);
      const transition = delivery.cancelRequested ? endCancelled(planned) : planned;
      deferred ||= transition.state === 'retrying';
      deliveries.settle(delivery, transition, 'unknown', 'reclaim', at);
    }
    const indexes = attempt.map(({ index }) => index);
    attempts.append(first.message, lostAttempt(first.begunAt, first.relay, indexes), deferred, at);
    return attempt.length;
  }
}

function prepareReclaim(db: Driver) {
  return {
    nextLease: db.prepare<[lane: string, fence: number], [lane: string, fence: number]>(
      `SELECT lane, fence FROM deliveries INDEXED BY deliveries_leased
       WHERE state = 'processing' AND (lane, fence) > (?, ?) ORDER BY lane, fence LIMIT 1`,
    ),
    underLease: db.prepare<[lane: string, fence: number, limit: number], [seq: number, index: number]>(
      `SELECT message, idx FROM deliveries INDEXED BY deliveries_leased
       WHERE state = 'processing' AND lane = ? AND fence = ? ORDER BY message, idx LIMIT ?`,
    ),
  };
}
