import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Connection } from './connections.ts';

/** A body that is being read. */
export interface PacedBody {
  /** Bytes since the last check; the reader adds them. */
  bytes: number;
  /** Monotonic ms of the last check. */
  since: number;
  readonly onSlow: (minBytesPerSecond: number) => void;
}

const WINDOW_MS = 10_000;
/** Time between two checks. */
const LOOK_MS = 1000;

/**
 * Requires a least pace of bodies, measured over ten seconds (`api.min_body_bytes_per_second`): a client that sends a
 * byte now and then would hold its connection and its share of memory for the whole time that a body may take. One
 * timer serves all; it runs only while a body is being read.
 */
export class Pace {
  readonly #clock: Clock;
  readonly #minBytesPerSecond: () => number;
  readonly #bodies = new Set<PacedBody>();
  readonly #stopping = new AbortController();
  #running = false;

  /** The least pace is read at every check, so it may change; 0 means any. */
  constructor(clock: Clock, minBytesPerSecond: () => number) {
    this.#clock = clock;
    this.#minBytesPerSecond = minBytesPerSecond;
  }

  /** Begins to watch a body; `onSlow` is called at most once, with the pace required. */
  watch(onSlow: (minBytesPerSecond: number) => void): PacedBody {
    const body: PacedBody = { bytes: 0, since: this.#clock.mono(), onSlow };
    this.#bodies.add(body);
    if (!this.#running) void this.#run();
    return body;
  }

  /** The body has ended, for whatever reason. */
  forget(body: PacedBody): void {
    this.#bodies.delete(body);
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #run(): Promise<void> {
    this.#running = true;
    const { signal } = this.#stopping;
    while (this.#bodies.size > 0 && !signal.aborted) {
      await this.#clock.sleep(LOOK_MS, signal);
      const now = this.#clock.mono();
      for (const body of this.#bodies) this.#look(body, now);
    }
    this.#running = false;
  }

  #look(body: PacedBody, now: number): void {
    const elapsedMs = now - body.since;
    if (elapsedMs < WINDOW_MS) return;
    const minimum = this.#minBytesPerSecond();
    if (body.bytes * 1000 < minimum * elapsedMs) {
      this.#bodies.delete(body);
      body.onSlow(minimum);
      return;
    }
    body.bytes = 0;
    body.since = now;
  }
}

/** Bounds on {@link UnsentAnswers}. */
export interface UnsentLimits {
  /** Bytes of untaken answers, over all connections. */
  readonly maxUnsentBytes: number;
  /** How long a client may take nothing of its answer before it is cut off. */
  readonly bodyTimeoutMs: number;
}

/** What one connection has not taken yet. */
interface Debt {
  bytes: number;
  /** Monotonic ms of the last sign that the client reads, or of when there was something to read. */
  since: number;
}

/** The cost of an answer besides its body: its head, and our own records. */
const ANSWER_BYTES = 1024;

/**
 * The answers of a server that their clients have not taken yet. Clients that ask without reading would make us keep
 * answers without limit: so a connection that takes nothing for a while is ended and, when all together have too much
 * untaken, the longest stalled ones are. One timer serves all; it runs only while something is unsent.
 */
export class UnsentAnswers {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #limits: UnsentLimits;
  /** The longest stalled connection comes first. */
  readonly #debts = new Map<Connection, Debt>();
  readonly #stopping = new AbortController();
  #bytes = 0;
  #running = false;

  constructor(clock: Clock, log: Log, limits: UnsentLimits) {
    this.#clock = clock;
    this.#log = log;
    this.#limits = limits;
  }

  /** Counts a body as unsent. Call the returned function once it was taken. */
  add(connection: Connection, bodyBytes: number): () => void {
    const bytes = bodyBytes + ANSWER_BYTES;
    const debt = this.#debts.get(connection) ?? this.#open(connection);
    debt.bytes += bytes;
    this.#bytes += bytes;
    while (this.#bytes > this.#limits.maxUnsentBytes && this.#debts.size > 1) this.#endStillest();
    let open = true;
    return () => {
      if (!open || this.#debts.get(connection) !== debt) return;
      open = false;
      debt.bytes -= bytes;
      this.#bytes -= bytes;
      if (debt.bytes === 0) this.#debts.delete(connection);
      else this.progressed(connection);
    };
  }

  /** The client reads, or now has something to read. */
  progressed(connection: Connection): void {
    const debt = this.#debts.get(connection);
    if (debt === undefined) return;
    debt.since = this.#clock.mono();
    this.#debts.delete(connection);
    this.#debts.set(connection, debt);
  }

  forget(connection: Connection): void {
    this.#bytes -= this.#debts.get(connection)?.bytes ?? 0;
    this.#debts.delete(connection);
  }

  stop(): void {
    this.#stopping.abort();
  }

  #open(connection: Connection): Debt {
    const debt = { bytes: 0, since: this.#clock.mono() };
    this.#debts.set(connection, debt);
    if (!this.#running) void this.#run();
    return debt;
  }

  async #run(): Promise<void> {
    this.#running = true;
    const { signal } = this.#stopping;
    while (this.#debts.size > 0 && !signal.aborted) {
      await this.#clock.sleep(Math.min(LOOK_MS, this.#limits.bodyTimeoutMs), signal);
      const stalledSince = this.#clock.mono() - this.#limits.bodyTimeoutMs;
      for (const [connection, { since }] of this.#debts) {
        if (since > stalledSince) break;
        // Otherwise it waits for an answer that is not ready, which is our fault.
        if (connection.pipeline.answering) this.#end(connection, 'answer_timeout');
      }
    }
    this.#running = false;
  }

  #endStillest(): void {
    const [stillest] = this.#debts.keys();
    if (stillest !== undefined) this.#end(stillest, 'overloaded');
  }

  #end(connection: Connection, code: string): void {
    const debt = this.#debts.get(connection);
    if (debt === undefined) return;
    this.#log.info('http.answer_not_read', { code, unsentBytes: debt.bytes, source: connection.peer });
    this.forget(connection);
    connection.socket.destroy();
  }
}
