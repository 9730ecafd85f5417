import { Client, type ClientBase, type ClientConfig, Pool, type PoolClient, type QueryConfig } from 'pg';
import { type Clock, systemClock } from '../lib/clock.ts';
import { StoreError } from '../store/store.ts';
import { type ConnectionOptions, clientConfigOf } from './connection.ts';
import { storeErrorOf } from './errors.ts';
import { outcomeOf, type Progress, untilDone } from './outcome.ts';
import {
  type Beginning,
  beginTransaction,
  FLUSH,
  mayFlushLater,
  openSession,
  type Session,
  type SessionSettings,
  settingsOf,
  UNKNOWN_SESSION,
} from './session.ts';
import { arrayText, holdable } from './text.ts';

/** Values of statements. Times and counts are numbers below 2⁵³. */
export type SqlValue = string | number | boolean | null;

/** A parameter: one value, bytes, or an array for a statement on many rows. */
export type Parameter = SqlValue | Uint8Array | readonly SqlValue[];

/** Statements within one transaction. */
export interface Queries {
  /** The rows of a statement whose columns are named like the fields of `Row`. */
  rows<Row>(sql: string, parameters?: readonly Parameter[]): Promise<Row[]>;
  /** Runs a statement; returns how many rows it changed. */
  run(sql: string, parameters?: readonly Parameter[]): Promise<number>;
  /** Runs a text of several statements. */
  script(sql: string): Promise<void>;
  /**
   * Sends a statement whose answer nobody awaits: if it fails, the transaction fails at its end. Later statements come
   * after it.
   */
  send(sql: string, parameters?: readonly Parameter[]): void;
}

/** How to connect to the database, and how many connections to use. */
export interface DatabaseOptions extends ConnectionOptions {
  /** The only schema to use; absent: the first of the server's search path. */
  readonly schema?: string;
  /** Most connections at once; default 8. */
  readonly connections?: number;
  /** How long the server may work on a statement, in ms; default 20 s. It waits for locks half as long. */
  readonly statementTimeoutMs?: number;
  /** Every statement works on a few rows, found by an index whatever the server's statistics say; default false. */
  readonly byIndex?: boolean;
  /** Measures waiting; default the machine's. */
  readonly clock?: Pick<Clock, 'mono' | 'sleep'>;
}

/** Deviations from the defaults of a transaction. */
export interface TransactOptions {
  /** How long the server may work on each of its statements, or wait for a lock, in ms. */
  readonly timeoutMs?: number;
  /**
   * Called when it is committed but not yet flushed, if the server allows that: from then on others see it, and wait
   * for none of its locks. The transaction resolves when it is flushed as well.
   */
  readonly committed?: () => void;
}

const CONNECTIONS = 8;
/** Transactions that may wait or run; further ones are refused with `store_busy`. */
export const MAX_PENDING = 1000;
const STATEMENT_TIMEOUT_MS = 20_000;
const WRITING = {
  isolation: 'READ COMMITTED READ WRITE',
  numbered: true,
  settings: null,
  flushesLater: false,
};
const READING = { ...WRITING, isolation: 'REPEATABLE READ READ ONLY', numbered: false };
const SINGLE = { ...WRITING, numbered: false };

/** Connections to the database, and transactions on them. All errors are `StoreError`. */
export class Database {
  readonly #pool: Pool;
  readonly #config: ClientConfig;
  readonly #settings: SessionSettings;
  readonly #clock: Pick<Clock, 'mono' | 'sleep'>;
  readonly #sessions = new WeakMap<ClientBase, Session>();
  #isPooled = false;
  #mayFlush = false;
  /** What runs or waits, and since when (monotonic ms), the oldest first. */
  readonly #pending = new Map<Promise<unknown>, number>();
  #commits = 0;
  #closing: Promise<void> | null = null;

