import { fromGroup } from '../columns.ts';
import type { Reassignment, Stamp } from '../store.ts';
import type { Books } from './books.ts';

/** Builds the verb `reassign`. Another way changes no state, so no message is touched. */
export function reassignVerb(books: Books) {
  // The plus sign keeps the search to the primary key.
  const move = books.db.prepare<
    [
      lane: string | null,
      relay: string | null,
      rule: string | null,
      group: string | null,
      id: string,
      index: number,
      fromLane: string | null,
    ],
    [dueAt: number]
  >(
    `UPDATE deliveries SET lane = ?, relay = ?, route_rule = ?, route_group = ?
     WHERE message = (SELECT seq FROM messages WHERE id = ?) AND idx = ?
       AND due_at IS NOT NULL AND +lane IS ? RETURNING due_at`,
  );
  return (moves: readonly Reassignment[], _at: Stamp): boolean[] => moves.map(reassign);

  function reassign({ messageId, index, fromLane, to, rule, group }: Reassignment): boolean {
    const lane = to?.lane ?? null;
    const moved = move.get(lane, to?.relay ?? null, rule, fromGroup(group), messageId, index, fromLane);
    if (moved === undefined) return false;
    books.depths.leave(fromLane);
    books.depths.enter(lane, moved[0]);
    return true;
  }
}
