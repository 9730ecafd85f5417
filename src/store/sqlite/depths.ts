import type { Driver } from './driver.ts';
import type { Leases } from './leases.ts';
import { firstDueOf } from './leases.ts';

/** What a transaction changes of a lane. */
interface Change {
  waiting: number;
  processing: number;
  /** The due time of its first waiting delivery; undefined: as before, or `expected` if that is earlier. */
  firstDue: number | null | undefined;
  /** The earliest due time of new waiting deliveries; undefined if there are none. */
  expected: number | undefined;
  /** A delivery stopped waiting: the first due time must be looked up. */
  stale: boolean;
}

/**
 * The depth of lanes, and when the first delivery of each comes due. Summed in a transaction, so that each lane is
 * written once however many deliveries move. Written by `flush`, dropped by `discard`.
 */
export class Depths {
  readonly #changes = new Map<string, Change>();
  readonly #leases: Leases;
  readonly #firstDue;
  readonly #sql;

  constructor(db: Driver, leases: Leases) {
    this.#leases = leases;
    this.#firstDue = firstDueOf(db);
    this.#sql = prepareDepths(db);
  }

  /** A delivery waits in a lane, due at `dueAt` (wall ms). Here and below, a delivery without a lane counts in none. */
  enter(lane: string | null, dueAt: number): void {
    if (lane === null) return;
    const change = this.#changeOf(lane);
    change.waiting++;
    change.expected = earlier(change.expected, dueAt);
    if (change.firstDue !== undefined) change.firstDue = earlier(change.firstDue, dueAt);
  }

  /** A delivery no longer waits. */
  leave(lane: string | null): void {
    if (lane === null) return;
    const change = this.#changeOf(lane);
    change.waiting--;
    change.stale = true;
  }

  /** A delivery is (1), or is no longer (-1), in processing. */
  work(lane: string | null, difference: 1 | -1): void {
    if (lane !== null) this.#changeOf(lane).processing += difference;
  }

  /** The due time of a lane's first waiting delivery, just looked up. */
  seen(lane: string, firstDue: number | null): void {
    const change = this.#changeOf(lane);
    change.firstDue = firstDue;
    change.stale = false;
  }

  /** Writes the sums. Reads of the same transaction that need them flush first. */
  flush(): void {
    for (const [lane, change] of this.#changes) this.#write(lane, change);
    this.#changes.clear();
  }

  /** Drops the sums of a transaction that was rolled back. */
  discard(): void {
    this.#changes.clear();
  }

  #write(lane: string, { waiting, processing, expected, stale, ...change }: Change): void {
    const firstDue = stale ? this.#firstDue(lane) : change.firstDue;
    if (firstDue !== undefined) this.#sql.set.run(lane, waiting, processing, firstDue);
    else if (expected !== undefined) this.#sql.lower.run(lane, waiting, processing, expected);
    else if (processing !== 0) this.#sql.move.run(lane, waiting, processing);
    if (expected !== undefined) this.#leases.expect(lane, expected);
  }

  #changeOf(lane: string): Change {
    const known = this.#changes.get(lane);
    if (known !== undefined) return known;
    const change = { waiting: 0, processing: 0, firstDue: undefined, expected: undefined, stale: false };
    this.#changes.set(lane, change);
    return change;
  }
}

function earlier(first: number | null | undefined, dueAt: number): number {
  return first === null || first === undefined ? dueAt : Math.min(first, dueAt);
}

function prepareDepths(db: Driver) {
  const upsert = `INSERT INTO lanes (lane, waiting, processing, first_due) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET waiting = waiting + excluded.waiting, processing = processing + excluded.processing`;
  type Row = [lane: string, waiting: number, processing: number, firstDue: number | null];
  return {
    set: db.prepare<Row>(`${upsert}, first_due = excluded.first_due`),
    lower: db.prepare<Row>(
      `${upsert}, first_due = min(coalesce(first_due, excluded.first_due), excluded.first_due)`,
    ),
    move: db.prepare<[lane: string, waiting: number, processing: number]>(
      `INSERT INTO lanes (lane, waiting, processing) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET waiting = waiting + excluded.waiting, processing = processing + excluded.processing`,
    ),
  };
}
