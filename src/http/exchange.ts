import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../lib/clock.ts';
import type { Connection } from './connections.ts';
import { drain, isDrainable } from './drain.ts';
import { lingeringClose } from './linger.ts';
import type { Pace } from './pace.ts';
import type { Pipeline } from './pipeline.ts';
import { PROBLEM_TYPE, type Problem, problemBody } from './problem.ts';
import { PacedWriter, releasedPieces, type StreamedBody } from './stream.ts';

/** What an exchange needs of its server. */
export interface ExchangeHost {
  readonly clock: Clock;
  /** Watches the bodies that are being read. */
  readonly pace: Pace;
  /** A client that takes nothing of a streamed body for so long is cut off. */
  readonly bodyTimeoutMs: number;
  /** The server is closing: the last answer of each connection ends it. */
  closing(): boolean;
}

/** Headers of an answer. */
export type Headers = Readonly<Record<string, string>>;

/** One request and the one answer it gets. Answering twice is a bug and throws. */
export class Exchange {
  readonly method: string;
  /** The target's path, still percent-encoded, without the query. */
  readonly path: string;
  /** The client's id for this request if it gave a good one, else ours. In every answer as `X-Request-Id`. */
  readonly requestId: string;
  /** The address at the other end of the connection, normalised; a proxy's when there is one. */
  readonly peer: string;
  /** The request came over TLS. */
  readonly secure: boolean;
  /** The client waits for `100 Continue` before it sends its body (RFC 9110 §10.1.1). */
  readonly expectsContinue: boolean;
  /** The request as Node has it; `http/body.ts` reads from it. */
  readonly request: IncomingMessage;
  readonly clock: Clock;
  /** Whoever reads the body tells it what comes. */
  readonly pace: Pace;
  readonly #pipeline: Pipeline;
  readonly #response: ServerResponse;
  readonly #host: ExchangeHost;
  readonly #search: string;
  readonly #extra: string[] = [];
  #query: URLSearchParams | null = null;
  #endings: (() => void)[] | null = null;
  #abort: AbortController | null = null;
  #answered = false;
  #ended = false;
  #cutOff = false;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    connection: Connection,
    host: ExchangeHost,
    ids: { readonly requestId: string; readonly expectsContinue: boolean },
  ) {
    const target = originForm(request.url ?? '/');
    const mark = target.indexOf('?');
    this.method = request.method ?? 'GET';
    this.path = mark < 0 ? target : target.slice(0, mark);
    this.#search = mark < 0 ? '' : target.slice(mark + 1);
    this.requestId = ids.requestId;
    this.expectsContinue = ids.expectsContinue;
    this.peer = connection.peer;
    this.#pipeline = connection.pipeline;
    this.secure = connection.secure;
    this.clock = host.clock;
    this.pace = host.pace;
    this.request = request;
    this.#response = response;
    this.#host = host;
    response.on('close', () => this.#end());
  }

  /** The request's headers, names in lower case. Of a repeated single-valued header, the first. */
  get headers(): IncomingHttpHeaders {
    return this.request.headers;
  }

  /** The query's parameters, decoded when first asked for. */
  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.#search);
    return this.#query;
  }

  /** The query as sent, without `?`. */
  get search(): string {
    return this.#search;
  }

  /** Its request has been read to its end. */
  get complete(): boolean {
    return this.request.complete;
  }

  /** An answer was given. */
  get answered(): boolean {
    return this.#answered;
  }

  /** Nobody waits for an answer any more: it was sent, the client is gone, or it was cut off. */
  get over(): boolean {
    return this.#ended || this.#cutOff;
  }

  /** Aborts when the exchange ends: answered and sent, or the client gone. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#ended) this.#abort.abort();
    return this.#abort.signal;
  }

  /** Runs `action` once when the exchange ends, however it does. */
  onEnd(action: () => void): void {
    if (this.#ended) {
      action();
      return;
    }
    this.#endings ??= [];
    this.#endings.push(action);
  }

  /** Adds a header to whatever answer comes later, a problem too. */
  setHeader(name: string, value: string): void {
    this.#extra.push(name, value);
  }

  /** Tells the client to go on and send its body, if it waits to be told. */
  sendContinue(): void {
    if (this.expectsContinue) this.#response.writeContinue();
  }

  /** Answers with a value as JSON. */
  json(status: number, value: unknown, headers?: Headers): void {
    this.send(status, 'application/json; charset=utf-8', JSON.stringify(value), headers);
  }

  /** Answers with plain text. */
  text(status: number, text: string, headers?: Headers): void {
    this.send(status, 'text/plain; charset=utf-8', text, headers);
  }

  /** Answers with a problem (RFC 9457). */
  problem(problem: Problem): void {
    this.send(problem.status, PROBLEM_TYPE, problemBody(problem, this.requestId), problem.headers);
  }

  /**
   * Ends an exchange whose request is broken or too slow: answers it if nothing has yet. What its handler
   * answers later is dropped.
   */
  cutOff(problem: Problem): void {
    if (this.#answered) {
      this.#leave();
      return;
    }
    this.#cutOff = true;
    this.#write(problem.status, PROBLEM_TYPE, problemBody(problem, this.requestId), problem.headers);
  }

  /** Answers without a body: 204, 304, a redirection. */
  empty(status: number, headers?: Headers): void {
    this.send(status, null, '', headers);
  }

  /** Answers with a whole body. For `HEAD` the body is left out and its length told. */
  send(status: number, contentType: string | null, body: string | Uint8Array, headers?: Headers): void {
    if (this.#cutOff) return;
    if (this.#answered) throw new Error(`answered twice: ${this.method} ${this.path}`);
    this.#write(status, contentType, body, headers);
  }

  /**
   * Answers with a body that is read only as fast as the client takes it. What goes wrong before anything was sent
   * is thrown and can still be answered; later, or when the client stalls, the connection is cut, so that a
   * client that counts never takes a part for the whole. Ends early when the client has gone.
   */
  async stream(status: number, contentType: string, body: StreamedBody, headers?: Headers): Promise<void> {
    const begin = () => this.#begin(status, contentType, body.sizeBytes, headers);
    if (this.method === 'HEAD') return this.#finish('', begin());
    const writer = new PacedWriter(this.#response, this.clock, this.#host.bodyTimeoutMs);
    let unread: boolean | null = null;
    try {
      for await (const { bytes, last } of releasedPieces(body)) {
        if (this.over) return;
        unread ??= begin();
        if (last) this.#finish(bytes, unread);
        else if (!(await writer.write(bytes))) return void this.request.socket.destroy();
      }
    } catch (error) {
      if (unread !== null) this.request.socket.destroy();
      throw error;
    }
  }

  #write(status: number, contentType: string | null, body: string | Uint8Array, headers?: Headers): void {
    this.#finish(body, this.#begin(status, contentType, byteLength(body), headers));
  }

  /** Writes the head. Gives whether the request's body has not been read to its end. */
  #begin(status: number, contentType: string | null, length: number, headers: Headers = {}): boolean {
    const lines = ['X-Request-Id', this.requestId, ...this.#extra];
    if (contentType !== null) lines.push('Content-Type', contentType);
    if (status !== 204 && status !== 304) lines.push('Content-Length', String(length));
    for (const name in headers) lines.push(name, headers[name] ?? '');
    const unread = !this.#cutOff && hasUnreadBody(this.request);
    const lost = unread && (this.expectsContinue || !isDrainable(this.request));
    const isFarewell = this.#host.closing() && this.#pipeline.isLast(this);
    if (lost || this.#cutOff || isFarewell) lines.push('Connection', 'close');
    this.#writeHead(status, lines);
    return unread;
  }

  #finish(body: string | Uint8Array, unread: boolean): void {
    if (unread) this.#endAfterDraining(body);
    else if (this.#cutOff && this.#isFirst()) this.#endWithConnection(body);
    else this.#response.end(body);
  }

  #writeHead(status: number, lines: string[]): void {
    try {
      this.#response.writeHead(status, lines);
    } catch (error) {
      // A header that cannot be sent must not stand in the way of the 500 that says so.
      this.#extra.length = 0;
      throw error;
    }
    this.#answered = true;
  }

  /** It is this exchange's turn to answer: what it writes now goes out now. */
  #isFirst(): boolean {
    return this.#response.socket !== null;
  }

  /**
   * The client may still be sending, and perhaps does not read before it has sent all. So it is answered at once,
   * the rest is read away for a while, and only then the exchange is ended. The connection lives on if the rest
   * was short.
   */
  #endAfterDraining(body: string | Uint8Array): void {
    this.#flush(body);
    void drain(this.request, this.clock, this.signal).then(() => {
      if (this.#ended) return;
      if (this.request.complete || !this.#isFirst()) this.#response.end();
      else this.#leave();
    });
  }

  /** The last answer of a connection whose bytes cannot be understood any more. */
  #endWithConnection(body: string | Uint8Array): void {
    this.#flush(body);
    this.#leave();
  }

  /** Sends the answer whole, without ending it. */
  #flush(body: string | Uint8Array): void {
    this.#response.flushHeaders();
    if (body.length > 0) this.#response.write(body);
  }

  #leave(): void {
    void lingeringClose(this.request.socket, this.clock);
    this.#end();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#abort?.abort();
    for (const action of this.#endings ?? []) action();
    this.#endings = null;
  }
}

/** RFC 9112 §3.2.2: a server must take the absolute form too. */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  return target.replace(/^https?:\/\/[^/?]*/i, '') || '/';
}

function byteLength(body: string | Uint8Array): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}

function hasUnreadBody(request: IncomingMessage): boolean {
  if (request.complete) return false;
  const { headers } = request;
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
