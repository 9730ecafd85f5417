import { createHash } from 'node:crypto';
import type { Submission } from '../../src/domain/message.ts';
import { requiresTls } from './requiretls.ts';
import { MAX_AGE_MS } from './scene.ts';
import { InvariantBroken } from './statuses.ts';
import type { NodeLife, VirtualTime } from './virtual-clock.ts';

const SECOND = 1_000;
/** Clocks differ by so much, and what is stored was made so much earlier, in ms. */
const SLACK_MS = 5 * SECOND;
/** So long after clocks were set some may not have noticed, in ms. */
const UNSURE_MS = 12 * SECOND;
/** So long a process may stand still between two of its steps, in ms. */
const STANDSTILL_MS = 2 * 60 * SECOND;
/** No lease is longer than this, in ms, whatever it is for: so long mail waits for a node that is dead. */
const MAX_LEASE_MS = 60 * SECOND;

/** When something happened: in world time, and by the clock that all nodes should go by. */
interface Moment {
  readonly at: number;
  readonly wall: number;
}

/** When a recipient's time began to run. */
interface Life extends Moment {
  /** Wall ms when it is to be sent; 0: at once. */
  readonly notBefore: number;
  /** How old it may become at least, in ms. */
  readonly ageMs: number;
  /** False: clocks were set meanwhile, and when it ends cannot be told. */
  readonly isSure: boolean;
}

/** What one session of a node with a hop has to do with its message. */
export interface SessionKnown {
  readonly life: NodeLife;
  readonly token: string;
  /** In world time. */
  readonly begunAt: number;
}

/**
 * What the world and its customers know by themselves: what was handed in and when, what hops and the DNS said, which
 * ends nobody knows. No engine and no store is asked, so that what they claim can be held against it.
 */
export class Ledger {
  readonly #time: VirtualTime;
  /** What all clocks should show, in wall ms. */
  readonly #wall: () => number;
  /** `token`, or `token address` of copies → SHA-256 of what was handed in; of a report, of the first copy that a hop got. */
  readonly #contents = new Map<string, string>();
  /** Ids of the reports that were stored: nobody hands in what they say. */
  readonly #reports = new Set<string>();
  /** `token` → when it was first handed in, or is to be sent; `token address` → when somebody asked to retry it. */
  readonly #lives = new Map<string, Life>();
  /** `id`, or `token`, of what somebody asked to cancel. */
  readonly #unwanted = new Set<string>();
  /** `id` → the first request to retry it. */
  readonly #asked = new Map<string, Moment>();
  /** `token address` → the begin of the last session in which it was refused for good. */
  readonly #refusedIn = new Map<string, number>();
  /** A domain that takes mail by the DNS → its hosts. */
  readonly #mailHosts: Readonly<Record<string, readonly string[]>>;
  /** A name in the DNS → when it last said that there is no mail, or nothing, by that name. */
  readonly #nowhereAt = new Map<string, number>();
  /** A domain → when the DNS last named hosts that it does not vouch for. */
  readonly #unsignedAt = new Map<string, number>();
  /** Of each process, `token address` → the begin of the last session that left its hop with the message, and no answer. */
  readonly #doubts = new WeakMap<NodeLife, Map<string, number>>();
  /** `id/index` → since when it is in processing, in world time. */
  readonly #heldSince = new Map<string, number>();
  readonly #clocksSetAt: number[] = [];
  /** How old mail may become, since when in world time. */
  readonly #ages = [{ since: Number.NEGATIVE_INFINITY, ms: MAX_AGE_MS }];

  constructor(time: VirtualTime, wall: () => number, mailHosts: Readonly<Record<string, readonly string[]>>) {
    this.#time = time;
    this.#wall = wall;
    this.#mailHosts = mailHosts;
  }

  // What customers do.

