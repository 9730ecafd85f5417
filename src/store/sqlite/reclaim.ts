import { type Attempt, NO_EVIDENCE } from '../../domain/attempt.ts';
import { localReply, type Outcome } from '../../domain/outcome.ts';
import { endCancelled, settle, type Transition } from '../../domain/settle.ts';
import type { Stamp } from '../store.ts';
import type { ReclaimAnswer, ReclaimOptions } from '../upkeep.ts';
import type { AttemptLog } from './attempts.ts';
import type { Books } from './books.ts';
import type { Deliveries, FoundDelivery } from './deliveries.ts';
import type { Driver } from './driver.ts';

const UNKNOWN: Outcome = {
  kind: 'unknown',
  reply: localReply('lease_lost', '4.4.2', 'the server stopped while the attempt was under way'),
};

/** Builds the verb `reclaim`. */
export function reclaimVerb(books: Books, deliveries: Deliveries, attempts: AttemptLog) {
  const sql = prepareReclaim(books.db);
  return (options: ReclaimOptions, at: Stamp): ReclaimAnswer => {
    if (options.seize) books.leases.endAll();
    const lost = findLost(options.limit + 1, at.now);
    const taken = lost.slice(0, options.limit);
    let unknown = 0;
    for (const attempt of groupByAttempt(taken)) unknown += takeBack(attempt, options, at);
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
      const planned = waitIfExpired(settle(delivery, UNKNOWN, options.policy, at.now, options.dice), at);
      const transition = delivery.cancelRequested ? endCancelled(planned) : planned;
      deferred ||= transition.state === 'retrying';
      deliveries.settle(delivery, transition, 'unknown', 'reclaim', at);
    }
    attempts.append(first.message, lostAttempt(attempt, first), deferred, at);
    return attempt.length;
  }
}

/** What has reached its expiry waits, due at once: `expire` ends it, with the report that nobody has written yet. */
function waitIfExpired(transition: Transition, at: Stamp): Transition {
  if (transition.outcome !== 'expired') return transition;
  return { ...transition, state: 'retrying', outcome: null, nextAttemptAt: at.now };
}

/** Deliveries of one message, lane and fence, begun at one time, were in one attempt. They come in this order. */
function groupByAttempt(deliveries: readonly FoundDelivery[]): FoundDelivery[][] {
  const groups: FoundDelivery[][] = [];
  for (const delivery of deliveries) {
    const group = groups.at(-1);
    const first = group?.[0];
    if (
      first?.message === delivery.message &&
      first.lane === delivery.lane &&
      first.fence === delivery.fence &&
      first.begunAt === delivery.begunAt
    )
      group?.push(delivery);
    else groups.push([delivery]);
  }
  return groups;
}

/** What can be said of an attempt that nobody came back from. */
function lostAttempt(deliveries: readonly FoundDelivery[], first: FoundDelivery): Attempt {
  return {
    startedAt: first.begunAt ?? 0,
    relay: first.relay ?? '',
    evidence: NO_EVIDENCE,
    results: deliveries.map(({ index }) => ({ index, outcome: UNKNOWN })),
  };
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
