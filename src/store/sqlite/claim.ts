import type { DeliveryState } from '../../domain/delivery.ts';
import { ranksOf } from '../columns.ts';
import type { ClaimAnswer, ClaimRequest, Stamp, Unit } from '../store.ts';
import type { Books } from './books.ts';
import type { Deliveries } from './deliveries.ts';
import type { Driver } from './driver.ts';
import { firstDueOf } from './due.ts';
import {
  UNIT_DELIVERY_COLUMNS,
  UNIT_HEAD_COLUMNS,
  type UnitDeliveryRow,
  type UnitHeadRow,
  unitDeliveryOf,
  unitHeadOf,
} from './units.ts';

/** Builds the verb `claim`. It reads the waiting index only, and stops at the limit however deep the queue is. */
export function claimVerb(books: Books, deliveries: Deliveries) {
  const sql = prepareClaim(books.db);
  const firstDue = firstDueOf(books.db);
  return (requests: readonly ClaimRequest[], at: Stamp): ClaimAnswer[] => {
    const answers = requests.map((request) => claimLane(request, at));
    books.ledger.flush(at);
    return answers;
  };

  function claimLane(request: ClaimRequest, at: Stamp): ClaimAnswer {
    if (!books.leases.holds(request, at)) return { units: [], nextDueAt: null };
    const units: Unit[] = [];
    for (const rank of ranksOf(request.order)) claimRank(request, rank, units, at);
    const nextDueAt = firstDue(request.lane);
    if (units.length > 0) books.depths.seen(request.lane, nextDueAt);
    return { units, nextDueAt };
  }

  function claimRank(request: ClaimRequest, rank: number, units: Unit[], at: Stamp): void {
    while (units.length < request.limit) {
      const room = request.limit - units.length;
      const heads = sql.heads.all(request.lane, rank, at.now, room);
      for (const [seq] of heads) {
        const unit = claimUnit(seq, request, at);
        if (unit !== null) units.push(unit);
      }
      if (heads.length < room) return;
    }
  }

  function claimUnit(seq: number, request: ClaimRequest, at: Stamp): Unit | null {
    const { lane, fence, maxRecipients } = request;
    const siblings = sql.siblings.all(seq, lane, at.now, maxRecipients);
    // An earlier head may have taken this one along.
    if (siblings.length === 0) return null;
    const message = books.ledger.openSeq(seq);
    const head = sql.message.get(seq);
    if (head === undefined) throw new Error(`message ${message.id} has deliveries but no row`);
    let relay = '';
    for (const [index, , , , , , , , , , state, ofSibling] of siblings) {
      deliveries.lease(message, index, state, lane, fence);
      relay = ofSibling;
    }
    return { ...unitHeadOf(head), lane, fence, relay, deliveries: siblings.map(unitDeliveryOf) };
  }
}

/** A waiting delivery of a unit; its state and relay come last. */
type SiblingRow = [...UnitDeliveryRow, state: DeliveryState, relay: string];

function prepareClaim(db: Driver) {
  return {
    heads: db.prepare<[lane: string, rank: number, now: number, limit: number], [seq: number]>(
      `SELECT message FROM deliveries INDEXED BY deliveries_waiting
       WHERE lane = (SELECT ?) AND priority = (SELECT ?) AND due_at <= (SELECT ?)
       ORDER BY due_at, message, idx LIMIT (SELECT ?)`,
    ),
    siblings: db.prepare<[seq: number, lane: string, now: number, limit: number], SiblingRow>(
      `SELECT ${UNIT_DELIVERY_COLUMNS}, state, relay FROM deliveries NOT INDEXED
       WHERE message = (SELECT ?) AND lane = (SELECT ?) AND due_at <= (SELECT ?)
       ORDER BY idx LIMIT (SELECT ?)`,
    ),
    message: db.prepare<[seq: number], UnitHeadRow>(
      `SELECT ${UNIT_HEAD_COLUMNS} FROM messages WHERE seq = ?`,
    ),
  };
}
