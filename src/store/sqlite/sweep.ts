import type { Stamp } from '../store.ts';
import type { LaneMove } from '../upkeep.ts';
import type { Books } from './books.ts';
import type { Deliveries } from './deliveries.ts';

/** Builds the verb `expire`. */
export function expireVerb(books: Books, deliveries: Deliveries) {
  const expired = books.db.prepare<[now: number, limit: number], [seq: number, index: number]>(
    `SELECT message, idx FROM deliveries INDEXED BY deliveries_expiring
     WHERE state IN ('queued', 'retrying') AND expires_at < ? ORDER BY expires_at LIMIT ?`,
  );
  return (limit: number, at: Stamp): number => {
    const rows = expired.all(at.now, limit);
    for (const [seq, index] of rows) {
      const delivery = deliveries.find(books.ledger.openSeq(seq), index);
      if (delivery !== null) deliveries.fail(delivery, 'expired', 'not delivered before it expired', at);
    }
    books.ledger.flush(at);
    return rows.length;
  };
}

/** Builds the verb `reroute`. A lane changes no state, so no message is touched. */
export function rerouteVerb(books: Books) {
  const move = books.db.prepare<[toLane: string, toRelay: string, fromLane: string, limit: number]>(
    `UPDATE deliveries SET lane = ?, relay = ? WHERE (message, idx) IN (
       SELECT message, idx FROM deliveries INDEXED BY deliveries_waiting
       WHERE lane = ? AND state IN ('queued', 'retrying') LIMIT ?)`,
  );
  return (moves: readonly LaneMove[], limit: number, _at: Stamp): number => {
    let moved = 0;
    for (const { fromLane, toLane, toRelay } of moves) {
      if (fromLane === toLane) continue;
      const count = move.run(toLane, toRelay, fromLane, limit - moved);
      books.tallies.lane(fromLane, -count, 0);
      books.tallies.lane(toLane, count, 0);
      moved += count;
    }
    return moved;
  };
}
