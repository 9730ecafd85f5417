import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Problem } from './problem.ts';

/** What a pipeline knows of an exchange under way. */
export interface Answerable {
  readonly requestId: string;
  /** Whether its request was read to its end. */
  readonly complete: boolean;
  readonly answered: boolean;
  /** Ends it: the rest of its request is lost. */
  cutOff(problem: Problem): void;
  /** Ends it: the connection is gone. */
  abandon(): void;
}

/** Counts the requests held back by all connections of a server. */
export interface Backlog {
  held: number;
  readonly max: number;
}

/** A request that was read but not begun. */
interface Held {
  readonly request: IncomingMessage;
  readonly begin: () => void;
}

/**
 * The requests of one connection, in order of arrival. At most `max` are in progress at once. Node parses everything
 * that a read from the socket brings, a few thousand small requests at worst; those beyond `max` are held back, and the
 * socket is not read until none is. When the backlog of all connections is full as well, this connection accepts no
 * more: requests begun or held are answered, then it ends, and the client sends the rest again (RFC 9112 §9.3.2).
 */
export class Pipeline {
  readonly #socket: Socket;
  readonly #max: number;
  readonly #backlog: Backlog;
  readonly #running = new Set<Answerable>();
  #held: Held[] = [];
  #listening = false;
  #unused = true;
  #farewell: (() => void) | null = null;

  constructor(socket: Socket, max: number, backlog: Backlog) {
    this.#socket = socket;
    this.#max = max;
    this.#backlog = backlog;
  }

  get idle(): boolean {
    return this.#running.size === 0 && this.#held.length === 0;
  }

  /** No request has come yet. */
  get unused(): boolean {
    return this.#unused;
  }

  /** Whether the next step is the client's: to ask, to send the rest of a request, or to read an answer. */
  get waitsForClient(): boolean {
    for (const exchange of this.#running) return exchange.answered || !exchange.complete;
    return true;
  }

  /** It accepts no more requests. */
  get finishing(): boolean {
    return this.#farewell !== null;
  }

  /** The exchange whose request is still being read, if any. */
  get reading(): Answerable | null {
    for (const exchange of this.#running) if (!exchange.complete) return exchange;
    return null;
  }

  /** The client has an answer to read: the one whose turn it is has begun. */
  get answering(): boolean {
    for (const exchange of this.#running) return exchange.answered;
    return false;
  }

  /** Whether nothing remains to be answered after this exchange. */
  isLast(exchange: Answerable): boolean {
    return this.#held.length === 0 && [...this.#running].at(-1) === exchange;
  }

  /** Begins a request now, or when its turn comes. `begin` must call {@link add}. */
  take(request: IncomingMessage, begin: () => void): void {
    this.#unused = false;
    if (this.#farewell !== null) return;
    if (this.#held.length === 0 && this.#running.size < this.#max) begin();
    else if (this.#backlog.held < this.#backlog.max) this.#hold({ request, begin });
    else this.finish(() => this.#socket.destroySoon());
  }

  /** An exchange has begun. */
  add(exchange: Answerable): void {
    this.#running.add(exchange);
  }

  /** An exchange has ended; it is the next one's turn. */
  ended(exchange: Answerable): void {
    this.#running.delete(exchange);
    const wereHeld = this.#held.length > 0;
    while (this.#running.size < this.#max) {
      const next = this.#held.shift();
      if (next === undefined) break;
      this.#backlog.held -= 1;
      next.begin();
    }
    if (wereHeld && this.#held.length === 0) this.#socket.resume();
    this.#leaveIfIdle();
  }

  /** Accepts no more requests; runs `farewell` once all are answered. The first call counts. */
  finish(farewell: () => void): void {
    if (this.#farewell !== null) return;
    this.#farewell = farewell;
    // The rest of the last request will not arrive.
    const last = this.#held.at(-1);
    if (last !== undefined && !last.request.complete) {
      this.#held.pop();
      this.#backlog.held -= 1;
    }
    this.#leaveIfIdle();
  }

  /** Begins nothing more: requests in progress are answered, held ones dropped. Then runs `farewell`. */
  stop(farewell: () => void): void {
    this.#backlog.held -= this.#held.length;
    this.#held = [];
    this.finish(farewell);
  }

  /** The connection is lost: ends everything at once, whosever turn it is. */
  abandon(): void {
    this.stop(() => {});
    for (const exchange of this.#running) exchange.abandon();
  }

  #hold(held: Held): void {
    this.#held.push(held);
    this.#backlog.held += 1;
    if (!this.#listening) {
      this.#listening = true;
      // Reading a body also resumes the socket.
      this.#socket.on('resume', () => {
        if (this.#held.length > 0) this.#socket.pause();
      });
    }
    this.#socket.pause();
  }

  #leaveIfIdle(): void {
    if (this.idle) this.#farewell?.();
  }
}
