import type { Relay } from '../../src/domain/relay.ts';
import type { BeginRequest } from '../../src/store/leased.ts';
import type { TransportJob } from '../../src/transport/transport.ts';
import type { HopWatch } from './next-hop.ts';
import type { Seen } from './seen.ts';
import { InvariantBroken } from './statuses.ts';
import type { NodeLife, VirtualTime } from './virtual-clock.ts';

/** A conversation with a next hop. */
interface Conversation {
  readonly relay: string;
  readonly domain: string;
  readonly life: NodeLife;
  readonly begunAt: number;
}

/**
 * So long after the clock was set that all go by, in ms, nodes may still work under leases that others count as ended:
 * until each has noticed, has renewed what it holds, and has heard that it lost it.
 */
const UNSETTLED_MS = 60_000;

/**
 * Holds what relays allow, over all nodes: attempts at once, to a relay and to a domain; recipients a day.
 *
 * A process that stands still cannot let go, and what it had under way is not counted from then on. Where the clock was
 * set that leases go by, attempts from before that may overlap with later ones.
 */
export class Limits implements HopWatch {
  /** What broke a limit first, if anything did. */
  broken: InvariantBroken | null = null;
  readonly #relays: ReadonlyMap<string, Relay>;
  readonly #time: VirtualTime;
  readonly #seen: Seen;
  readonly #underWay = new Set<Conversation>();
  /** `message relay` → the day whose quota its attempt was taken off. */
  readonly #days = new Map<string, number>();
  /** `relay day` → recipients taken. */
  readonly #taken = new Map<string, number>();
  #clockSetAt = Number.NEGATIVE_INFINITY;

  constructor(relays: readonly Relay[], time: VirtualTime, seen: Seen) {
    this.#relays = new Map(relays.map((relay) => [relay.name, relay]));
    this.#time = time;
    this.#seen = seen;
  }

  /** The clock that leases go by was set, forward or back. */
  clockSet(): void {
    this.#clockSetAt = this.#time.now;
  }

  /** An attempt was marked as begun. */
  begun({ messageId, lane, quota }: BeginRequest): void {
    if (quota !== null) this.#days.set(`${messageId} ${lane}`, quota.day);
  }

  /** See {@link HopWatch.began}. */
  began(relay: string, life: NodeLife, { envelope }: TransportJob): () => void {
    const domain = envelope.recipients[0]?.address.replace(/^.*@/, '') ?? '';
    const conversation = { relay, domain, life, begunAt: this.#time.now };
    this.#underWay.add(conversation);
    this.#check(conversation);
    return () => void this.#underWay.delete(conversation);
  }

  /** See {@link HopWatch.took}. */
  took(relay: string, { messageId }: TransportJob, recipients: number): void {
    const limit = this.#relays.get(relay)?.limits.maxPerDay ?? 0;
    const day = this.#days.get(`${messageId} ${relay}`);
    if (limit === 0) return;
    if (day === undefined) this.#break(`${relay} took ${messageId} off no quota`);
    const taken = (this.#taken.get(`${relay} ${day}`) ?? 0) + recipients;
    this.#taken.set(`${relay} ${day}`, taken);
    if (taken > limit) this.#break(`${relay} took ${taken} recipients of the ${limit} of day ${day}`);
  }

  #check({ relay, domain }: Conversation): void {
    const found = this.#relays.get(relay);
    if (found === undefined) return;
    const counted = [...this.#underWay].filter((one) => one.relay === relay && isCounted(one));
    const ofDomain = counted.filter((one) => one.domain === domain);
    const most = found.limits.maxConcurrency;
    if (counted.length === most) this.#seen.note('relay at its limit of attempts');
    if (counted.length > most && !this.#isExcused(counted))
      this.#break(`${relay} has ${counted.length} attempts at once, and allows ${most}`);
    const mostOfDomain = found.mx?.maxPerDomain ?? most;
    if (ofDomain.length > mostOfDomain && !this.#isExcused(ofDomain))
      this.#break(
        `${relay} has ${ofDomain.length} attempts at once to ${domain}, and allows ${mostOfDomain}`,
      );
  }

  #isExcused(conversations: readonly Conversation[]): boolean {
    return conversations.some(({ begunAt }) => begunAt <= this.#clockSetAt + UNSETTLED_MS);
  }

  #break(what: string): void {
    this.broken ??= new InvariantBroken(`${what} (at ${this.#time.now} ms)`);
  }
}

function isCounted({ life, begunAt }: Conversation): boolean {
  return !life.dead && life.frozeAt < begunAt;
}
