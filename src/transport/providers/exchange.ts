/**
 * One HTTP exchange (RFC 9112) over one connection. Its main concern is what a failure means: the last bytes of the
 * body are held back until all others are sent, so that nobody can have processed the request before them. Redirects
 * are not followed: they are answers like any other. An answer before the whole request was sent ends the exchange,
 * unless it reports success: that counts only once everything is sent, so reading pauses until then.
 */
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Clock } from '../../lib/clock.ts';
import { yieldToLoop } from '../../lib/clock.ts';
import type { Connection } from './connections.ts';
import { MAX_ANSWER_BYTES, MAX_BODY_BYTES, type ProviderTimeouts } from './limits.ts';
import type { HttpAnswer, ProviderRequest } from './provider.ts';
import { abortTrouble, lostTrouble, overlongTrouble, type Trouble, timeoutTrouble } from './trouble.ts';

/** How an exchange ended. `isBegun`: some of the request was sent; `isWhole`: its last byte was handed over. */
export type Exchanged =
  | {
      readonly kind: 'answer';
      readonly answer: HttpAnswer;
      readonly phrase: string;
      readonly isWhole: boolean;
    }
  | {
      readonly kind: 'none';
      readonly trouble: Trouble;
      readonly isBegun: boolean;
      readonly isWhole: boolean;
    };

export interface ExchangeTerms {
  readonly host: string;
  readonly clock: Clock;
  readonly timeouts: ProviderTimeouts;
}

/** When an exchange reached each point, in monotonic ms; null: never. */
export interface Passed {
  startedAt: number | null;
  sentAt: number | null;
  answeredAt: number | null;
}

/** Bytes of a body written at once. */
const CHUNK_BYTES = 64 * 1024;
/** Bytes held back: more than the closing part of any form or JSON text. */
const HELD_BYTES = 8;

