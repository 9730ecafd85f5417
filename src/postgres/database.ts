import { Pool, type PoolClient, types } from 'pg';
import { type Clock, systemClock } from '../lib/clock.ts';
import { StoreError } from '../store/store.ts';
import { isConflict, storeErrorOf } from './errors.ts';
import { holdable } from './text.ts';

/** What a statement is given. Times and counts are numbers below 2⁵³. */
export type SqlValue = string | number | boolean | null;

/** A parameter: one value, bytes, or an array for a statement that treats many rows at once. */
export type Parameter = SqlValue | Uint8Array | readonly SqlValue[];

/** Statements within one transaction. */
export interface Queries {
  /** The rows of a statement, whose columns are named as the fields of `Row`. */
  rows<Row>(sql: string, parameters?: readonly Parameter[]): Promise<Row[]>;
  /** Runs a statement; how many rows it changed. */
  run(sql: string, parameters?: readonly Parameter[]): Promise<number>;
  /** Runs a text of several statements. */
  script(sql: string): Promise<void>;
}

/** How to reach the database. */
export interface DatabaseOptions {
  /** `postgres://…` */
  readonly url: string;
  /** The schema that the tables lie in; absent: the first of the server's search path. */
  readonly schema?: string;
  /** Whether it is spoken to by TLS; null or absent: as the address says. */
  readonly tls?: 'off' | 'required' | 'verified' | null;
  /** PEM file of the authorities that its certificate may come from; null or absent: those of the machine. */
  readonly tlsCaFile?: string | null;
  /** Most connections at once; default 8. */
  readonly connections?: number;
  /** How long the server may work at a statement, in ms; default 20 s. */
  readonly statementTimeoutMs?: number;
  /** What waiting is measured by; default the machine's. */
  readonly clock?: Pick<Clock, 'mono'>;
}

const CONNECTIONS = 8;
/** Transactions that may wait or run; more are refused with `store_busy`. */
export const MAX_PENDING = 1000;
/** How often a transaction is tried that others made impossible. */
const MAX_TRIES = 5;
const CONNECT_TIMEOUT_MS = 10_000;
/** The server gives up before we do, so that we know that nothing happened. */
const LOCK_TIMEOUT_MS = 10_000;
const STATEMENT_TIMEOUT_MS = 20_000;
const QUERY_TIMEOUT_MS = 30_000;

/** Commits are on the server's stable storage before they return, even where its configuration says otherwise. */
const DURABLE = `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`;

const BIGINT = types.builtins.INT8;

/** Connections to the database, and transactions on them. All errors are `StoreError`. */
export class Database {
  readonly #pool: Pool;
  readonly #clock: Pick<Clock, 'mono'>;
  /** What runs or waits, and since when (monotonic ms), the oldest first. */
  readonly #pending = new Map<Promise<unknown>, number>();
  #commits = 0;
  #closing: Promise<void> | null = null;

  constructor({ url, connections = CONNECTIONS, clock = systemClock }: DatabaseOptions) {
    this.#clock = clock;
    this.#pool = new Pool({
      connectionString: url,
      application_name: 'waybill',
      max: connections,
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: QUERY_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      types: { getTypeParser: (oid, format) => (oid === BIGINT ? Number : types.getTypeParser(oid, format)) },
      onConnect: async (client) => void (await client.query(DURABLE)),
    });
    // A connection that is lost says so to whoever uses it next; nobody else needs to hear of it.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  /**
   * Runs `work` in a transaction. What conflicts with others' transactions is rolled back and done again, so `work`
   * must keep nothing outside of it.
   */
  transact<T>(work: (db: Queries) => Promise<T>): Promise<T> {
    return this.#admit(async () => {
      for (let tries = 1; ; tries++) {
        try {
          return await this.#once('BEGIN ISOLATION LEVEL READ COMMITTED', work);
        } catch (error) {
          if (tries === MAX_TRIES || !isConflict(error)) throw error;
        }
      }
    });
  }

  /** Runs several reads over one state of the database. */
  inSnapshot<T>(read: (db: Queries) => Promise<T>): Promise<T> {
    return this.#admit(() => this.#once('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', read));
  }

  /** Runs one statement, which sees one state of the database by itself. */
  rows<Row>(sql: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
    return this.#admit(() => this.#withClient((client) => queriesOver(client).rows<Row>(sql, parameters)));
  }

  /** How many transactions were committed. */
  get commits(): number {
    return this.#commits;
  }

  /** For how long the oldest of what was asked has been waited for, in ms; 0 when nothing is. */
  waitingMs(): number {
    for (const since of this.#pending.values()) return this.#clock.mono() - since;
    return 0;
  }

  /** Finishes what was asked and closes; what comes later is refused with `store_closed`. */
  close(): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#pending.keys()).then(() => this.#pool.end());
    return this.#closing;
  }

  async #admit<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing !== null) throw new StoreError('store_closed', 'the store is closed');
    if (this.#pending.size >= MAX_PENDING)
      throw new StoreError('store_busy', 'too much waits for the database');
    const running = work();
    this.#pending.set(running, this.#clock.mono());
    try {
      return await running;
    } catch (error) {
      throw storeErrorOf(error);
    } finally {
      this.#pending.delete(running);
    }
  }

  #once<T>(begin: string, work: (db: Queries) => Promise<T>): Promise<T> {
    return this.#withClient(async (client) => {
      await client.query(begin);
      const result = await work(queriesOver(client));
      const { command } = await client.query('COMMIT');
      if (command !== 'COMMIT') throw new StoreError('store_bug', `the transaction ended with ${command}`);
      this.#commits++;
      return result;
    });
  }

  async #withClient<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let isUsable = true;
    try {
      return await work(client);
    } catch (error) {
      isUsable = await rollBack(client, error);
      throw error;
    } finally {
      client.release(!isUsable);
    }
  }
}

/** Whether the connection may be used again. One of which we do not know what it is doing is given up. */
async function rollBack(client: PoolClient, error: unknown): Promise<boolean> {
  if (storeErrorOf(error).code === 'store_unavailable') return false;
  try {
    await client.query('ROLLBACK');
    return true;
  } catch {
    return false;
  }
}

function queriesOver(client: PoolClient): Queries {
  const query = async (sql: string, parameters: readonly Parameter[] = []) =>
    client.query({ name: nameOf(sql), text: sql, values: parameters.map(toHold) });
  return {
    // The statement names its columns as the type does.
    rows: async <Row>(sql: string, parameters?: readonly Parameter[]) =>
      (await query(sql, parameters)).rows as Row[],
    run: async (sql, parameters) => (await query(sql, parameters)).rowCount ?? 0,
    script: async (sql) => void (await client.query(sql)),
  };
}

/** Statements are planned once per connection, under these names; their texts are few and fixed. */
const names = new Map<string, string>();

function nameOf(sql: string): string {
  const known = names.get(sql) ?? `waybill_${names.size}`;
  names.set(sql, known);
  return known;
}

function toHold(parameter: Parameter): Parameter {
  if (typeof parameter === 'string') return holdable(parameter);
  return Array.isArray(parameter) ? parameter.map(toHoldValue) : parameter;
}

function toHoldValue(value: SqlValue): SqlValue {
  return typeof value === 'string' ? holdable(value) : value;
}
