import type { LaneDepth } from '../views.ts';
import type { Driver } from './driver.ts';
import { firstDueOf } from './due.ts';
import type { InSnapshot } from './snapshot.ts';

type DepthRow = [lane: string, waiting: number, processing: number];

/** Builds the view `lanes`. Costs by the number of lanes, not of deliveries. */
export function lanesView(db: Driver, inSnapshot: InSnapshot) {
  const sql = prepareLanes(db);
  const firstDue = firstDueOf(db);
  return (relay: string | null, limit: number): LaneDepth[] =>
    inSnapshot(() => {
      // A relay's name holds no slash: what comes after it in its lanes' names lies between "/" and "0".
      const rows =
        relay === null ? sql.all.all(limit) : sql.ofRelay.all(relay, `${relay}/`, `${relay}0`, limit);
      return rows.map(([lane, waiting, processing]) => ({
        lane,
        waiting,
        processing,
        oldestDueAt: firstDue(lane),
      }));
    });
}

function prepareLanes(db: Driver) {
  return {
    all: db.prepare<[limit: number], DepthRow>(
      `SELECT lane, waiting, processing FROM lanes WHERE waiting + processing > 0
       ORDER BY waiting + processing DESC, lane LIMIT ?`,
    ),
    ofRelay: db.prepare<[relay: string, from: string, until: string, limit: number], DepthRow>(
      `SELECT lane, waiting, processing FROM lanes
       WHERE (lane = ? OR (lane >= ? AND lane < ?)) AND waiting + processing > 0
       ORDER BY waiting + processing DESC, lane LIMIT ?`,
    ),
  };
}
