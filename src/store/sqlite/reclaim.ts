import { endCancelled } from '../../domain/settle.ts';
import type { Stamp } from '../store.ts';
import type { ReclaimAnswer, ReclaimOptions } from '../upkeep.ts';
import { groupByAttempt, lostAttempt, settleLost } from '../upkeep.ts';
import type { Books } from './books.ts';
import type { Deliveries, FoundDelivery } from './deliveries.ts';
import type { Driver } from './driver.ts';
import type { AttemptLog } from './settle.ts';

/** Builds the verb `reclaim`. */
export function reclaimVerb(books: Books, deliveries: Deliveries, attempts: AttemptLog) {
  const sql = prepareReclaim(books.db);
  return (options: ReclaimOptions, at: Stamp): ReclaimAnswer => {
    if (options.seize) books.leases.endAll();
    const lost = findLost(options.limit + 1, at.now);
    const taken = lost.slice(0, options.limit);
    let unknown = 0;
    for (const attempt of groupByAttempt(taken, (delivery) => delivery))
      unknown += takeBack(attempt, options, at);
    books.ledger.flush(at);
    return { released: taken.length - unknown, unknown, more: lost.length > taken.length };
  };

  /** Leased deliveries whose lease is not live. Skips live leases whole, so the cost is that of what is lost. */
  function findLost(limit: number, now: number): FoundDelivery[] {
    const lost: FoundDelivery[] = [];
    let lease = sql.nextLease.get('', 0);
    while (lease !== undefined && lost.length < limit) {
      const [lane, fence] = lease;
      if (!books.leases.isLive({ lane, fence }, now)) {
        // Its holder may be alive and late: what is taken back now must not come under its fence again.
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

  /** Takes back what one attempt held; returns how many recipients it may have been sent to. */
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
