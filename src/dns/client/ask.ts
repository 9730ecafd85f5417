import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { type Clock, within } from '../../lib/clock.ts';
import { errorCode } from '../../lib/error.ts';
import type { Endpoint } from '../../lib/network.ts';
import type { Random } from '../../lib/random.ts';
import {
  answers,
  CODE,
  type DnsResponse,
  encodeQuery,
  mixCase,
  parseResponse,
  type Query,
  type Reading,
  readAnswer,
} from '../message.ts';
import type { DnsFailure, RecordType } from '../resolver.ts';
import type { ServerOrder } from './servers.ts';

/** Asks servers one question until one answers. */

/** A name without aliases, and the way to ask for it. */
export interface Question<T extends RecordType> {
  /** A name from `parseQueryName`. */
  readonly name: string;
  readonly type: T;
  readonly servers: readonly Endpoint[];
  /** Whether these servers' claims of validation count. */
  readonly trusted: boolean;
  readonly timeoutMs: number;
  /** Rounds over the servers. */
  readonly attempts: number;
}

/** What asking needs. */
export interface AskParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly order: ServerOrder;
}

/** Failures, the most informative first. */
const TELLING: readonly DnsFailure[] = ['dns_servfail', 'dns_refused', 'dns_malformed', 'dns_timeout'];

/**
 * Asks one server after the other, in up to `attempts` rounds. A server with a useless answer is not asked again, a
 * silent one is. If none helps, the most informative failure is returned.
 */
export async function ask<T extends RecordType>(
  question: Question<T>,
  parts: AskParts,
  signal: AbortSignal,
): Promise<Reading<T>> {
  const failures: ExchangeFailure[] = [];
  let silent = question.servers;
  for (let round = 0; round < question.attempts && silent.length > 0; round++) {
    const left: Endpoint[] = [];
    for (const server of parts.order.sort(silent)) {
      const reading = await askServer(question, server, parts, signal);
      if (reading.kind !== 'failed') return reading;
      if (signal.aborted) return unheard(null);
      failures.push({ ...reading, text: `${server.address} ${reading.text}` });
      if (reading.cause === 'dns_timeout') left.push(server);
    }
    silent = left;
  }
  const [worst = unheard(null)] = failures.sort(
    (a, b) => TELLING.indexOf(a.cause) - TELLING.indexOf(b.cause),
  );
  return worst;
}

async function askServer<T extends RecordType>(
  question: Question<T>,
  server: Endpoint,
  parts: AskParts,
  signal: AbortSignal,
): Promise<Reading<T>> {
  let exchange = await exchangeOnce(question, server, true, parts, signal);
  if (isPuzzled(exchange)) exchange = await exchangeOnce(question, server, false, parts, signal);
  const unheardOf = exchange.kind === 'failed' && exchange.cause === 'dns_timeout';
  if (!signal.aborted) parts.order.note(server, !unheardOf);
  if (exchange.kind !== 'response') return exchange;
  return readAnswer(exchange.response, question.name, question.type, question.trusted);
}

/** By UDP, then by TCP if necessary; each has the time of a query. */
async function exchangeOnce(
  question: Question<RecordType>,
  server: Endpoint,
  edns: boolean,
  { clock, random }: AskParts,
  signal: AbortSignal,
): Promise<Exclude<Exchange, { kind: 'by_tcp' }>> {
  const drawn = random.fill(new Uint8Array(2 + Math.ceil(question.name.length / 8)));
  const query: Query = {
    id: ((drawn[0] ?? 0) << 8) | (drawn[1] ?? 0),
    name: mixCase(question.name, drawn.subarray(2)),
    type: question.type,
    edns,
    ad: question.trusted,
  };
  const { timeoutMs } = question;
  const byUdp = await within(clock, timeoutMs, signal, (limit) => askByUdp(query, server, limit));
  if (byUdp.kind !== 'by_tcp') return byUdp;
  const byTcp = await within(clock, timeoutMs, signal, (limit) => askByTcp(query, server, limit));
  return byTcp.kind === 'by_tcp' ? unheard(null) : byTcp;
}

/** Servers without EDNS say so (RFC 6891 §7). */
function isPuzzled(exchange: Exchange): boolean {
  return (
    exchange.kind === 'response' &&
    (exchange.response.code === CODE.formatError || exchange.response.code === CODE.notImplemented)
  );
}

/** The result of one query to one server. `by_tcp`: the answer cannot be trusted; repeat the query over TCP. */
export type Exchange =
  | { readonly kind: 'response'; readonly response: DnsResponse }
  | { readonly kind: 'by_tcp' }
  | ExchangeFailure;

/** The server gave no usable answer. */
export interface ExchangeFailure {
  readonly kind: 'failed';
  readonly cause: DnsFailure;
  /** Fit for a log line; names no server. */
  readonly text: string;
}

/** The failure of a server that did not answer. */
function unheard(error: Error | null): ExchangeFailure {
  const why = error === null ? 'does not answer' : `cannot be reached (${errorCode(error) ?? error.message})`;
  return { kind: 'failed', cause: 'dns_timeout', text: why };
}