  /** A customer hands this in, for the first time or again. */
  handedIn({ header, content, copies, envelope, sendAt }: Submission): void {
    const token = header.subject;
    if (this.#lives.has(token)) return;
    const now = this.#moment();
    const notBefore = sendAt ?? 0;
    this.#lives.set(token, {
      ...now,
      wall: Math.max(now.wall, notBefore),
      notBefore,
      ageMs: MAX_AGE_MS,
      isSure: true,
    });
    const bytes = Buffer.concat(content.chunks);
    let start = 0;
    for (const [place, length] of (copies ?? []).entries()) {
      const { address } = envelope.recipients[place] ?? {};
      this.#contents.set(`${token} ${address}`, hashOf(bytes.subarray(start, start + length)));
      start += length;
    }
    if (copies === undefined) this.#contents.set(token, hashOf(bytes));
  }

  /** Somebody asks to retry the message of this id. */
  asksToRetry(id: string): void {
    if (!this.#asked.has(id)) this.#asked.set(id, this.#moment());
  }

  /** Somebody asks to cancel the message of this id, or token. */
  asksToCancel(idOrToken: string): void {
    this.#unwanted.add(idOrToken);
  }

  /** A recipient of it was cancelled. */
  wasCancelled(id: string, name: string): void {
    if (!this.#unwanted.has(id) && !this.#unwanted.has(tokenIn(name)))
      throw new InvariantBroken(`${id} (${name}) is cancelled, and nobody asked for it`);
  }

  /** A recipient of it is retried: its time begins anew, and at the first request at the earliest. */
  wasRetried(id: string, name: string): void {
    const asked = this.#asked.get(id);
    if (asked === undefined) throw new InvariantBroken(`${name} is retried, and nobody asked for it`);
    const notBefore = this.#lifeOf(name)?.notBefore ?? 0;
    this.#begins(name, { at: asked.at, wall: Math.max(asked.wall, notBefore), notBefore });
  }

  // What hops and the DNS do.

  /** A hop, or the protocol, refuses the message of these for good. */
  refused({ token, begunAt }: SessionKnown, addresses: readonly string[]): void {
    for (const address of addresses) this.#refusedIn.set(`${token} ${address}`, begunAt);
  }

  /** The DNS says that nobody takes mail by that name, or that there is nothing. */
  nowhere(name: string): void {
    this.#nowhereAt.set(name, this.#time.now);
  }

  /** The DNS names the hosts of a domain, and vouches for none of them. */
  unsigned(name: string): void {
    this.#unsignedAt.set(name, this.#time.now);
  }

  /** The hop has all of the message, and the process does not learn what became of it. */
  doubtful({ life, token, begunAt }: SessionKnown, addresses: readonly string[]): void {
    const doubts = this.#doubts.get(life) ?? new Map<string, number>();
    this.#doubts.set(life, doubts);
    for (const address of addresses) doubts.set(`${token} ${address}`, begunAt);
  }

  /**
   * A hop is given these bytes for these recipients: they are what was handed in. Of a report, only the first copy says
   * what it is.
   */
  given({ token }: SessionKnown, addresses: readonly string[], bytes: Uint8Array): void {
    const hash = hashOf(bytes);
    for (const address of addresses) {
      const known = this.#contents.get(`${token} ${address}`) ?? this.#contents.get(token);
      if (known === undefined && this.#reports.has(token)) this.#contents.set(token, hash);
      else if (known !== hash)
        throw new InvariantBroken(`${token} for ${address} is not the bytes that were handed in`);
    }
  }

  // What operators do.

  /** From now on mail may become so old, in ms. */
  agesAre(ms: number): void {
    this.#ages.push({ since: this.#time.now, ms });
  }

  // What nodes do, and whether they may.

  /** All clocks are set. */
  clocksSet(): void {
    this.#clocksSetAt.push(this.#time.now);
  }

  /** A node gets or renews leases until `until`, by its clock. */
  leased(life: NodeLife, until: number): void {
    const ms = until - life.wall();
    if (ms > MAX_LEASE_MS) throw new InvariantBroken(`a lane is leased for ${ms} ms`);
  }

  /** A message was stored that expires at `expiresAt`. A report's life begins there. */
  stored(token: string, isReport: boolean, expiresAt: number): void {
    if (isReport) {
      this.#reports.add(token);
      const { at, wall } = this.#moment();
      this.#begins(token, { at: at - STANDSTILL_MS, wall: wall - STANDSTILL_MS, notBefore: 0 });
      return;
    }
    const life = this.#lives.get(token);
    if (life === undefined) throw new InvariantBroken(`${token} is stored, and nobody handed it in`);
    const { isSure, ageMs } = this.#begins(token, life);
    const early = life.wall + ageMs - SLACK_MS - expiresAt;
    if (early > 0 && isSure) throw new InvariantBroken(`${token} is to expire ${early} ms too early`);
  }

  /** A recipient came into processing. */
  held(place: string): void {
    this.#heldSince.set(place, this.#time.now);
  }

  /** Whether a process that settles an attempt must say of a recipient that its hop may have the message. */
  isDoubtful(life: NodeLife, place: string, name: string): boolean {
    const doubtedAt = this.#doubts.get(life)?.get(name) ?? Number.NEGATIVE_INFINITY;
    return doubtedAt >= this.#since(place);
  }

  /** A recipient failed as rejected: somebody refused it, since it is in processing. */
  wasRejected(place: string, name: string): void {
    const since = this.#since(place);
    if ((this.#refusedIn.get(name) ?? Number.NEGATIVE_INFINITY) >= since) return;
    const domain = name.replace(/^.*@/, '');
    if (this.#isNowhere(domain, since)) return;
    if (requiresTls(tokenIn(name)) && (this.#unsignedAt.get(domain) ?? Number.NEGATIVE_INFINITY) >= since)
      return;
    throw new InvariantBroken(`${place} (${name}) is rejected, and nobody in the world refused it`);
  }

  /** A recipient failed as expired: its time is over. */
  wasExpired(name: string): void {
    const life = this.#lifeOf(name);
    if (life === undefined) throw new InvariantBroken(`${name} has expired, and nobody handed it in`);
    if (!life.isSure || this.#wereSet(this.#time.now)) return;
    const left = life.wall + life.ageMs - this.#wall();
    if (left > SLACK_MS) throw new InvariantBroken(`${name} has expired ${left} ms before its time`);
  }

  /** Whether a recipient was there at a time of the world, and has time left since, by clocks that were right all the while. */
  hasTimeSince(name: string, at: number): boolean {
    const life = this.#lifeOf(name);
    if (life === undefined || life.at > at || !life.isSure || this.#wereSet(life.at)) return false;
    return life.wall + life.ageMs - SLACK_MS > this.#wall();
  }

  #moment(): Moment {
    return { at: this.#time.now, wall: this.#wall() };
  }

  /** By what happened between a moment and now. */
  #begins(tokenOrName: string, since: Omit<Life, 'isSure' | 'ageMs'>): Life {
    const ages = this.#ages.filter(
      (_, place) => (this.#ages[place + 1]?.since ?? this.#time.now) >= since.at,
    );
    const ageMs = Math.min(...ages.map(({ ms }) => ms));
    const life = { ...since, ageMs, isSure: !this.#wereSet(since.at) };
    this.#lives.set(tokenOrName, life);
    return life;
  }

  #lifeOf(name: string): Life | undefined {
    return this.#lives.get(name) ?? this.#lives.get(tokenIn(name));
  }

  /** Whether the DNS has said since then that the domain, or each of its hosts, is not there. */
  #isNowhere(domain: string, since: number): boolean {
    const isGone = (name: string) => (this.#nowhereAt.get(name) ?? Number.NEGATIVE_INFINITY) >= since;
    const hosts = this.#mailHosts[domain] ?? [];
    return isGone(domain) || (hosts.length > 0 && hosts.every(isGone));
  }

  #since(place: string): number {
    return this.#heldSince.get(place) ?? Number.POSITIVE_INFINITY;
  }

  /** Whether clocks were set since then, or so shortly before that some may not have noticed. */
  #wereSet(since: number): boolean {
    return (this.#clocksSetAt.at(-1) ?? Number.NEGATIVE_INFINITY) > since - UNSURE_MS;
  }
}

/** The token in a recipient's name. */
export function tokenIn(name: string): string {
  return name.slice(0, name.indexOf(' '));
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
