import {
  afterAttempt,
  type BreakerState,
  CLOSED,
  type HopNews,
  RELAY_POLICY,
  stateOf,
} from '../domain/breaker.ts';
import type { RelayFitness } from '../domain/failover.ts';
import type { HoldKind } from '../domain/hold.ts';
import { laneOf, relayOfLane } from '../domain/lane.ts';
import type { Relay } from '../domain/relay.ts';
import type { Clock } from '../lib/clock.ts';
import type { Transport } from '../transport/transport.ts';
import type { Lane, LaneLimits } from './lanes.ts';

/** How many units of claimed work a relay may have in hand, as a multiple of what it may have under way. */
const IN_HAND_FACTOR = 2;

/** A relay at work: its transport, how much of it is in use, and the lanes that wait for a slot of it. */
export class RelayAtWork implements LaneLimits {
  readonly relay: Relay;
  readonly transport: Transport;
  /** Attempts under way over all lanes. */
  inflight = 0;
  /** Lanes with work in hand that found no slot. In order of asking: each gets its turn. */
  readonly hungry = new Set<Lane>();
  /** A timer will feed the hungry when the rate allows. */
  timed = false;
  #nextStartAt = Number.NEGATIVE_INFINITY;
  #breaker = CLOSED;

  constructor(relay: Relay, transport: Transport) {
    this.relay = relay;
    this.transport = transport;
  }

  /** Attempts at once on one of its lanes, in health. */
  get perLane(): number {
    const { limits, mx } = this.relay;
    return mx === null ? limits.maxConcurrency : Math.min(limits.maxConcurrency, mx.maxPerDomain);
  }

  /** All of its mail goes by one lane, unless every domain has its own. */
  get soleLane(): boolean {
    return this.relay.mx === null;
  }

  /** Most recipients in one transaction. */
  get maxRecipients(): number {
    return this.relay.limits.maxRecipients;
  }

  /** Whether an attempt may start now (monotonic ms). */
  hasRoom(now: number): boolean {
    return this.inflight < this.relay.limits.maxConcurrency && this.waitMs(now) === 0;
  }

