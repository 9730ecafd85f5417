import type { Clock } from '../lib/clock.ts';
import { messageIdTime } from '../lib/id.ts';
import type { Database, DatabaseOptions, Parameter, Queries } from '../postgres/database.ts';
import { holdable, indexable } from '../postgres/text.ts';
import { openPostgresSpool } from '../spool/postgres/postgres-spool.ts';
import type { ContentKeys } from '../spool/sealing.ts';
import { MISSING_MS } from '../store/cluster.ts';
import { dayOf } from '../store/counting.ts';
import { SEQUENCE_LEAP } from '../store/events.ts';
import { openPostgres, type PostgresStores } from '../store/postgres/open.ts';
import { Partitions } from '../store/postgres/partitions.ts';
import { Tallies } from '../store/postgres/tallies.ts';
import { sumMessage, type Tagged, tagsOf, waitingIn } from './derived.ts';
import { type Note, type Side, type TakeBack, takeAllBack } from './side.ts';
import {
  COUNT_SUPPRESSIONS,
  DELIVERIES,
  MESSAGES,
  type Row,
  reader,
  type TableShape,
  type Value,
} from './tables.ts';

/** How to reach a PostgreSQL database. */
export interface PostgresPlace {
  readonly options: DatabaseOptions;
  /** This process's name, new at every start. */
  readonly node: string;
  readonly clock: Clock;
  /** The name of the secret key that seals secrets here. */
  readonly keyId: string;
  /** Of encrypted contents. Default null: there are none. */
  readonly keys?: ContentKeys | null;
}

/** Counting a large table may take a while. */
const STATEMENT_TIMEOUT_MS = 600_000;
/** Older days get no partitions of their own, to limit their number. */
const MAX_DAYS = 400;

/**
 * Opens records and contents in a PostgreSQL database, after creating or migrating its tables. Throws `SpoolError`, and
 * `StoreError` also if secrets are sealed under another key.
 */
export async function openPostgresSide(place: PostgresPlace): Promise<Side> {
  const { options, node, clock, keyId, keys = null } = place;
  const stores = await openPostgres({ ...options, statementTimeoutMs: STATEMENT_TIMEOUT_MS });
  try {
    await stores.holdSecretKey(keyId);
    const spool = await openPostgresSpool({ database: stores.database, node, clock, keys });
    return new PostgresSide(nameOf(options), stores, spool, dayOf(clock.wall()) - MAX_DAYS);
  } catch (error) {
    await stores.store.close();
    throw error;
  }
}

/** Its name: the place and the name of the database there; no user, no password. */
function nameOf({ url, schema }: DatabaseOptions): string {
  const [base = '', query = ''] = url.split('?', 2);
  const [, named = '', database = ''] = /^[a-z]+:\/\/(?:[^/]*@)?([^/]*)(.*)$/i.exec(base) ?? [];
  const host = new URLSearchParams(query).get('host') ?? named;
  const where = `postgres://${host}${database}`;
  return schema === undefined ? where : `${where}, schema ${schema}`;
}

class PostgresSide implements Side {
  readonly kind = 'postgres';
  readonly name: string;
  readonly spool: Side['spool'];
  readonly #stores: PostgresStores;
  readonly #database: Database;
  readonly #partitions: Partitions;
  readonly #firstDay: number;
  /** Days that have partitions. */
  readonly #days = new Set<number>();

  constructor(name: string, stores: PostgresStores, spool: Side['spool'], firstDay: number) {
    this.name = name;
    this.spool = spool;
    this.#stores = stores;
    this.#database = stores.database;
    this.#partitions = new Partitions(stores.database);
    this.#firstDay = firstDay;
  }

  async obstacle(): Promise<string | null> {
    const { cluster } = this.#stores;
    const now = await cluster.time();
    const alive = (await cluster.nodes(now)).filter(({ lastSeenAt }) => lastSeenAt > now - MISSING_MS);
    if (alive.length === 0) return null;
    const names = alive.map(({ name }) => name).join(', ');
    return `Nodes are at work in ${this.name}: ${names}. Stop them first; one that was killed is gone after ${MISSING_MS / 1000} s.`;
  }

  takeBack(how: TakeBack): Promise<void> {
    return takeAllBack(this.#stores, how, () => this.#stores.cluster.time());
  }

  async page(shape: TableShape, after: Row | null, limit: number): Promise<Row[]> {
    const sql = pageSql(shape, after !== null, limit);
    const rows = await this.#database.rows<Record<string, Value | boolean>>(sql, after ?? []);
    const names = Object.keys(shape.columns);
    return rows.map((row) => names.map((name) => neutral(row[name])));
  }

  async count(shape: TableShape): Promise<number> {
    const where = shape.only === undefined ? '' : `WHERE ${shape.only}`;
    const [row] = await this.#database.rows<{ count: number }>(
      `SELECT count(*) AS count FROM ${shape.name} ${where}`,
    );
    return row?.count ?? 0;
  }

