import { existsSync, readdirSync } from 'node:fs';
import type { Clock } from '../lib/clock.ts';
import type { ContentKeys } from '../spool/sealing.ts';
import { openSegmentSpool } from '../spool/segments/segment-spool.ts';
import { replay } from '../store/logged/replay.ts';
import { Books } from '../store/sqlite/books.ts';
import { checkpoint } from '../store/sqlite/connection.ts';
import type { Driver, SqlValue, Statement } from '../store/sqlite/driver.ts';
import { storeErrorOf } from '../store/sqlite/errors.ts';
import { leapSequences } from '../store/sqlite/events.ts';
import { openDatabase, openSqlite } from '../store/sqlite/open.ts';
import { sumMessage, tagsOf, waitingIn } from './derived.ts';
import { MigrationError, type Note, type Side, type TakeBack, takeAllBack } from './side.ts';
import { COUNT_SUPPRESSIONS, DELIVERIES, keyOf, MESSAGES, type Row, type TableShape } from './tables.ts';

/** A data directory, whose lock the caller holds. Paths are absolute. */
export interface SqlitePlaces {
  readonly name: string;
  readonly database: string;
  readonly spool: string;
  /** Of encrypted contents. Default null: there are none. */
  readonly keys?: ContentKeys | null;
}

/** Transactions after which the write-ahead log is copied into the database. */
const CHECKPOINT_EVERY = 50;

/** Opens the database and the segments in a data directory. Throws `StoreError`, `MigrationError`. */
export async function openSqliteSource(places: SqlitePlaces, clock: Clock): Promise<Side> {
  if (!existsSync(places.database)) throw new MigrationError(`There is no database in ${places.name}.`);
  return await openSide(places, clock);
}

/** The same for an empty directory, or one that an earlier run has begun. */
export async function openSqliteTarget(places: SqlitePlaces, clock: Clock): Promise<Side> {
  const isNew = !existsSync(places.database);
  if (isNew && existsSync(places.spool) && readdirSync(places.spool).length > 0)
    throw new MigrationError(
      `There is no database in ${places.name}, but contents lie in ${places.spool}: move them aside first.`,
    );
  return await openSide(places, clock);
}

async function openSide(places: SqlitePlaces, clock: Clock): Promise<Side> {
  const { store, applying } = openSqlite(places.database);
  const { spool: directory, keys = null } = places;
  const spool = await openSegmentSpool({ directory, keys, onFailure() {} }).catch(async (error) => {
    await store.close();
    throw error;
  });
  try {
    // The verbs have a connection of their own, and only one may write.
    await replay(spool, applying).finally(() => store.close());
    return new SqliteSide(places, clock, openDatabase(places.database), spool);
  } catch (error) {
    await spool.close();
    throw error;
  }
}

type AnyStatement = Statement<SqlValue[], SqlValue[]>;

class SqliteSide implements Side {
  readonly kind = 'sqlite';
  readonly name: string;
  readonly spool: Side['spool'];
  readonly #path: string;
  readonly #clock: Clock;
  readonly #statements = new Map<string, AnyStatement>();
  #db: Driver;
  #books: Books;
  #writes = 0;

  constructor({ name, database }: SqlitePlaces, clock: Clock, db: Driver, spool: Side['spool']) {
    this.name = name;
    this.spool = spool;
    this.#path = database;
    this.#clock = clock;
    this.#db = db;
    this.#books = new Books(db, 'all');
  }

  async obstacle(): Promise<string | null> {
    const held = this.#statement(HELD).get();
    return held === undefined
      ? null
      : `What came back with a backup waits for a decision in ${this.name}. Start the server and decide: waybill queue resume --restored, or waybill queue cancel --restored`;
  }

  async takeBack(how: TakeBack): Promise<void> {
    // The verbs have a connection of their own, and only one may write.
    this.#db.close();
    const stores = openSqlite(this.#path);
    try {
      await takeAllBack(stores, how, async () => this.#clock.wall());
    } finally {
      await stores.store.close();
      this.#statements.clear();
      this.#db = openDatabase(this.#path);
      this.#books = new Books(this.#db, 'all');
    }
  }

  async page(shape: TableShape, after: Row | null, limit: number): Promise<Row[]> {
    const sql = this.#statement(pageSql(shape, after !== null));
    // For messages, the query has the first part of the key twice.
    const behind = after === null ? [] : shape.ofMessages ? [...after.slice(0, 1), ...after] : after;
    return guarded(() => sql.all(...behind, limit));
  }

  async count(shape: TableShape): Promise<number> {
    const only = onlyOf(shape);
    const where = only === undefined ? '' : `WHERE ${only}`;
    const sql = this.#statement(`SELECT count(*) FROM ${tableOf(shape)} ${where}`);
    return guarded(() => Number(sql.get()?.[0] ?? 0));
  }

  async write(shape: TableShape, rows: readonly Row[], note: Note): Promise<void> {
    const insert = this.#statement(insertSql(shape));
    this.#transact(() => {
      for (const row of rows)
        if (insert.run(...(shape.ofMessages ? [...row.slice(1), ...row.slice(0, 1)] : row)) !== 1)
          throw new MigrationError(
            `${shape.name} ${JSON.stringify(keyOf(shape, row))} is of a message that is not there.`,
          );
      if (shape === MESSAGES) for (const row of rows) this.#enterMessage(row);
      if (shape === DELIVERIES) for (const row of rows) this.#enterDelivery(row);
      this.#books.closeOff();
      this.#putNote(note);
    });
    this.#writes++;
    if (this.#writes % CHECKPOINT_EVERY === 0) guarded(() => checkpoint(this.#db));
  }

  async finish(possibleDuplicates: number): Promise<void> {
    this.#transact(() => {
      this.#statement(SET_GAUGE).run('possible_duplicates', possibleDuplicates);
      // The sweep indexes their words, the newest first.
      this.#statement(NOTHING_INDEXED).run();
      leapSequences(this.#db, this.#clock.wall());
      for (const sql of COUNT_SUPPRESSIONS) this.#statement(sql).run();
    });
    guarded(() => checkpoint(this.#db));
  }

  tagOf(tag: string): string {
    return tag;
  }

  async note(name: string): Promise<string | null> {
    const sql = this.#statement('SELECT value FROM settings WHERE name = ?');
    return guarded(() => sql.get(name)?.[0]?.toString() ?? null);
  }

  async putNotes(notes: readonly Note[]): Promise<void> {
    this.#transact(() => {
      for (const note of notes) this.#putNote(note);
    });
  }