  /** Milliseconds until the relay's rate lets the next attempt start. */
  waitMs(now: number): number {
    return Math.max(0, this.#nextStartAt - now);
  }

  /** Takes a slot. */
  begin(now: number): void {
    this.inflight++;
    const rate = this.relay.limits.maxRatePerSecond;
    if (rate > 0) this.#nextStartAt = Math.max(this.#nextStartAt, now) + 1000 / rate;
  }

  /** Gives the slot back. */
  end(): void {
    this.inflight--;
  }

  /** What an attempt on any of its lanes said. Only a relay with many destinations has a breaker besides its lanes'. */
  heard(news: HopNews, now: number, dice: number): void {
    if (this.relay.type === 'mx') this.#breaker = afterAttempt(this.#breaker, news, RELAY_POLICY, now, dice);
  }

  /** Of all its destinations together. */
  breakerState(now: number): BreakerState {
    return stateOf(this.#breaker, now);
  }
}

/** What the relays are seen by. */
export interface RelaysDeps {
  readonly clock: Clock;
  readonly lanes: ReadonlyMap<string, Lane>;
  readonly holds: () => ReadonlyMap<string, HoldKind>;
}

/** The relays there are. Changed live: what is under way with a replaced one ends with it. */
export class Relays {
  readonly #byName = new Map<string, RelayAtWork>();
  /** Units in hand by relay: waiting for a slot, under way or being recorded. Outlives a relay that is replaced. */
  readonly #inHand = new Map<string, number>();
  readonly #deps: RelaysDeps;
  readonly #changed: () => void;

  /** `changed` is told when relays come, go or change. */
  constructor(deps: RelaysDeps, changed: () => void) {
    this.#deps = deps;
    this.#changed = changed;
  }

  /** Adds or replaces a relay; the old transport closes once its work is done. */
  put(relay: Relay, transport: Transport): void {
    const old = this.#byName.get(relay.name);
    this.#byName.set(relay.name, new RelayAtWork(relay, transport));
    if (old) void old.transport.close();
    this.#changed();
  }

  /** Removes a relay. Mail that waits for it is routed anew. */
  remove(name: string): void {
    const old = this.#byName.get(name);
    this.#byName.delete(name);
    if (old) void old.transport.close();
    this.#changed();
  }

  /** The relay of that name. */
  get(name: string): RelayAtWork | undefined {
    return this.#byName.get(name);
  }

  /** The relay a lane leads to, unless it is gone, disabled, or an operator holds it or the lane. */
  ofLane(lane: string): RelayAtWork | undefined {
    const found = this.#byName.get(relayOfLane(lane));
    if (found === undefined || found.relay.disabled) return undefined;
    return this.holdOf(lane) === 'pause' ? undefined : found;
  }

  /** How an operator holds a lane, or its whole relay; null when neither is held. A pause counts before a drain. */
  holdOf(lane: string): HoldKind | null {
    const holds = this.#deps.holds();
    if (holds.size === 0) return null;
    const kinds = [holds.get(lane), holds.get(relayOfLane(lane))];
    return kinds.includes('pause') ? 'pause' : (kinds.find((kind) => kind !== undefined) ?? null);
  }

  /** Whether mail that waits in a lane had better go elsewhere: its hop is ill, and no operator wants it to wait there. */
  isResting(lane: Lane): boolean {
    const relay = this.ofLane(lane.name);
    if (relay === undefined) return false;
    const now = this.#deps.clock.mono();
    return relay.breakerState(now) === 'open' || !lane.isFit(now, relay.transport.probe !== undefined);
  }

  /** How fit a relay is for mail to that address. */
  fitness(name: string, address: string): RelayFitness {
    const found = this.#byName.get(name);
    if (found === undefined) return 'missing';
    if (found.relay.disabled) return 'disabled';
    const lane = laneOf(name, found.relay.type, address);
    const hold = this.holdOf(lane);
    if (hold !== null) return hold === 'pause' ? 'paused' : 'draining';
    const now = this.#deps.clock.mono();
    if (found.breakerState(now) === 'open') return 'resting';
    const canBeProbed = found.transport.probe !== undefined;
    return this.#deps.lanes.get(lane)?.isFit(now, canBeProbed) === false ? 'resting' : 'usable';
  }

  /** So many units of the lane were taken in hand, or (negative) are in hand no more. */
  took(lane: Lane, units: number): void {
    const name = relayOfLane(lane.name);
    this.#inHand.set(name, (this.#inHand.get(name) ?? 0) + units);
  }

  /** How many units may be claimed for the relay now; 0 while it is busy and there is room for a few only. */
  claimRoom({ relay, inflight, soleLane }: RelayAtWork): number {
    // What bounds the lane bounds the relay.
    if (soleLane) return Number.MAX_SAFE_INTEGER;
    const most = relay.limits.maxConcurrency;
    const room = most * IN_HAND_FACTOR - (this.#inHand.get(relay.name) ?? 0);
    return inflight > 0 && room < most >> 1 ? 0 : Math.max(0, room);
  }

  /** All of them. */
  all(): Iterable<RelayAtWork> {
    return this.#byName.values();
  }

  /** How a relay does at `now` (monotonic ms): as all of its destinations together, or as its one lane. */
  breakerState(name: string, now: number): BreakerState {
    const found = this.#byName.get(name);
    if (found === undefined) return 'closed';
    return found.relay.type === 'mx'
      ? found.breakerState(now)
      : (this.#deps.lanes.get(name)?.breakerState(now) ?? 'closed');
  }

  /** Closes every transport. */
  async close(): Promise<void> {
    await Promise.all([...this.#byName.values()].map((relay) => relay.transport.close()));
  }
}
