import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Problem } from './problem.ts';

/** What a pipeline knows of an exchange under way. */
export interface Answerable {
  readonly requestId: string;
  /** Its request has been read to its end. */
  readonly complete: boolean;
  readonly answered: boolean;
  /** Ends it: the rest of its request is lost. */
  cutOff(problem: Problem): void;
  /** Ends it: the connection is gone. */
  abandon(): void;
}

/** Counts the requests that all connections of a server hold back together. */
export interface Backlog {
  held: number;
  readonly max: number;
}

/** A request that has been read and not yet begun. */
interface Held {
  readonly request: IncomingMessage;
  readonly begin: () => void;
}

/**
 * The requests of one connection, in order of arrival. At most `max` are at work at once. Node parses all that a
 * read from the socket brings, a few thousand small requests at worst; those beyond `max` are held back, and
 * the socket is not read until none is. When the backlog of all connections is full as well, this connection
 * takes no more: what was begun or held is answered, then it ends, and the client sends the rest anew
 * (RFC 9112 §9.3.2).
 */
export class Pipeline {
  readonly #socket: Socket;
  readonly #max: number;
  readonly #backlog: Backlog;
  readonly #running = new Set<Answerable>();
  #held: Held[] = [];
  #listening = false;
  #farewell: (() => void) | null = null;

  constructor(socket: Socket, max: number, backlog: Backlog) {
    this.#socket = socket;
    this.#max = max;
    this.#backlog = backlog;
  }

  /** Nothing is at work or waits for its turn. */
  get idle(): boolean {
    return this.#running.size === 0 && this.#held.length === 0;
  }

  /** What is done next is its client's to do: to ask, to send the rest of a request, or to read an answer. */
  get waitsForClient(): boolean {
    for (const exchange of this.#running) return exchange.answered || !exchange.complete;
    return true;
  }

  /** It takes no more requests. */
  get finishing(): boolean {
    return this.#farewell !== null;
  }

  /** The exchange whose request is still being read, if one is. */
  get reading(): Answerable | null {
    for (const exchange of this.#running) if (!exchange.complete) return exchange;
    return null;
  }

  /** Its client has an answer to read: that of the request whose turn it is has begun. */
  get answering(): boolean {
    for (const exchange of this.#running) return exchange.answered;
    return false;
  }

  /** Nothing that it has is to be answered behind this exchange. */
  isLast(exchange: Answerable): boolean {
    return this.#held.length === 0 && [...this.#running].at(-1) === exchange;
  }

  /** Begins a request now, or when its turn comes. `begin` is expected to call {@link add}. */
  take(request: IncomingMessage, begin: () => void): void {
    if (this.#farewell !== null) return;
    if (this.#held.length === 0 && this.#running.size < this.#max) begin();
    else if (this.#backlog.held < this.#backlog.max) this.#hold({ request, begin });
    else this.finish(() => this.#socket.destroySoon());
  }

  /** An exchange has begun. */
  add(exchange: Answerable): void {
    this.#running.add(exchange);
  }

  /** An exchange has ended; the next one's turn has come. */
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

  /** Takes no more requests; runs `farewell` once all that it has are answered. The first call counts. */
  finish(farewell: () => void): void {
    if (this.#farewell !== null) return;
    this.#farewell = farewell;
    // The last one's rest will not come.
    const last = this.#held.at(-1);
    if (last !== undefined && !last.request.complete) {
      this.#held.pop();
      this.#backlog.held -= 1;
    }
    this.#leaveIfIdle();
  }

  /** Begins nothing further: what is at work is answered, what is held back is dropped. Then runs `farewell`. */
  stop(farewell: () => void): void {
    this.#backlog.held -= this.#held.length;
    this.#held = [];
    this.finish(farewell);
  }

  /** The connection is gone: ends all at once, whether its turn to answer had come or not. */
  abandon(): void {
    this.stop(() => {});
    for (const exchange of this.#running) exchange.abandon();
  }

  #hold(held: Held): void {
    this.#held.push(held);
    this.#backlog.held += 1;
    if (!this.#listening) {
      this.#listening = true;
      // Reading a body resumes the socket as well.
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