  async close(): Promise<void> {
    await this.spool.close();
    this.#db.close();
  }

  #enterMessage(row: Row): void {
    sumMessage(row, this.#books.tallies);
    const sql = this.#statement('INSERT INTO message_tags (key_id, tag, id) VALUES (?, ?, ?)');
    for (const { keyId, tag, id } of tagsOf(row, this.tagOf)) sql.run(keyId, tag, id);
  }

  #enterDelivery(row: Row): void {
    const waiting = waitingIn(row);
    if (waiting !== null) this.#books.depths.enter(waiting.lane, waiting.dueAt);
  }

  #putNote({ name, value }: Note): void {
    if (value === null) this.#statement('DELETE FROM settings WHERE name = ?').run(name);
    else this.#statement(PUT_NOTE).run(name, value);
  }

  #transact(work: () => void): void {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.#db.exec('COMMIT');
    } catch (error) {
      this.#books.discard();
      if (this.#db.inTransaction()) this.#db.exec('ROLLBACK');
      throw error instanceof MigrationError ? error : storeErrorOf(error);
    }
  }

  #statement(sql: string): AnyStatement {
    const known = this.#statements.get(sql) ?? this.#db.prepare<SqlValue[], SqlValue[]>(sql);
    this.#statements.set(sql, known);
    return known;
  }
}

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw storeErrorOf(error);
  }
}

function tableOf(shape: TableShape): string {
  return shape.sqlite?.table ?? shape.name;
}

function onlyOf({ only, sqlite }: TableShape): string | undefined {
  return sqlite?.only ?? only;
}

function columnsOf({ columns, sqlite }: TableShape): string[] {
  return Object.keys(columns).map((name) => `"${sqlite?.columns?.[name] ?? name}"`);
}

function pageSql(shape: TableShape, further: boolean): string {
  if (shape.ofMessages) return pageOfMessagesSql(shape, further);
  const columns = columnsOf(shape);
  const key = columns.slice(0, shape.keys).join(', ');
  const { message } = shape.sqlite ?? {};
  const read = columns.map((column) =>
    column === `"${message}"` ? `(SELECT id FROM messages WHERE messages.seq = ${column})` : column,
  );
  const conditions = [onlyOf(shape), further ? `(${key}) > (${marks(shape.keys)})` : undefined];
  const where = conditions.filter((one) => one !== undefined).join(' AND ');
  return `SELECT ${read.join(', ')} FROM ${tableOf(shape)} ${where === '' ? '' : `WHERE ${where}`}
    ORDER BY ${key} LIMIT ?`;
}

/** By message ids, not numbers: walks the index of ids, and reads each message by itself. */
function pageOfMessagesSql(shape: TableShape, further: boolean): string {
  const [message = '', place = '', ...rest] = columnsOf(shape).map((column) => `part.${column}`);
  const where = further ? `WHERE messages.id >= ? AND (messages.id > ? OR ${place} > ?)` : '';
  return `SELECT ${['messages.id', place, ...rest].join(', ')}
    FROM messages CROSS JOIN ${tableOf(shape)} AS part ON ${message} = messages.seq ${where}
    ORDER BY messages.id, ${place} LIMIT ?`;
}

function insertSql(shape: TableShape): string {
  const columns = columnsOf(shape);
  const list = `INSERT INTO ${tableOf(shape)} (${columns.join(', ')})`;
  const { message } = shape.sqlite ?? {};
  const values = columns.map((column) =>
    column === `"${message}"` ? '(SELECT seq FROM messages WHERE id = ?)' : '?',
  );
  if (!shape.ofMessages) return `${list} VALUES (${values.join(', ')})`;
  return `${list} SELECT seq, ${marks(columns.length - 1)} FROM messages WHERE id = ?`;
}

function marks(count: number): string {
  return Array.from({ length: count }, () => '?').join(', ');
}

const HELD = `SELECT 1 FROM restored UNION ALL SELECT 1 FROM messages WHERE kept = 'held' LIMIT 1`;
const PUT_NOTE = `INSERT INTO settings (name, value) VALUES (?, ?)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
const SET_GAUGE = `INSERT INTO gauges (name, value) VALUES (?, ?)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
const NOTHING_INDEXED = `UPDATE search_range SET low = last + 1, high = last
  FROM (SELECT coalesce(max(seq), 0) AS last FROM messages)`;