/** The failure of a server whose answer cannot be parsed. */
function garbled(reason: string): ExchangeFailure {
  return { kind: 'failed', cause: 'dns_malformed', text: `gives an answer that cannot be read: ${reason}` };
}

// One query over UDP, from its own socket and port.

/** Stray datagrams to ignore; more are an attempt to guess the id. */
const MAX_STRAYS = 8;

/**
 * Asks, and waits for the datagram that answers exactly this query: from this address and port (the socket is
 * connected), to this port (drawn at random by the system), with this id, question and letter case. Others are dropped,
 * and the wait continues: a guess must not end it. If only the letter case is wrong, or the answer is malformed or
 * truncated, the query is repeated over TCP, where nobody can guess. Aborted: `dns_timeout`.
 */
function askByUdp(query: Query, server: Endpoint, signal: AbortSignal): Promise<Exchange> {
  return new Promise((resolve) => {
    const socket = createSocket(isIPv6(server.address) ? 'udp6' : 'udp4');
    let strays = 0;
    const finish = (exchange: Exchange) => {
      signal.removeEventListener('abort', onAbort);
      socket.removeAllListeners();
      // Errors of a closed socket are irrelevant.
      socket.on('error', () => {});
      socket.close();
      resolve(exchange);
    };
    const onAbort = () => finish(unheard(null));
    socket.on('error', (error) => finish(unheard(error)));
    socket.on('message', (bytes) => {
      const exchange = readDatagram(query, bytes);
      if (exchange !== null) finish(exchange);
      else if (++strays > MAX_STRAYS) finish({ kind: 'by_tcp' });
    });
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) return onAbort();
    socket.once('connect', () => socket.send(encodeQuery(query)));
    socket.connect(server.port, server.address);
  });
}

/** Null for the answer to another query. */
function readDatagram(query: Query, bytes: Buffer): Exchange | null {
  const parsed = parseResponse(bytes);
  if (!parsed.ok) return hasId(query, bytes) ? { kind: 'by_tcp' } : null;
  const { response } = parsed;
  if (!answers(query, response, false)) return null;
  if (response.truncated || !answers(query, response, true)) return { kind: 'by_tcp' };
  return { kind: 'response', response };
}

function hasId({ id }: Query, bytes: Buffer): boolean {
  return bytes.length >= 2 && bytes.readUInt16BE(0) === id;
}

// One query over TCP (RFC 7766), on its own connection.

/** Octets of the length prefix of a message. */
const PREFIX = 2;

/**
 * Asks, and reads the one message in reply, of at most 64 KiB. Only the server can answer here, so letter case does not
 * matter. Never returns `by_tcp`. Aborted: `dns_timeout`.
 */
function askByTcp(query: Query, server: Endpoint, signal: AbortSignal): Promise<Exchange> {
  return new Promise((resolve) => {
    const socket = connect({ host: server.address, port: server.port, noDelay: true });
    const frame = new Frame();
    const finish = (exchange: Exchange) => {
      signal.removeEventListener('abort', onAbort);
      socket.removeAllListeners();
      // A socket being destroyed may still report an error.
      socket.on('error', () => {});
      socket.destroy();
      resolve(exchange);
    };
    const onAbort = () => finish(unheard(null));
    socket.once('error', (error) => finish(unheard(error)));
    socket.once('close', () => finish(garbled('the connection was closed before its end')));
    socket.on('data', (chunk) => {
      const message = frame.push(chunk);
      if (message !== null) finish(readMessage(query, message));
    });
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) return onAbort();
    const message = encodeQuery(query);
    socket.write(Buffer.concat([Buffer.of(message.length >> 8, message.length & 0xff), message]));
  });
}

/** The message after a length prefix, in chunks of any size. Anything after it is ignored. */
class Frame {
  readonly #prefix = Buffer.alloc(PREFIX);
  #message: Buffer | null = null;
  #received = 0;

  /** The message once complete; null until then. */
  push(chunk: Buffer): Buffer | null {
    const ofPrefix = chunk.subarray(0, Math.max(0, PREFIX - this.#received));
    ofPrefix.copy(this.#prefix, this.#received);
    const place = Math.max(0, this.#received - PREFIX);
    this.#received += chunk.length;
    if (this.#received < PREFIX) return null;
    this.#message ??= Buffer.alloc(this.#prefix.readUInt16BE(0));
    chunk.subarray(ofPrefix.length).copy(this.#message, place);
    return this.#received - PREFIX >= this.#message.length ? this.#message : null;
  }
}

function readMessage(query: Query, bytes: Buffer): Exchange {
  const parsed = parseResponse(bytes);
  if (!parsed.ok) return garbled(parsed.reason);
  const { response } = parsed;
  if (response.truncated) return garbled('it is cut off, over TCP');
  if (!answers(query, response, false)) return garbled('it answers another question');
  return { kind: 'response', response };
}
