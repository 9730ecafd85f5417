import { fromGroup } from '../columns.ts';
import type { Reassignment } from '../store.ts';
import { isWaiting } from './changes.ts';
import type { Work } from './work.ts';

/** The verb `reassign`. Another way changes no state, so no message is touched. */
export async function reassign(work: Work, moves: readonly Reassignment[]): Promise<boolean[]> {
  await work.ledger.open(moves.map(({ messageId }) => messageId));
  await work.ledger.load(moves.map(({ messageId, index }) => ({ messageId, indexes: [index] })));
  return moves.map((move) => reassignDelivery(work, move));
}

function reassignDelivery({ ledger, tallies }: Work, move: Reassignment): boolean {
  const { messageId, index, fromLane, to, rule, group } = move;
  const delivery = ledger.delivery(messageId, index);
  if (delivery === null || !isWaiting(delivery) || delivery.row.lane !== fromLane) return false;
  const { row } = delivery;
  row.lane = to?.lane ?? null;
  row.relay = to?.relay ?? null;
  row.routeRule = rule;
  row.routeGroup = fromGroup(group);
  tallies.lane(fromLane, -1, 0);
  tallies.lane(row.lane, 1, 0);
  ledger.touch(delivery);
  return true;
}