  async write(shape: TableShape, rows: readonly Row[], note: Note): Promise<void> {
    if (shape === MESSAGES) await this.#makeDays(rows);
    await this.#database.transact(async (db) => {
      // First: a continued migration waits here for what a killed process still has in progress.
      await putNote(db, note);
      await db.run(insertSql(shape), columnsOf(shape, rows));
      const tallies = new Tallies();
      if (shape === MESSAGES) await this.#enterMessages(db, rows, tallies);
      if (shape === DELIVERIES) for (const row of rows) tallies.lane(waitingIn(row)?.lane ?? null, 1, 0);
      await tallies.write(db);
    });
  }

  async finish(possibleDuplicates: number): Promise<void> {
    await this.#database.transact(async (db) => {
      await db.run(SET_GAUGE, ['possible_duplicates', possibleDuplicates]);
      await db.rows(NEXT_ENTRY);
      await db.rows(NEXT_EVENT);
      await db.rows(NEXT_LINK);
      for (const sql of COUNT_SUPPRESSIONS) await db.run(sql);
      // Partitioned tables are not analyzed automatically, and plans made without it suit empty ones.
      await db.run(`ANALYZE ${ANALYZED.join(', ')}`);
    });
  }

  tagOf(tag: string): string {
    return holdable(indexable(tag));
  }

  async note(name: string): Promise<string | null> {
    const rows = await this.#database.rows<{ value: string }>(READ_NOTE, [name]);
    return rows[0]?.value ?? null;
  }

  async putNotes(notes: readonly Note[]): Promise<void> {
    await this.#database.transact(async (db) => {
      for (const note of notes) await putNote(db, note);
    });
  }

  async close(): Promise<void> {
    await this.spool.close();
    await this.#stores.store.close();
  }

  /** Retention drops the past by days, so a day's partitions are made before its rows. */
  async #makeDays(rows: readonly Row[]): Promise<void> {
    const days = new Set(rows.map((row) => dayOf(messageIdTime(messageId(row)))));
    const fresh = [...days].filter((day) => day >= this.#firstDay && !this.#days.has(day));
    if (fresh.length === 0) return;
    await this.#partitions.makeDays(fresh);
    for (const day of fresh) this.#days.add(day);
  }

  async #enterMessages(db: Queries, rows: readonly Row[], tallies: Tallies): Promise<void> {
    const tags: Tagged[] = [];
    for (const row of rows) {
      sumMessage(row, tallies);
      tags.push(...tagsOf(row, this.tagOf));
    }
    const columns = [tags.map(({ keyId }) => keyId), tags.map(({ tag }) => tag), tags.map(({ id }) => id)];
    if (tags.length > 0) await db.run(INSERT_TAGS, columns);
    // The sweep indexes their words, the newest first.
    await db.run(INSERT_PENDING, [rows.map(([id = null]) => id)]);
  }
}

const messageId = reader<string>(MESSAGES, 'id');

async function putNote(db: Queries, { name, value }: Note): Promise<void> {
  if (value === null) await db.run('DELETE FROM settings WHERE name = $1', [name]);
  else await db.run(PUT_NOTE, [name, value]);
}

function neutral(value: Value | boolean | undefined): Value {
  return typeof value === 'boolean' ? Number(value) : (value ?? null);
}

/** The limit is part of the text: otherwise the planner might assume a tenth of the table, and sort all of it. */
function pageSql(shape: TableShape, further: boolean, limit: number): string {
  const columns = quoted(shape);
  const key = columns.slice(0, shape.keys);
  const behind = `(${key.join(', ')}) > (${key.map((_, place) => `$${place + 1}`).join(', ')})`;
  const conditions = [shape.only, further ? behind : undefined].filter((one) => one !== undefined);
  return `SELECT ${columns.join(', ')} FROM ${shape.name}
    ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`}
    ORDER BY ${key.join(', ')} LIMIT ${limit}`;
}

function insertSql(shape: TableShape): string {
  const arrays = Object.values(shape.columns).map((type, place) => `$${place + 1}::${type}[]`);
  return `INSERT INTO ${shape.name} (${quoted(shape).join(', ')}) OVERRIDING SYSTEM VALUE
    SELECT * FROM unnest(${arrays.join(', ')})`;
}

function columnsOf(shape: TableShape, rows: readonly Row[]): Parameter[] {
  return Object.values(shape.columns).map((type, place) =>
    rows.map((row) => {
      const value = row[place] ?? null;
      return type === 'boolean' && value !== null ? value !== 0 : value;
    }),
  );
}

function quoted({ columns }: TableShape): string[] {
  return Object.keys(columns).map((name) => `"${name}"`);
}

const ANALYZED = ['messages', 'deliveries', 'attempts', 'message_tags', 'events'];
const READ_NOTE = 'SELECT value FROM settings WHERE name = $1 FOR UPDATE';
const PUT_NOTE = `INSERT INTO settings (name, value) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
const SET_GAUGE = `INSERT INTO gauges (name, value) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
const NEXT_ENTRY = `SELECT setval(pg_get_serial_sequence('journal', 'number'), coalesce(max(number), 0) + 1, false)
  FROM journal`;
// Further than any sequence that the source has given, also to events that are gone.
const NEXT_EVENT = `SELECT setval(pg_get_serial_sequence('events', 'seq'), coalesce(max(seq), 0) + ${SEQUENCE_LEAP}) FROM events`;
const NEXT_LINK = `SELECT setval(pg_get_serial_sequence('unsubscribe_links', 'seq'), coalesce(max(seq), 0) + 1, false)
  FROM unsubscribe_links`;
const INSERT_TAGS = `INSERT INTO message_tags (key_id, tag, id)
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[])`;
const INSERT_PENDING = 'INSERT INTO pending_words (id) SELECT * FROM unnest($1::text[])';
