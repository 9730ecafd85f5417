import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Connection } from './connections.ts';

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
const LOOK_MS = 1000;

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
  /** Whoever stands still longest comes first. */
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
