import { messageIdFloor } from '../../lib/id.ts';
import type { Database, Queries } from '../../postgres/database.ts';
import { dayOf } from '../counting.ts';
import { StoreError } from '../store.ts';

/**
 * The tables of the past, with their column of message ids, in the order in which verbs write to them. Each has a
 * partition for every UTC day of acceptance, `…_20261122`, and a `…_rest` for days that have none.
 */
const PAST: readonly (readonly [table: string, id: string])[] = [
  ['deliveries_final', 'message'],
  ['attempts', 'message'],
  ['messages_gone', 'id'],
  ['message_tags', 'id'],
  ['message_words', 'id'],
];

const DAY_MS = 86_400_000;
/** Default number of days whose partitions are made in advance. */
const DAYS_AHEAD = 3;
const LOOK_EVERY_MS = 3_600_000;
/** The pause after others were in the way. */
const AGAIN_MS = 600_000;
/** How long we wait for a lock, and so how long writers wait for us. */
const LOCK_MS = 200;
/** An arbitrary number: the lock of this number and the schema is held to make or drop partitions. */
const LOCK = 8_421;

/**
 * The partitions of the past. They are made before their days begin, by whichever node comes first, and dropped as a
 * whole when all of their day has outlived its retention: dropping costs the same however much it is, and leaves
 * nothing to clean up.
 */
export class Partitions {
  readonly #database: Database;
  readonly #daysAhead: number | null;
  #lookAt = Number.NEGATIVE_INFINITY;
  #dropAt = Number.NEGATIVE_INFINITY;

  constructor(database: Database, daysAhead: number | null = DAYS_AHEAD) {
    this.#database = database;
    this.#daysAhead = daysAhead;
  }

