/** One question, put to the servers until one answers. */
import type { Clock } from '../../lib/clock.ts';
import type { Endpoint } from '../../lib/network.ts';
import type { Random } from '../../lib/random.ts';
import { CODE, mixCase, type Query } from '../message.ts';
import { type Reading, readAnswer } from '../read-answer.ts';
import type { DnsFailure, RecordType } from '../resolver.ts';
import { type Exchange, type ExchangeFailure, unheard } from './exchange.ts';
import type { ServerOrder } from './server-order.ts';
import { askByTcp } from './tcp.ts';
import { askByUdp } from './udp.ts';
import { within } from './within.ts';

/** A name without aliases, and how it is asked for. */
export interface Question<T extends RecordType> {
  /** A name of `parseQueryName`. */
  readonly name: string;
  readonly type: T;
  readonly servers: readonly Endpoint[];
  /** What these servers say of having validated counts. */
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

/** What is most worth knowing of several failures, first. */
const TELLING: readonly DnsFailure[] = ['dns_servfail', 'dns_refused', 'dns_malformed', 'dns_timeout'];

/**
 * Asks one server after the other, in up to `attempts` rounds. A server that said something which does not help is
 * not asked again, one that said nothing is. When none helps, the failure that says most counts.
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

/** By UDP, then by TCP where that is called for; each has the time of a query. */
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

/** Servers from before EDNS say so (RFC 6891 §7). */
function isPuzzled(exchange: Exchange): boolean {
  return (
    exchange.kind === 'response' &&
    (exchange.response.code === CODE.formatError || exchange.response.code === CODE.notImplemented)
  );
}
