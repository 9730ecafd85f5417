import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Connection } from './connections.ts';

/** A body that is being read. */
export interface PacedBody {
  /** Bytes that came since the last look; the reader adds them. */
  bytes: number;
  /** Monotonic ms of the last look. */
  since: number;
  readonly onSlow: (minBytesPerSecond: number) => void;
}

const WINDOW_MS = 10_000;
/** Time between two looks. */
const LOOK_MS = 1000;

/**
 * Watches that bodies come in at a least pace, measured over ten seconds (`api.min_body_bytes_per_second`): a
 * client that sends a byte now and then would hold its connection and its share of memory for the whole time
 * that a body may take. One timer serves all; it runs only while a body is being read.
 */
export class Pace {
  readonly #clock: Clock;
  readonly #minBytesPerSecond: () => number;
  readonly #bodies = new Set<PacedBody>();
  readonly #stopping = new AbortController();
  #running = false;

  /** The least pace is asked for at every look, so that it may change; 0 means any. */
  constructor(clock: Clock, minBytesPerSecond: () => number) {
    this.#clock = clock;
    this.#minBytesPerSecond = minBytesPerSecond;
  }

  /** Begins to watch a body; `onSlow` is called once at most, with the pace that it fell short of. */
  watch(onSlow: (minBytesPerSecond: number) => void): PacedBody {
    const body: PacedBody = { bytes: 0, since: this.#clock.mono(), onSlow };
    this.#bodies.add(body);
    if (!this.#running) void this.#run();
    return body;
  }

  /** The body has ended, one way or another. */
  forget(body: PacedBody): void {
    this.#bodies.delete(body);
  }

  /** Stops looking. */
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
  /** Bytes of answers that wait for their clients, over all connections. */
  readonly maxUnsentBytes: number;
  /** A client that takes nothing of its answer for so long is cut off. */
  readonly bodyTimeoutMs: number;
}

/** What one connection has not taken yet. */
interface Debt {
  bytes: number;
  /** Monotonic ms of the last sign that the client reads, or of when there began to be something to read. */
  since: number;
}

/** What an answer costs besides its body: its head, and our own records. */
const ANSWER_BYTES = 1024;

/**
 * The answers of a server that their clients have not taken yet. Who asks and does not read would have us keep
 * answers without end: so a connection that takes nothing for a while is ended, and when all of them together are
 * owed too much, those that have stood still longest are. One timer serves all; it runs only while
 * something is unsent.
 */
export class UnsentAnswers {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #limits: UnsentLimits;
  /** The connection that stands still longest comes first. */
  readonly #debts = new Map<Connection, Debt>();
  readonly #stopping = new AbortController();
  #bytes = 0;
  #running = false;

  constructor(clock: Clock, log: Log, limits: UnsentLimits) {
    this.#clock = clock;
    this.#log = log;
    this.#limits = limits;
  }

  /** Counts a body of so many bytes as unsent. The function it gives is to be called once they were taken. */
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

  /** The connection has ended; what it was owed is gone. */
  forget(connection: Connection): void {
    this.#bytes -= this.#debts.get(connection)?.bytes ?? 0;
    this.#debts.delete(connection);
  }

  /** Stops looking. */
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
        // Else an answer that is not ready yet stands in the way: that is our fault.
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