  /** Does not connect yet. Throws `StoreError` if a file named by the options cannot be read. */
  constructor(options: DatabaseOptions) {
    this.#clock = options.clock ?? systemClock;
    const { statementTimeoutMs = STATEMENT_TIMEOUT_MS, schema = null, byIndex = false } = options;
    this.#settings = settingsOf(statementTimeoutMs, { schema, byIndex });
    this.#config = { ...clientConfigOf(options), query_timeout: this.#settings.idleMs };
    this.#pool = new Pool({
      ...this.#config,
      // Statements need not wait for each other's answers: a transaction takes two or three round trips, not twenty.
      pipeline: true,
      max: options.connections ?? CONNECTIONS,
      onConnect: (client) => this.#meet(client),
    });
    // A lost connection reports itself to its next user; nobody else needs to hear of it.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  /**
   * Runs `work` in a transaction. On a conflict with other transactions it is rolled back and run again, and so it is,
   * once, if the connection was lost and it is known not to have happened: `work` must keep nothing outside of it.
   */
  transact<T>(work: (db: Queries) => Promise<T>, { timeoutMs, committed }: TransactOptions = {}): Promise<T> {
    const settings = timeoutMs === undefined ? null : settingsOf(timeoutMs, this.#settings);
    return this.#admit(() => this.#run({ ...WRITING, settings }, work, committed));
  }

  /** Brings all earlier commits, of any session, onto stable storage. */
  async flush(): Promise<void> {
    // Where the statement is not allowed, no commit leaves its flush for later.
    if (this.#mayFlush) await this.rows(FLUSH);
  }

  /** Runs several reads over one state of the database. */
  inSnapshot<T>(read: (db: Queries) => Promise<T>): Promise<T> {
    return this.#admit(() => this.#run(READING, read));
  }

  /** Runs one statement, which sees one state of the database by itself. */
  rows<Row>(sql: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
    const read = (db: Queries) => db.rows<Row>(sql, parameters);
    return this.#admit(() =>
      this.#withClient(async ({ client, session }) => {
        const sent = new Sent();
        if (session.isOwn) return read(queriesOver(client, session, sent));
        await beginTransaction(client, session, SINGLE, this.#settings);
        const rows = await read(queriesOver(client, session, sent));
        await client.query('COMMIT');
        return rows;
      }),
    );
  }

  /**
   * Whether a pooler is in between, as the last connection showed: then there are no sessions, and listening is
   * impossible. Known after the first statement.
   */
  get pooled(): boolean {
    return this.#isPooled;
  }

  /** A connection outside of the pool, which the caller connects and ends; its errors are node-postgres'. */
  newClient(): Client {
    return new Client(this.#config);
  }

  /** Number of committed transactions. */
  get commits(): number {
    return this.#commits;
  }

  /** How long the oldest pending call has waited, in ms; 0 if there is none. */
  waitingMs(): number {
    for (const since of this.#pending.values()) return this.#clock.mono() - since;
    return 0;
  }

  /** Finishes the pending calls and closes; later calls are refused with `store_closed`. */
  close(): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#pending.keys()).then(() => this.#pool.end());
    return this.#closing;
  }

  async #meet(client: ClientBase): Promise<void> {
    const session = await openSession(client, this.#settings);
    this.#sessions.set(client, session);
    this.#isPooled = !session.isOwn;
    this.#mayFlush = session.mayFlush;
  }

  async #admit<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing !== null) throw new StoreError('store_closed', 'the store is closed');
    if (this.#pending.size >= MAX_PENDING)
      throw new StoreError('store_busy', 'too many calls wait for the database');
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

  #run<T>(beginning: Beginning, work: (db: Queries) => Promise<T>, committed?: () => void): Promise<T> {
    return untilDone((progress) => this.#once(beginning, work, progress, committed), this.#clock);
  }

  #once<T>(
    terms: Beginning,
    work: (db: Queries) => Promise<T>,
    progress: Progress,
    committed?: () => void,
  ): Promise<T> {
    return this.#withClient(async (connection) => {
      const { client, session } = connection;
      const beginning = { ...terms, flushesLater: committed !== undefined && mayFlushLater(session) };
      progress.isConnected = true;
      // Statements sent before BEGIN is answered come after it, and fail if it does.
      writeTogether(client);
      const begun = beginTransaction(client, session, beginning, this.#settings).then((number) => {
        progress.hasBegun = true;
        return number;
      });
      const sent = new Sent(begun);
      const result = await sent.orFirst(work(queriesOver(client, session, sent, beginning.settings?.idleMs)));
      const xid = await begun;
      try {
        await commit(client, sent, beginning.flushesLater ? committed : undefined);
      } catch (error) {
        if (xid === null || storeErrorOf(error).code !== 'store_unavailable') throw error;
        connection.isUsable = false;
        const doubt = { xid, run: session.run, isUnflushed: beginning.flushesLater };
        const outcome = await outcomeOf(doubt, this.#config, this.#clock);
        progress.isInDoubt = outcome === 'unknown';
        if (outcome !== 'committed') throw error;
      }
      this.#commits++;
      return result;
    });
  }

  async #withClient<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    const session = this.#sessions.get(client) ?? UNKNOWN_SESSION;
    const connection: Connection = { client, session, isUsable: true };
    try {
      return await work(connection);
    } catch (error) {
      connection.isUsable &&= await rollBack(client, error);
      throw error;
    } finally {
      client.release(!connection.isUsable);
    }
  }
}

