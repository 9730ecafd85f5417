import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { Clock } from '../lib/clock.ts';
import { type CidrSet, normaliseAddress } from '../lib/network.ts';
import { Answer, type AnswerHost, type Headers } from './answer.ts';
import type { Connection } from './connections.ts';
import { Ending } from './ending.ts';
import { parseQuery, parseTarget, type Target } from './form.ts';
import { PROBLEM_TYPE, type Problem, problemBody, problemJson } from './problem.ts';
import type { Pace } from './slow-clients.ts';
import type { Flow, StreamedBody } from './stream.ts';

/** What an exchange needs of its server. */
export interface ExchangeHost extends AnswerHost {
  /** Watches bodies that are being read. */
  readonly pace: Pace;
}

/** One request and its single answer. Answering twice is a bug and throws. */
export class Exchange {
  readonly method: string;
  /** The client's id for this request if it is valid, otherwise ours. In every answer as `X-Request-Id`. */
  readonly requestId: string;
  /** The address at the other end of the connection, normalised; a proxy's when there is one. */
  readonly peer: string;
  readonly secure: boolean;
  /** The client waits for `100 Continue` before it sends its body (RFC 9110 §10.1.1). */
  readonly expectsContinue: boolean;
  /** Node's request; `http/body.ts` reads from it. */
  readonly request: IncomingMessage;
  readonly clock: Clock;
  /** The body's reader reports to it what arrives. */
  readonly pace: Pace;
  readonly #target: Target;
  readonly #answer: Answer;
  readonly #handling = new Ending();
  #query: URLSearchParams | null = null;
  #cutOffBy: Problem | null = null;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    connection: Connection,
    host: ExchangeHost,
    ids: { readonly requestId: string; readonly expectsContinue: boolean },
  ) {
    this.method = request.method ?? 'GET';
    this.#target = parseTarget(request.url ?? '/');
    this.requestId = ids.requestId;
    this.expectsContinue = ids.expectsContinue;
    this.peer = connection.peer;
    this.secure = connection.secure;
    this.clock = host.clock;
    this.pace = host.pace;
    this.request = request;
    this.#answer = new Answer(request, response, connection, host, this);
    this.#answer.sent.whenOver(() => this.#handling.end());
  }

  /** The target's path, still percent-encoded, without the query. */
  get path(): string {
    return this.#target.path;
  }

  /** The query as sent, without `?`. */
  get search(): string {
    return this.#target.search;
  }

  /** The query's parameters, decoded when first asked for. Throws as {@link parseQuery}. */
  get query(): URLSearchParams {
    this.#query ??= parseQuery(this.search);
    return this.#query;
  }

  /** The request's headers, names in lower case. Of a repeated single-valued header, the first. */
  get headers(): IncomingHttpHeaders {
    return this.request.headers;
  }

  /** Whether the request was read to its end. */
  get complete(): boolean {
    return this.request.complete;
  }

  get answered(): boolean {
    return this.#answer.begun;
  }

  /** The status of its answer; null: there is none yet. */
  get status(): number | null {
    return this.#answer.status;
  }

  /** Why it was cut off; null: it was not. */
  get cutOffBy(): Problem | null {
    return this.#cutOffBy;
  }

  /** Nobody waits for an answer any more: it was sent, the client has left, or it was cut off. */
  get over(): boolean {
    return this.#handling.over;
  }

  /** Aborts when the exchange is over. */
  get signal(): AbortSignal {
    return this.#handling.signal;
  }

  /** Runs `action` once when the exchange is over, for whatever reason. */
  onEnd(action: () => void): void {
    this.#handling.whenOver(action);
  }

  /** Runs `action` once when the answer has left, or has no taker: perhaps long after the exchange is over. */
  onSent(action: () => void): void {
    this.#answer.sent.whenOver(action);
  }

  /** Adds a header to any later answer, including a problem. */
  setHeader(name: string, value: string): void {
    this.#answer.setHeader(name, value);
  }

  /** Tells a client that waits for 100 Continue to send its body. */
  sendContinue(): void {
    this.#answer.sendContinue();
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

  /** Answers without a body: 204, 304, a redirection. */
  empty(status: number, headers?: Headers): void {
    this.send(status, null, '', headers);
  }

  /** Answers with a whole body. For `HEAD` the body is left out, but its length sent. */
  send(status: number, contentType: string | null, body: string | Uint8Array, headers?: Headers): void {
    if (this.#isDropped()) return;
    this.#answer.whole({ status, contentType, headers }, body);
  }

  /**
   * Answers with a body that is read only as fast as the client takes it. An error before anything was sent is thrown
   * and can still be answered; later, or when the client stalls, the connection is cut, so that a client that counts
   * never takes a part for the whole. Ends early when the client has left.
   */
  async stream(status: number, contentType: string, body: StreamedBody, headers?: Headers): Promise<void> {
    if (this.#isDropped()) return;
    await this.#answer.stream({ status, contentType, headers }, body);
  }

  /** Begins an answer of unknown length; null when nobody is there to take it. */
  flow(status: number, contentType: string, headers?: Headers): Flow | null {
    return this.#isDropped() ? null : this.#answer.flow({ status, contentType, headers });
  }

  /**
   * Ends an exchange whose request is broken or too slow, and answers it if nothing has yet. A later answer of its
   * handler is dropped, and its resources are returned at once, even if its turn to answer comes later.
   */
  cutOff(problem: Problem): void {
    if (this.answered) {
      this.#answer.leave();
      return;
    }
    this.#cutOffBy = problem;
    const head = { status: problem.status, contentType: PROBLEM_TYPE, headers: problem.headers };
    this.#answer.last(head, problemBody(problem, this.requestId));
    this.#handling.end();
  }

  /** Its connection is lost. */
  abandon(): void {
    this.#answer.sent.end();
  }

  /** Whether an answer would have no reader. Throws if there was an answer already. */
  #isDropped(): boolean {
    if (this.#cutOffBy !== null) return true;
    if (this.answered) throw new Error(`answered twice: ${this.method} ${this.path}`);
    return this.over;
  }
}

/**
 * The client's address: the peer's or, if the peer is a trusted proxy, the rightmost hop of `X-Forwarded-For` that is
 * not one. If a trusted proxy names something other than an address, the client is `unknown`, which lies in no range.
 */
export function clientAddress(exchange: Pick<Exchange, 'peer' | 'headers'>, trusted: CidrSet): string {
  const { peer, headers } = exchange;
  const forwarded = headers['x-forwarded-for'];
  if (forwarded === undefined || !trusted.contains(peer)) return peer;
  const hops = String(forwarded).split(',').map(toAddress);
  let address = peer;
  for (const hop of hops.reverse()) {
    address = hop;
    if (!trusted.contains(hop)) break;
  }
  return address;
}

const HOST = /^[\w.:[\]-]{1,255}$/;

/**
 * The origin (RFC 6454) that the client asked. If the peer is a trusted proxy, it is as that names it, by
 * `X-Forwarded-Proto` and `X-Forwarded-Host`, of several names the first: the client's side.
 */
export function clientOrigin(
  { peer, secure, headers }: Pick<Exchange, 'peer' | 'secure' | 'headers'>,
  trusted: CidrSet,
): string {
  const told = (name: string) =>
    trusted.contains(peer)
      ? String(headers[name] ?? '')
          .split(',', 1)[0]
          ?.trim()
      : undefined;
  const scheme = told('x-forwarded-proto')?.toLowerCase();
  const host = told('x-forwarded-host');
  const isScheme = scheme === 'http' || scheme === 'https';
  return `${isScheme ? scheme : secure ? 'https' : 'http'}://${host && HOST.test(host) ? host : (headers.host ?? 'localhost')}`;
}

/** Some proxies add the port: `192.0.2.1:1234`, `[2001:db8::1]:1234`. */
function toAddress(hop: string): string {
  const text = hop.trim();
  const bare = /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  return isIP(bare) === 0 ? 'unknown' : normaliseAddress(bare);
}

// Answers in lines (`application/x-ndjson`): `{"step": …}` for each step of the work as it happens, then one line
// `{"result": …}` or `{"error": …}`, the error being a problem.

const TYPE = 'application/x-ndjson';
/** What a client may leave unread before it is dropped. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/** Whether a request wants its answer in lines. */
export function wantsSteps({ headers }: Pick<Exchange, 'headers'>): boolean {
  const types = (headers.accept ?? '').toLowerCase().split(',');
  return types.some((type) => type.split(';', 1)[0]?.trim() === TYPE);
}

/** Writes an answer line by line. It begins with the first line: an earlier failure can still be answered normally. */
export class StepLines {
  readonly #exchange: Exchange;
  #flow: Flow | null = null;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /** Aborts when the client has left, or does not read. */
  get signal(): AbortSignal {
    return this.#exchange.signal;
  }

  /** Reports a step. Bound, because the work detaches it from its progress object. */
  readonly tell = (step: unknown): void => {
    const flow = this.#write({ step });
    if (flow !== null && flow.unread > MAX_UNREAD_BYTES) flow.cut();
  };

  /** Reports the result, and ends. */
  finish(result: unknown): void {
    this.#write({ result: result ?? null })?.end();
  }

  /** Reports a problem, and ends; false if no line was written yet, and the problem should be answered normally. */
  fail(problem: Problem): boolean {
    if (this.#flow === null) return false;
    const error = { ...problemJson(problem), requestId: this.#exchange.requestId };
    this.#write({ error })?.end();
    return true;
  }

  #write(line: object): Flow | null {
    if (this.#exchange.over) return null;
    this.#flow ??= this.#exchange.flow(200, TYPE);
    this.#flow?.write(Buffer.from(`${JSON.stringify(line)}\n`));
    return this.#flow;
  }
}