  /**
   * Makes the partitions of the day of `now` (wall ms) and of the days that follow, at most once an hour. A day with
   * rows in the rest stays there. If others are in the way, it tries again later.
   */
  async prepare(now: number): Promise<void> {
    if (this.#daysAhead === null || now < this.#lookAt) return;
    this.#lookAt = now + LOOK_EVERY_MS;
    const today = dayOf(now);
    await this.makeDays(Array.from({ length: this.#daysAhead + 1 }, (_, more) => today + more));
  }

  /** Makes the partitions of days (whole days since the epoch), like {@link prepare}; existing ones are left alone. */
  async makeDays(days: readonly number[]): Promise<void> {
    const known = new Set(await daysMade(this.#database));
    for (const day of days)
      if (!known.has(day)) await this.#unlessBusy(() => this.#database.transact((db) => make(db, day)));
  }

  /**
   * Drops the oldest day whose messages all became final before `finalBefore` (wall ms) and have no contents left.
   * Returns how many records that removed; null if there is no such day, or others were in the way.
   */
  async dropOldest(finalBefore: number, now: number): Promise<number | null> {
    if (now < this.#dropAt) return null;
    for (const day of await daysMade(this.#database)) {
      if ((day + 1) * DAY_MS > finalBefore) break;
      const found = await this.#database.transact((db) => ended(db, day, finalBefore));
      if (found === null) continue;
      await this.#dropEvents(day);
      const dropped = await this.#unlessBusy(() =>
        this.#database.transact((db) => drop(db, day, finalBefore)),
      );
      if (dropped === true) return found;
      this.#dropAt = now + AGAIN_MS;
      break;
    }
    return null;
  }

  /** The events of a day's messages go first, some at a time: nobody waits for that. */
  async #dropEvents(day: number): Promise<void> {
    const { floor, ceiling } = boundsOf(day);
    const drop = () => this.#database.transact((db) => db.run(DROP_EVENTS, [floor, ceiling, EVENTS_AT_ONCE]));
    while ((await drop()) === EVENTS_AT_ONCE);
  }

  async #unlessBusy<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof StoreError && error.code === 'store_busy') return null;
      throw error;
    }
  }
}

/** The days that have partitions, the oldest first. */
async function daysMade(db: Pick<Queries, 'rows'>): Promise<number[]> {
  const rows = await db.rows<{ name: string }>(PARTS);
  return rows.flatMap(({ name }) => {
    const [, year, month, date] = /_(\d{4})(\d\d)(\d\d)$/.exec(name) ?? [];
    return date === undefined ? [] : [dayOf(Date.parse(`${year}-${month}-${date}`))];
  });
}

/** Makes a day's partitions, unless they were just made or rows of the day are in the rest. */
async function make(db: Queries, day: number): Promise<void> {
  const { floor, ceiling } = boundsOf(day);
  await alone(db);
  if ((await daysMade(db)).includes(day)) return;
  // No row may arrive between the check and the new partition: writers to the rest wait.
  await db.script(`LOCK TABLE ${PAST.map(([table]) => `${table}_rest`).join(', ')} IN ACCESS EXCLUSIVE MODE`);
  const [found] = await db.rows<{ any: boolean }>(ANY_IN_REST, [floor, ceiling]);
  if (found?.any !== false) return;
  for (const [table] of PAST) {
    const part = partOf(table, day);
    // Attached rather than created in place, which would lock out all readers.
    await db.script(`CREATE TABLE ${part} (LIKE ${table} INCLUDING ALL)`);
    await db.script(
      `ALTER TABLE ${table} ATTACH PARTITION ${part} FOR VALUES FROM ('${floor}') TO ('${ceiling}')`,
    );
  }
}

/** How many records the day has, if all of them may go; null if one may not. */
async function ended(db: Queries, day: number, finalBefore: number): Promise<number | null> {
  const { floor, ceiling } = boundsOf(day);
  const [row] = await db.rows<{ lives: boolean; records: number }>(LIVES, [floor, ceiling, finalBefore]);
  if (row?.lives !== false) return null;
  const [count] = await db.rows<{ records: number }>(COUNT, [floor, ceiling]);
  return count?.records ?? 0;
}

/** Drops a day's partitions; false if something in it came to life meanwhile. */
async function drop(db: Queries, day: number, finalBefore: number): Promise<boolean> {
  const { floor, ceiling } = boundsOf(day);
  await alone(db);
  if (!(await daysMade(db)).includes(day)) return false;
  // A retry by hand moves rows out of the partition: none may while we look.
  await db.script(`LOCK TABLE ONLY ${PAST.map(([table]) => table).join(', ONLY ')} IN ACCESS EXCLUSIVE MODE`);
  const [row] = await db.rows<{ lives: boolean }>(LIVES, [floor, ceiling, finalBefore]);
  if (row?.lives !== false) return false;
  await db.run('DELETE FROM pending_words WHERE id >= $1 AND id < $2', [floor, ceiling]);
  await db.run('DELETE FROM story_links WHERE message >= $1 AND message < $2', [floor, ceiling]);
  await db.script(`DROP TABLE ${PAST.map(([table]) => partOf(table, day)).join(', ')}`);
  return true;
}

/** Waits until nobody else makes or drops partitions; from here on the transaction waits for no lock for long. */
async function alone(db: Queries): Promise<void> {
  await db.script(`SET LOCAL lock_timeout = ${LOCK_MS}`);
  await db.rows(`SELECT pg_advisory_xact_lock($1, hashtext(current_schema()))`, [LOCK]);
}

function boundsOf(day: number): { readonly floor: string; readonly ceiling: string } {
  return { floor: messageIdFloor(day * DAY_MS), ceiling: messageIdFloor((day + 1) * DAY_MS) };
}

function partOf(table: string, day: number): string {
  return `${table}_${new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

// Of one table only: a day has all its partitions or none.
const PARTS = `SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
  WHERE inhparent = 'messages_gone'::regclass ORDER BY relname`;

const EVENTS_AT_ONCE = 10_000;
const DROP_EVENTS = `DELETE FROM events WHERE seq IN (
  SELECT seq FROM events WHERE message >= $1 AND message < $2 LIMIT $3)`;

const ANY_IN_REST = `SELECT ${PAST.map(
  ([table, id]) => `EXISTS (SELECT 1 FROM ${table}_rest WHERE ${id} >= $1 AND ${id} < $2)`,
).join(' OR ')} AS any`;

const OF_DAY = 'id >= $1 AND id < $2';
const LIVES = `SELECT EXISTS (SELECT 1 FROM messages_open WHERE ${OF_DAY})
  OR EXISTS (SELECT 1 FROM messages_kept WHERE ${OF_DAY})
  OR EXISTS (SELECT 1 FROM messages_gone WHERE ${OF_DAY} AND final_at > $3) AS lives`;
const COUNT = `SELECT count(*) AS records FROM messages_gone WHERE ${OF_DAY}`;
