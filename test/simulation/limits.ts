import type { Priority } from '../../src/domain/message.ts';
import type { Relay } from '../../src/domain/relay.ts';
import type { Transition } from '../../src/domain/settle.ts';
import type { BeginRequest, UnitRef } from '../../src/store/leased.ts';
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

const DAY_MS = 24 * 60 * 60_000;

/** So long after all nodes heard of a change, in ms, they may begin what they had decided before. */
export const DECIDED_MS = 20_000;

/** The relays as operators have them. */
export interface RelaysInForce {
  /** Null: it is removed; undefined: nobody knows of it. */
  inForce(name: string): Relay | null | undefined;
  /** When the last node heard how it is now, in world time; infinite: some have not yet. */
  heardAt(name: string): number;
  /** How it was before the changes that nodes may not all go by yet. */
  formerly(name: string): readonly Relay[];
}

/**
 * Holds what relays allow, over all nodes: attempts at once, to a relay and to a domain; recipients a day.
 *
 * A process that stands still cannot let go, and what it had under way is not counted from then on. Where the clock was
 * set that leases go by, attempts from before that may overlap with later ones.
 */
export class Limits implements HopWatch {
  /** What broke a limit first, if anything did. */
  broken: InvariantBroken | null = null;
  readonly #relays: RelaysInForce;
  readonly #time: VirtualTime;
  readonly #seen: Seen;
  readonly #underWay = new Set<Conversation>();
  /** `message relay` → the day whose quota its attempt was taken off, and when. */
  readonly #days = new Map<string, { readonly day: number; readonly begunAt: number }>();
  /** `relay day` → the most that was allowed that day. */
  readonly #allowed = new Map<string, number>();
  /** `relay day` → recipients taken. */
  readonly #taken = new Map<string, number>();
  /** `relay day` → recipients that its hop has, or may have for all that anybody knows, each with its lease. */
  readonly #charged = new Map<string, Set<string>>();
  #clockSetAt = Number.NEGATIVE_INFINITY;

  constructor(relays: RelaysInForce, time: VirtualTime, seen: Seen) {
    this.#relays = relays;
    this.#time = time;
    this.#seen = seen;
  }

  /** The clock that leases go by was set, forward or back. */
  clockSet(): void {
    this.#clockSetAt = this.#time.now;
  }

  /** An attempt was marked as begun. */
  begun(unit: BeginRequest): void {
    const { messageId, lane, quota } = unit;
    if (quota === null) return;
    const { day } = quota;
    const charged = this.#charged.get(`${lane} ${day}`) ?? new Set();
    this.#charged.set(`${lane} ${day}`, charged);
    for (const index of unit.indexes) charged.add(placeUnder(unit, index));
    this.#days.set(`${messageId} ${lane}`, { day, begunAt: this.#time.now });
    const known = [this.#relays.inForce(lane), ...this.#relays.formerly(lane)];
    const allowed = known.map((relay) => relay?.limits.maxPerDay ?? 0);
    const before = this.#allowed.get(`${lane} ${day}`) ?? 0;
    this.#allowed.set(`${lane} ${day}`, Math.max(before, ...allowed));
  }

  /** How an attempt ended was written, and was held against what the world knows: whom it did not reach counts no more. */
  settled(unit: UnitRef, transitions: readonly Transition[]): void {
    const day = this.#days.get(`${unit.messageId} ${unit.lane}`)?.day;
    for (const [place, index] of unit.indexes.entries()) {
      const end = transitions[place];
      if (end?.state === 'delivered' || end?.possibleDuplicate) continue;
      this.#charged.get(`${unit.lane} ${day}`)?.delete(placeUnder(unit, index));
    }
  }

  /** Whether mail of this priority has to wait for the day after, by the quota of its relay on the day of `wall` (ms). */
  isSpent(relay: string, priority: Priority, wall: number): boolean {
    const limits = this.#relays.inForce(relay)?.limits;
    if (limits === undefined || limits.maxPerDay === 0) return false;
    const reserved = priority === 'high' ? 0 : Math.floor((limits.maxPerDay * limits.reservePercent) / 100);
    const charged = this.#charged.get(`${relay} ${Math.floor(wall / DAY_MS)}`)?.size ?? 0;
    return charged >= limits.maxPerDay - reserved;
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
    const found = this.#days.get(`${messageId} ${relay}`);
    const now = this.#relays.inForce(relay)?.limits.maxPerDay;
    if (found === undefined && (now ?? 0) > 0) this.#break(`${relay} took ${messageId} off no quota`);
    if (found === undefined || now === 0) return;
    const { day, begunAt } = found;
    const isKnown = now !== undefined && begunAt > this.#settledAt(relay);
    const limit = isKnown ? now : (this.#allowed.get(`${relay} ${day}`) ?? 0);
    const taken = (this.#taken.get(`${relay} ${day}`) ?? 0) + recipients;
    this.#taken.set(`${relay} ${day}`, taken);
    if (taken > limit) this.#break(`${relay} took ${taken} recipients of the ${limit} of day ${day}`);
  }

  /** Holds a conversation that begins against what its relay allows, beside those that are under way. */
  #check({ relay, domain, begunAt }: Conversation): void {
    const found = this.#relays.inForce(relay);
    if (found === undefined) return;
    if (found === null || found.disabled) {
      if (begunAt > this.#settledAt(relay))
        this.#break(`${relay} is tried, and is ${found === null ? 'removed' : 'disabled'}`);
      return;
    }
    const counted = [...this.#underWay].filter((one) => one.relay === relay && this.#isCounted(one));
    const ofDomain = counted.filter((one) => one.domain === domain);
    const most = found.limits.maxConcurrency;
    if (counted.length === most) this.#seen.note('relay at its limit of attempts');
    if (counted.length > most)
      this.#break(`${relay} has ${counted.length} attempts at once, and allows ${most}`);
    const mostOfDomain = found.mx?.maxPerDomain ?? most;
    if (ofDomain.length > mostOfDomain)
      this.#break(
        `${relay} has ${ofDomain.length} attempts at once to ${domain}, and allows ${mostOfDomain}`,
      );
  }

  /** From then on whatever begins is decided by how the relay is now. */
  #settledAt(relay: string): number {
    return this.#relays.heardAt(relay) + DECIDED_MS;
  }

  /**
   * Not where its process stood still or is gone, or the clock was set: others could not know of it. Nor where it began
   * under another limit: nodes divide a limit, and none knows what is left under way of another's former share.
   */
  #isCounted({ life, begunAt, relay }: Conversation): boolean {
    const isKnown = begunAt > this.#clockSetAt + UNSETTLED_MS && begunAt > this.#settledAt(relay);
    return isKnown && !life.dead && life.frozeAt < begunAt;
  }

  #break(what: string): void {
    this.broken ??= new InvariantBroken(`${what} (at ${this.#time.now} ms)`);
  }
}

/** A recipient under a lease: what is begun again under the same is charged once. */
function placeUnder({ messageId, fence }: UnitRef, index: number): string {
  return `${messageId}/${index} ${fence}`;
}
