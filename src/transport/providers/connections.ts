/** The connections of one relay: a limited number, one request at a time over each, kept while idle for the next. */
import type { Client } from 'undici';
import { type DialTerms, dial } from './dial.ts';
import { KEEP_ALIVE_MAX_MS, KEEP_ALIVE_MS, MAX_HEAD_BYTES } from './limits.ts';
import type { ConnectionFacts, ProviderTrace } from './trace.ts';
import { abortTrouble } from './trouble.ts';

/** One connection. */
export interface Connection {
  readonly origin: string;
  readonly client: Client;
  readonly facts: ConnectionFacts;
  /** Requests made over it so far. */
  requests: number;
  /** Whether it can no longer be used. */
  isClosed(): boolean;
  /** Whether everything written has left this process. */
  isFlushed(): boolean;
  /** Calls back once flushed, or once that became impossible. Always asynchronous. */
  flush(then: () => void): void;
  /** Calls back each time when more than `most` bytes have come since now. Returns the end of that. */
  watch(most: number, then: () => void): () => void;
  /** Closes it at once, even with a request under way. */
  destroy(): void;
}

/** The pool of one relay's connections. */
export class Connections {
  readonly #max: number;
  /** How they are opened, and how long their requests may take. */
  readonly terms: DialTerms;
  readonly #idle: Connection[] = [];
  readonly #open = new Set<Connection>();
  readonly #waiting = new Set<() => void>();
  /** Slots in use: busy connections, and those being opened. */
  #working = 0;
  #isClosing = false;

  constructor(max: number, terms: DialTerms) {
    this.#max = max;
    this.terms = terms;
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * A connection to an origin: an idle one, unless it must be fresh. Waits for a slot when all are busy. Throws
   * `Trouble`. The caller must give every connection back.
   */
  async take(origin: URL, fresh: boolean, trace: ProviderTrace, signal: AbortSignal): Promise<Connection> {
    await this.#place(signal);
    try {
      const idle = fresh ? undefined : this.#takeIdle(origin.origin);
      if (idle !== undefined) return idle;
      this.#makeRoom();
      // Imported only here: it loads slowly, and many installations have no HTTP provider.
      const undici = await import('undici');
      return this.#adopt(undici.Client, origin, await dial(origin, this.terms, trace, signal));
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  giveBack(connection: Connection): void {
    this.#leave();
    if (this.#isClosing) connection.destroy();
    if (!connection.isClosed()) this.#idle.push(connection);
  }

  /** Closes idle connections now, busy ones once they are given back. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const connection of this.#idle.splice(0)) connection.destroy();
    while (this.#working > 0) await this.#untilLeft();
  }

  #takeIdle(origin: string): Connection | undefined {
    const index = this.#idle.findLastIndex((connection) => connection.origin === origin);
    return index < 0 ? undefined : this.#idle.splice(index, 1)[0];
  }

  /** Idle connections count too: the oldest makes room for a new one. */
  #makeRoom(): void {
    if (this.#idle.length + this.#working > this.#max) this.#idle.shift()?.destroy();
  }

  #adopt(
    HttpClient: typeof Client,
    origin: URL,
    { socket, facts }: Awaited<ReturnType<typeof dial>>,
  ): Connection {
    let isGiven = false;
    const client = new HttpClient(origin.origin, {
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: MAX_HEAD_BYTES,
      // Our own time-outs use our clock, and know what was sent.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
      connect: (_options, callback) => {
        const isAgain = isGiven;
        isGiven = true;
        // Asynchronous, because undici is busy here. A second call means that undici reconnects by itself: the pending
        // request was not sent, and this error says so.
        queueMicrotask(() =>
          isAgain ? callback(new Error('the connection is gone'), null) : callback(null, socket),
        );
      },
    });
    const forget = () => {
      this.#open.delete(connection);
      const index = this.#idle.indexOf(connection);
      if (index >= 0) this.#idle.splice(index, 1);
    };
    const connection: Connection = {
      origin: origin.origin,
      client,
      facts,
      requests: 0,
      isClosed: () => socket.destroyed || socket.readableEnded,
      isFlushed: () => socket.writableLength === 0,
      flush: (then) => void socket.write('', then),
      watch: (most, then) => {
        const from = socket.bytesRead;
        const look = () => {
          if (socket.bytesRead - from > most) then();
        };
        socket.on('readable', look);
        return () => void socket.off('readable', look);
      },
      destroy: () => {
        forget();
        void client.destroy();
        socket.destroy();
      },
    };
    this.#open.add(connection);
    socket.on('error', () => {});
    socket.once('close', forget);
    return connection;
  }

  /** Waits for a slot; throws when told to stop first. */
  async #place(signal: AbortSignal): Promise<void> {
    while (this.#working >= this.#max) {
      if (signal.aborted) break;
      await this.#untilLeft(signal);
    }
    if (signal.aborted || this.#isClosing) throw abortTrouble();
    this.#working += 1;
  }

  #leave(): void {
    this.#working -= 1;
    for (const wake of [...this.#waiting]) wake();
  }

  #untilLeft(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }
}