/** Sends a request and reads the answer. Ends soon after `signal` aborts, and never rejects. */
export function exchange(
  connection: Connection,
  request: ProviderRequest,
  terms: ExchangeTerms,
  passed: Passed,
  signal: AbortSignal,
): Promise<Exchanged> {
  return new Exchange(connection, request, terms, passed).run(signal);
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #connection: Connection;
  readonly #request: ProviderRequest;
  readonly #terms: ExchangeTerms;
  readonly #passed: Passed;
  readonly #bytes: number;
  readonly #ended = Promise.withResolvers<Exchanged>();
  readonly #body: Buffer[] = [];
  #bodyBytes = 0;
  #sentBytes = 0;
  #isWhole = false;
  #isOver = false;
  #head: {
    readonly status: number;
    readonly phrase: string;
    readonly headers: HttpAnswer['headers'];
  } | null = null;
  /** The whole request was written, though it may not have left us yet. */
  #isWritten = false;
  /** A success that arrived before the whole request was sent, with reading paused; `let_go`: resumed since. */
  #early: Dispatcher.DispatchController | 'let_go' | null = null;
  #timer = new AbortController();

  constructor(connection: Connection, request: ProviderRequest, terms: ExchangeTerms, passed: Passed) {
    this.#connection = connection;
    this.#request = request;
    this.#terms = terms;
    this.#passed = passed;
    this.#bytes = request.body.reduce((sum, { length }) => sum + length, 0);
  }

  async run(signal: AbortSignal): Promise<Exchanged> {
    const { client } = this.#connection;
    const { method, url, headers } = this.#request;
    const { pathname, search } = new URL(url);
    const length = method === 'POST' ? { 'content-length': String(this.#bytes) } : {};
    const abort = () => this.#giveUp(abortTrouble());
    signal.addEventListener('abort', abort, { once: true });
    this.#connection.requests += 1;
    // What is neither head nor body has no end of its own: interim answers, extensions of chunks, trailers.
    const unwatch = this.#connection.watch(MAX_ANSWER_BYTES, () =>
      this.#giveUp(overlongTrouble(this.#terms.host, MAX_ANSWER_BYTES)),
    );
    this.#within('send');
    // undici accepts iterables, though its types do not.
    const body = this.#bytes === 0 ? null : (this.#chunks() as unknown as Readable);
    client.dispatch({ method, path: pathname + search, headers: { ...headers, ...length }, body }, this);
    if (signal.aborted) abort();
    const result = await this.#ended.promise;
    unwatch();
    signal.removeEventListener('abort', abort);
    return result;
  }

  onRequestStart(): void {
    this.#passed.startedAt = this.#terms.clock.mono();
    if (this.#bytes === 0) this.#sent();
  }

  /** Called after the socket has taken a piece. */
  onBodySent(chunk: Buffer): void {
    this.#sentBytes += chunk.length;
    if (this.#sentBytes === this.#bytes) this.#sent();
    else this.#within('send');
  }

  onRequestSent(): void {
    this.#isWritten = true;
    if (this.#early !== null) this.#connection.flush(() => this.#letGo());
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
    phrase = '',
  ): void {
    // Interim answers (RFC 9110 §15.2) are ignored.
    if (status < 200 || this.#isOver) return;
    this.#passed.answeredAt = this.#terms.clock.mono();
    this.#head = { status, phrase, headers: firstOf(headers) };
    if (status < 300 && !(this.#isWritten && this.#connection.isFlushed())) this.#holdUntilSent(controller);
    else this.#within('body');
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    this.#body.push(chunk.subarray(0, MAX_BODY_BYTES - this.#bodyBytes));
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > MAX_BODY_BYTES) this.#cut();
  }

  onResponseEnd(): void {
    // The connection's close also ends an answer that is paused.
    if (this.#isHeld) this.#giveUp(lostTrouble(this.#terms.host, null));
    else this.#end(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#giveUp(lostTrouble(this.#terms.host, error));
  }

  get #isHeld(): boolean {
    return this.#early !== null && this.#early !== 'let_go';
  }

  /** At the end of an answer undici drops the connection, and any unsent part of the request with it. */
  #holdUntilSent(controller: Dispatcher.DispatchController): void {
    controller.pause();
    this.#early = controller;
    if (this.#isWritten) this.#connection.flush(() => this.#letGo());
  }

  #letGo(): void {
    const early = this.#early;
    if (early === null || early === 'let_go' || this.#isOver) return;
    this.#early = 'let_go';
    this.#within('body');
    early.resume();
  }

  #sent(): void {
    this.#isWhole = true;
    this.#passed.sentAt = this.#terms.clock.mono();
    if (this.#head === null) this.#within('answer');
  }

  /** The body in pieces. When the last is requested, the socket has taken the others. */
  async *#chunks(): AsyncGenerator<Uint8Array> {
    const pieces = piecesOf(this.#request.body);
    const last = pieces.pop();
    for (const piece of pieces) yield piece;
    // Notices in this turn of the loop that the server closed the connection while idle.
    await yieldToLoop();
    if (last !== undefined && !this.#isOver) yield last;
  }

  /** Starts the time-out of a step, and stops that of the one before. */
  #within(step: 'send' | 'answer' | 'body'): void {
    this.#timer.abort();
    if (this.#isOver) return;
    const timer = new AbortController();
    this.#timer = timer;
    const ms = this.#terms.timeouts[step];
    void this.#terms.clock.sleep(ms, timer.signal).then(() => {
      if (!timer.signal.aborted) this.#giveUp(timeoutTrouble(step, this.#terms.host, ms));
    });
  }

  #cut(): void {
    this.#end(null);
    this.#connection.destroy();
  }

  #giveUp(trouble: Trouble): void {
    if (this.#isOver) return;
    this.#end(trouble);
    this.#connection.destroy();
  }

  /**
   * An answer with an incomplete body is still an answer: its status says most. Not so a success from before the whole
   * request was sent: it says nothing about the rest.
   */
  #end(trouble: Trouble | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer.abort();
    const head = this.#head;
    const isWhole = this.#isWhole;
    const { resolve } = this.#ended;
    if (head === null || (trouble !== null && this.#early !== null)) {
      const isBegun = this.#passed.startedAt !== null;
      resolve({ kind: 'none', trouble: trouble ?? lostTrouble(this.#terms.host, null), isBegun, isWhole });
    } else {
      const { status, headers, phrase } = head;
      const answer = { status, headers, body: Buffer.concat(this.#body).toString() };
      resolve({ kind: 'answer', answer, phrase, isWhole });
    }
  }
}

function firstOf(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [
    name.toLowerCase(),
    (Array.isArray(value) ? value[0] : value) ?? '',
  ]);
  return Object.fromEntries(entries);
}

/** The body in pieces of at most 64 KiB; the last is short, so that at least one precedes it. */
function piecesOf(body: readonly Uint8Array[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (const part of body) {
    for (let at = 0; at < part.length; at += CHUNK_BYTES) pieces.push(part.subarray(at, at + CHUNK_BYTES));
  }
  const last = pieces.pop();
  if (last === undefined) return pieces;
  const cut = Math.max(last.length - HELD_BYTES, Math.min(1, last.length - 1));
  if (cut > 0) pieces.push(last.subarray(0, cut));
  pieces.push(last.subarray(cut));
  return pieces;
}
