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

/** The resolver over sockets: cache, equal questions shared, a bound on questions under way. */

/** What of the configuration a resolver follows; read anew for each question. */
export interface ResolverSettings {
  /** `dns.servers`, or the system's; asked in this order. */
  readonly servers: readonly Endpoint[];
  /** `dns.trust_ad`; `auto`: when every server is loopback. */
  readonly trustAd: 'auto' | 'yes' | 'no';
  /** For one server, one question. */
  readonly timeoutMs: number;
  /** Rounds over all servers. */
  readonly attempts: number;
  /** Most answers remembered. */
  readonly cacheEntries: number;
}

/** What a resolver is made of. */
export interface ResolverParts {
  readonly settings: () => ResolverSettings;
  readonly clock: Clock;
  readonly random: Random;
  /** Beyond {@link MAX_QUESTIONS} on the wire, so many wait their turn; more fail at once. Default 10,000. */
  readonly maxWaiting?: number;
}

/** A resolver that asks recursive servers. Holds sockets only while a question is under way: nothing to close. */
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
    // The key tells the type: what is found under it answers a question of that type.
    const key = `${type} ${name} ${originOf(settings)}`;
    const kept = this.#cache.get(key) as DnsAnswer<T> | null;
    if (kept !== null) return kept;
    const answer = (await this.#flights.join(key, signal, (limit) =>
      this.#answer(key, name, type, settings, limit),
    )) as DnsAnswer<T> | null;
    return answer ?? failed('dns_timeout', 'there was no answer in the remaining time');
  }

  /** Under its turn; kept, unless it was given up. */
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

  /** Asks on where an answer ends in an alias: recursive servers follow them, forwarders not always. */
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

/** Whom an answer is from, and with what trust it was read: answers of others are not used. */
function originOf(settings: ResolverSettings): string {
  const servers = settings.servers.map(({ address, port }) => `${address} ${port}`);
  return `${isTrusted(settings)} ${servers.join(' ')}`;
}

/** Whether AD counts: it is worth what the way to the server is worth, and on this host there is no way. */
function isTrusted({ trustAd, servers }: ResolverSettings): boolean {
  if (trustAd !== 'auto') return trustAd === 'yes';
  return servers.length > 0 && servers.every(({ address }) => LOOPBACK.test(address));
}

const LOOPBACK = /^(?:127\.[0-9.]+|::1)$/;

/** What failed is asked for again after so long (RFC 9520 §3.2 asks for at least one second). */
const FAILURE_SECONDS = 5;
/** What an answer takes on average; large ones count for several. */
const BYTES_PER_ENTRY = 512;
/** What a record takes beside its text, and an answer beside its records. */
const RECORD_BYTES = 48;
const ANSWER_BYTES = 256;

interface Entry {
  readonly answer: DnsAnswer<RecordType>;
  readonly expiresAt: number;
  readonly bytes: number;
}

/**
 * Answers, until their time is over. Bounded in number and, by {@link BYTES_PER_ENTRY} for each, in what they take in
 * memory, which may be many times what came over the wire; the ones longest unused go first. A time to live is kept from one second to a day, of what is not there to an hour
 * (`readAnswer`); a failure for five seconds.
 */
export class AnswerCache {
  readonly #clock: Clock;
  /** The one used last is last. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many answers are kept. */
  get size(): number {
    return this.#entries.size;
  }

  /** The answer kept for `key`, with the time that is left of it. */
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

  /** Keeps an answer, among at most `maxEntries`. */
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

/** What an answer takes, about: a character of its text is a byte. */
function bytesOf(answer: DnsAnswer<RecordType>): number {
  if (answer.kind === 'failed') return ANSWER_BYTES + answer.text.length;
  if (answer.kind !== 'found') return ANSWER_BYTES;
  const records: readonly RecordData[RecordType][] = answer.records;
  const sum = records.reduce((bytes, record) => bytes + RECORD_BYTES + textOf(record).length, 0);
  return ANSWER_BYTES + answer.canonicalName.length + sum;
}

/** All that a record has of text. */
function textOf(record: RecordData[RecordType]): string {
  if (typeof record === 'string') return record;
  return 'exchange' in record ? record.exchange : record.data;
}