/** A connection in use. */
interface Connection {
  readonly client: PoolClient;
  readonly session: Session;
  /** Whether it may be used again. */
  isUsable: boolean;
}

/** Whether the connection may be used again. One in an unknown state is discarded. */
async function rollBack(client: PoolClient, error: unknown): Promise<boolean> {
  if (storeErrorOf(error).code === 'store_unavailable') return false;
  try {
    await client.query('ROLLBACK');
    return true;
  } catch {
    return false;
  }
}

/**
 * Commits, once everything sent is done. Calls `committed`, if given, when others see it; the flush is requested along
 * with the commit, and awaited. If only the flush failed, it rejects with `store_unavailable`: nothing of it may be
 * repeated.
 */
async function commit(client: PoolClient, sent: Sent, committed?: () => void): Promise<void> {
  writeTogether(client);
  const ended = client.query('COMMIT');
  const flushed = committed === undefined ? null : client.query(FLUSH);
  // A failed commit needs no flush.
  flushed?.catch(() => {});
  await Promise.all([sent.all(), ended]);
  const { command } = await ended;
  if (command !== 'COMMIT') throw new StoreError('store_bug', `the transaction ended with ${command}`);
  if (flushed === null) return;
  committed?.();
  try {
    await flushed;
  } catch (error) {
    const text = 'it is not known whether what was committed is flushed';
    throw new StoreError('store_unavailable', text, { cause: error });
  }
}

/** A statement, and how long to wait for its answer, in ms. */
interface TimedQuery extends QueryConfig {
  query_timeout?: number | undefined;
}

function queriesOver(client: PoolClient, { isOwn }: Session, sent: Sent, timeoutMs?: number): Queries {
  // An invalid parameter throws at once: otherwise the server would never see that statement, and commit the rest.
  const query = (sql: string, parameters: readonly Parameter[] = []) => {
    writeTogether(client);
    const name = isOwn ? nameOf(sql) : undefined;
    const timed: TimedQuery = {
      ...(name === undefined ? {} : { name }),
      text: sql,
      values: parameters.map(toHold),
      query_timeout: timeoutMs,
    };
    return client.query(timed);
  };
  return {
    // The statement names its columns like the type.
    rows: async <Row>(sql: string, parameters?: readonly Parameter[]) =>
      (await query(sql, parameters)).rows as Row[],
    run: async (sql, parameters) => (await query(sql, parameters)).rowCount ?? 0,
    script: async (sql) => {
      const timed: TimedQuery = { text: sql, query_timeout: timeoutMs };
      await client.query(timed);
    },
    send: (sql, parameters) => sent.add(query(sql, parameters)),
  };
}

/** Sends everything written in the present turn of the event loop in one piece. */
function writeTogether({ connection: { stream } }: PoolClient): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/** Statements are planned once per session, under these names; their texts are few and fixed. */
const names = new Map<string, string>();

function nameOf(sql: string): string {
  const known = names.get(sql) ?? `waybill_${names.size}`;
  names.set(sql, known);
  return known;
}

function toHold(parameter: Parameter): string | number | boolean | Uint8Array | null {
  if (typeof parameter === 'string') return holdable(parameter);
  const isArray = typeof parameter === 'object' && parameter !== null && !(parameter instanceof Uint8Array);
  return isArray ? arrayText(parameter) : parameter;
}

/** Statements whose answers nobody awaits, in the order in which they were sent. */
class Sent {
  readonly #answers: Promise<unknown>[] = [];

  constructor(...answers: readonly Promise<unknown>[]) {
    for (const answer of answers) this.add(answer);
  }

  add(answer: Promise<unknown>): void {
    // `all` reports it.
    answer.catch(() => {});
    this.#answers.push(answer);
  }

  /** Rejects like the first that failed. */
  async all(): Promise<void> {
    await Promise.all(this.#answers);
  }

  /** Awaits what may have failed because of one of them: then it rejects like that one. */
  async orFirst<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      await this.all();
      throw error;
    }
  }
}
