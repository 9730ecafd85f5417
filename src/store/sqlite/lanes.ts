import type { LaneDepth } from '../views.ts';
import type { Driver } from './driver.ts';

type DepthRow = [lane: string, waiting: number, processing: number, firstDue: number | null];

/** Builds the view `lanes`. Costs by the number of lanes, not of deliveries. */
export function lanesView(db: Driver) {
  const sql = prepareLanes(db);
  return (relay: string | null, limit: number): LaneDepth[] => {
    // A relay's name holds no slash: what comes after it in its lanes' names lies between "/" and "0".
    const rows =
      relay === null ? sql.all.all(limit) : sql.ofRelay.all(relay, `${relay}/`, `${relay}0`, limit);
    return rows.map(([lane, waiting, processing, oldestDueAt]) => ({
      lane,
      waiting,
      processing,
      oldestDueAt,
    }));
  };
}

function prepareLanes(db: Driver) {
  return {
    all: db.prepare<[limit: number], DepthRow>(
      `SELECT lane, waiting, processing, first_due FROM lanes WHERE waiting + processing > 0
       ORDER BY waiting + processing DESC, lane LIMIT (SELECT ?)`,
    ),
    ofRelay: db.prepare<[relay: string, from: string, until: string, limit: number], DepthRow>(
      `SELECT lane, waiting, processing, first_due FROM lanes
       WHERE (lane = (SELECT ?) OR (lane >= (SELECT ?) AND lane < (SELECT ?))) AND waiting + processing > 0
       ORDER BY waiting + processing DESC, lane LIMIT (SELECT ?)`,
    ),
  };
}
