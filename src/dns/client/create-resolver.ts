/** The resolver over sockets: cache, equal questions shared, a bound on questions under way. */
import { Budget } from '../../lib/budget.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Endpoint } from '../../lib/network.ts';
import type { Random } from '../../lib/random.ts';
import { Flights } from '../../lib/stop.ts';
import { parseQueryName } from '../name.ts';
import { MAX_ALIASES } from '../read-answer.ts';
import type { DnsAnswer, DnsFailure, RecordType, Resolver } from '../resolver.ts';
import { ask } from './ask.ts';
import { AnswerCache } from './cache.ts';
import { ServerOrder } from './server-order.ts';

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
    if (name === null) return failed('dns_invalid', 'this is no name that the DNS could be asked for');
    const settings = this.#parts.settings();
    // The key tells the type: what is found under it answers a question of that type.
    const key = `${type} ${name} ${originOf(settings)}`;
    const kept = this.#cache.get(key) as DnsAnswer<T> | null;
    if (kept !== null) return kept;
    const answer = (await this.#flights.join(key, signal, (limit) =>
      this.#answer(key, name, type, settings, limit),
    )) as DnsAnswer<T> | null;
    return answer ?? failed('dns_timeout', 'there was no answer in the time that was left');
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
    if (release === null) return failed('dns_timeout', 'too many questions wait for their turn');
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

function failed(cause: DnsFailure, text: string): { kind: 'failed'; cause: DnsFailure; text: string } {
  return { kind: 'failed', cause, text };
}
