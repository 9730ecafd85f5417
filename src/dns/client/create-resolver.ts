import { Budget } from '../../lib/budget.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Endpoint } from '../../lib/network.ts';
import type { Random } from '../../lib/random.ts';
import { Flights } from '../../lib/stop.ts';
import { failed, MAX_ALIASES } from '../message.ts';
import {
  type DnsAnswer,
  parseQueryName,
  type RecordData,
  type RecordType,
  type Resolver,
} from '../resolver.ts';
import { ask } from './ask.ts';
import { ServerOrder } from './servers.ts';

/** The resolver over sockets: caches answers, shares equal questions, limits questions under way. */

/** The configuration that a resolver follows; read for each question. */
export interface ResolverSettings {
  /** `dns.servers`, or the system's; asked in this order. */
  readonly servers: readonly Endpoint[];
  /** `dns.trust_ad`; `auto`: when every server is loopback. */
  readonly trustAd: 'auto' | 'yes' | 'no';
  /** For one query to one server. */
  readonly timeoutMs: number;
  /** Rounds over all servers. */
  readonly attempts: number;
  /** Most cached answers. */
  readonly cacheEntries: number;
}

/** What a resolver is made from. */
export interface ResolverParts {
  readonly settings: () => ResolverSettings;
  readonly clock: Clock;
  readonly random: Random;
  /** Beyond {@link MAX_QUESTIONS} on the wire, this many wait; further ones fail at once. Default 10,000. */
  readonly maxWaiting?: number;
}

/** A resolver that asks recursive servers. Holds sockets only during a question, so there is nothing to close. */
export function createResolver(parts: ResolverParts): Resolver {
  const asking = new Asking(parts);
  return {
    resolve: (name, type, signal) => asking.resolve(name, type, signal),
  };
}

/** Most questions on the wire at once, each with a socket. */
export const MAX_QUESTIONS = 512;
const MAX_WAITING = 10_000;

class Asking {
  readonly #parts: ResolverParts;
  readonly #cache: AnswerCache;
  readonly #order: ServerOrder;
  readonly #budget: Budget;
  readonly #flights = new Flights<DnsAnswer<RecordType>>();

  constructor(parts: ResolverParts) {
    this.#parts = parts;
    this.#cache = new AnswerCache(parts.clock);
    this.#order = new ServerOrder(parts.clock);
    this.#budget = new Budget({ capacity: MAX_QUESTIONS, maxWaiters: parts.maxWaiting ?? MAX_WAITING });
  }

  async resolve<T extends RecordType>(text: string, type: T, signal: AbortSignal): Promise<DnsAnswer<T>> {
    const name = parseQueryName(text);
    if (name === null) return failed('dns_invalid', 'this is not a name that can be looked up in the DNS');
    const settings = this.#parts.settings();
    // The key contains the type, so an entry answers a question of that type.
    const key = `${type} ${name} ${originOf(settings)}`;
    const kept = this.#cache.get(key) as DnsAnswer<T> | null;
    if (kept !== null) return kept;
    const answer = (await this.#flights.join(key, signal, (limit) =>
      this.#answer(key, name, type, settings, limit),
    )) as DnsAnswer<T> | null;
    return answer ?? failed('dns_timeout', 'there was no answer in the remaining time');
  }

  /** Runs in turn; the answer is cached unless the question was aborted. */
  async #answer(
    key: string,
    name: string,
    type: RecordType,
    settings: ResolverSettings,
    signal: AbortSignal,
  ): Promise<DnsAnswer<RecordType>> {
    const release = await this.#budget.share(key).acquire(1, signal);
    if (release === null) return failed('dns_timeout', 'too many queries wait for their turn');
    try {
      const answer = await this.#follow(name, type, settings, signal);
      if (!signal.aborted) this.#cache.put(key, answer, settings.cacheEntries);
      return answer;
    } finally {
      release();
    }
  }

  /** Continues where an answer ends in an alias: recursive servers follow aliases, forwarders not always. */
  async #follow(
    asked: string,
    type: RecordType,
    settings: ResolverSettings,
    signal: AbortSignal,
  ): Promise<DnsAnswer<RecordType>> {
    const { servers, timeoutMs, attempts } = settings;
    const how = { type, servers, timeoutMs, attempts, trusted: isTrusted(settings) };
    const parts = { clock: this.#parts.clock, random: this.#parts.random, order: this.#order };
    let name: string | null = asked;
    let authenticated = true;
    let ttl = Number.POSITIVE_INFINITY;
    for (let steps = 0; steps <= MAX_ALIASES && name !== null; steps++) {
      const reading = await ask({ ...how, name }, parts, signal);
      if (reading.kind === 'failed') return reading;
      authenticated &&= reading.authenticated;
      ttl = Math.min(ttl, reading.ttlSeconds);
      if (reading.kind !== 'alias') return { ...reading, authenticated, ttlSeconds: ttl };
      name = parseQueryName(reading.target);
    }
    return failed('dns_malformed', `the aliases of ${asked} lead nowhere`);
  }
}

/** The servers of an answer, and the trust in them: other answers are not used. */
function originOf(settings: ResolverSettings): string {
  const servers = settings.servers.map(({ address, port }) => `${address} ${port}`);
  return `${isTrusted(settings)} ${servers.join(' ')}`;
}

/** Whether AD counts: it is as trustworthy as the network path to the server, and on this host there is none. */
function isTrusted({ trustAd, servers }: ResolverSettings): boolean {
  if (trustAd !== 'auto') return trustAd === 'yes';
  return servers.length > 0 && servers.every(({ address }) => LOOPBACK.test(address));
}

const LOOPBACK = /^(?:127\.[0-9.]+|::1)$/;

/** How long a failure is cached (RFC 9520 §3.2 requires at least one second). */
const FAILURE_SECONDS = 5;
/** The average size of an answer; large ones count as several. */
const BYTES_PER_ENTRY = 512;
/** The overhead of a record beside its text, and of an answer beside its records. */
const RECORD_BYTES = 48;
const ANSWER_BYTES = 256;

interface Entry {
  readonly answer: DnsAnswer<RecordType>;
  readonly expiresAt: number;
  readonly bytes: number;
}

/**
 * Caches answers until they expire. Bounded in number and, with {@link BYTES_PER_ENTRY} for each, in memory, which may
 * be many times the size on the wire; the least recently used go first. A time to live is limited to between one second
 * and a day, for negative answers an hour (`readAnswer`); a failure lasts five seconds.
 */
export class AnswerCache {
  readonly #clock: Clock;
  /** The most recently used is last. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The cached answer for `key`, with its remaining time to live. */
  get(key: string): DnsAnswer<RecordType> | null {
    const entry = this.#entries.get(key);
    if (entry === undefined) return null;
    this.#remove(key, entry);
    const leftMs = entry.expiresAt - this.#clock.mono();
    if (leftMs <= 0) return null;
    this.#add(key, entry);
    const { answer } = entry;
    return answer.kind === 'failed' ? answer : { ...answer, ttlSeconds: Math.ceil(leftMs / 1000) };
  }

  /** Caches an answer, among at most `maxEntries`. */
  put(key: string, answer: DnsAnswer<RecordType>, maxEntries: number): void {
    const old = this.#entries.get(key);
    if (old) this.#remove(key, old);
    const seconds = answer.kind === 'failed' ? FAILURE_SECONDS : answer.ttlSeconds;
    const bytes = key.length + bytesOf(answer);
    this.#add(key, { answer, bytes, expiresAt: this.#clock.mono() + seconds * 1000 });
    for (const [oldest, entry] of this.#entries) {
      if (this.#entries.size <= maxEntries && this.#bytes <= maxEntries * BYTES_PER_ENTRY) break;
      this.#remove(oldest, entry);
    }
  }

  #add(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
  }

  #remove(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }
}

/** The approximate size of an answer: a character of its text is a byte. */
function bytesOf(answer: DnsAnswer<RecordType>): number {
  if (answer.kind === 'failed') return ANSWER_BYTES + answer.text.length;
  if (answer.kind !== 'found') return ANSWER_BYTES;
  const records: readonly RecordData[RecordType][] = answer.records;
  const sum = records.reduce((bytes, record) => bytes + RECORD_BYTES + textOf(record).length, 0);
  return ANSWER_BYTES + answer.canonicalName.length + sum;
}

/** All text of a record. */
function textOf(record: RecordData[RecordType]): string {
  if (typeof record === 'string') return record;
  return 'exchange' in record ? record.exchange : record.data;
}
