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
import { type MailboxProvider, mailboxProviderOf } from '../domain/mailbox-provider.ts';
import type { Priority } from '../domain/message.ts';
import type { Relay, RelayLimits } from '../domain/relay.ts';
import { openWindow, type Window } from '../domain/window.ts';
import type { Clock } from '../lib/clock.ts';
import type { Transport } from '../transport/transport.ts';
import type { Lane, LaneLimits } from './lanes.ts';
import { Quota } from './quota.ts';
import { Throttle } from './throttle.ts';

/** How many units of claimed work a relay may have in hand, as a multiple of what it may have under way. */
const IN_HAND_FACTOR = 2;
/** Attempts at once that a lane of a relay with many destinations begins with, until its hop has shown to bear more. */
const INITIAL_CONCURRENCY = 5;
/** So many lanes' windows are remembered after they were let go. */
const MAX_WINDOWS = 20_000;

/** What a relay at work has that outlives its being set up anew: what is under way goes on counting. */
export class Lasting {
  readonly slots: Throttle;
  readonly groups = new Map<MailboxProvider, Throttle>();
  readonly quota: Quota;

  constructor(limits: RelayLimits) {
    this.slots = new Throttle(limits);
    this.quota = new Quota(limits);
  }
}

/** A relay at work: its transport, how much of it is in use, and the lanes that wait for a slot of it. */
export class RelayAtWork implements LaneLimits {
  readonly relay: Relay;
  readonly transport: Transport;
  /** Over all its lanes. */
  readonly slots: Throttle;
  /** What it may be given in a day. */
  readonly quota: Quota;
  readonly #groups: Map<MailboxProvider, Throttle>;
  readonly #clock: Clock;
  #breaker = CLOSED;

  constructor(relay: Relay, transport: Transport, clock: Clock, { slots, groups, quota }: Lasting) {
    this.relay = relay;
    this.transport = transport;
    this.#clock = clock;
    this.slots = slots;
    this.quota = quota;
    this.#groups = groups;
    slots.limits = relay.limits;
    quota.limit(relay.limits);
  }

  /** Attempts under way over all lanes. */
  get inflight(): number {
    return this.slots.inflight;
  }

  /** Attempts at once on any of its lanes, in health. */
  get perLane(): number {
    const { limits, mx } = this.relay;
    return mx === null ? limits.maxConcurrency : Math.min(limits.maxConcurrency, mx.maxPerDomain);
  }

  /** Attempts at once on that lane, in health. */
  perLaneOf({ provider }: Lane): number {
    return provider === null ? this.perLane : Math.min(this.perLane, provider.maxConcurrency);
  }

  /** All of its mail goes by one lane, unless every domain has its own. */
  get soleLane(): boolean {
    return this.relay.mx === null;
  }

  /** Most recipients in one transaction. */
  get maxRecipients(): number {
    return this.relay.limits.maxRecipients;
  }

  /** See {@link LaneLimits}. */
  get left(): number {
    return this.quota.left('normal', this.#clock.wall());
  }

  /** See {@link LaneLimits}. */
  get leftForHigh(): number {
    return this.quota.left('high', this.#clock.wall());
  }

  /** What an attempt on that lane must find room in: the relay's slots, and those of the mailbox provider it goes to. */
  throttlesOf({ provider }: Lane): readonly Throttle[] {
    if (provider === null) return [this.slots];
    let group = this.#groups.get(provider);
    if (group === undefined) {
      group = new Throttle(provider);
      this.#groups.set(provider, group);
    }
    return [this.slots, group];
  }

  /** Every throttle, for what concerns all of them. */
  throttles(): readonly Throttle[] {
    return [this.slots, ...this.#groups.values()];
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
  /** Of every name that there ever was a relay of. */
  readonly #lasting = new Map<string, Lasting>();
  /** Units in hand by relay: waiting for a slot, under way or being recorded. Outlives a relay that is replaced. */
  readonly #inHand = new Map<string, number>();
  /** Of lanes that were let go, the last so many. */
  readonly #windows = new Map<string, Window>();
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
    const lasting = this.#lasting.get(relay.name) ?? new Lasting(relay.limits);
    this.#lasting.set(relay.name, lasting);
    this.#byName.set(relay.name, new RelayAtWork(relay, transport, this.#deps.clock, lasting));
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

  /**
   * Whether mail that waits in a lane had better go elsewhere: its hop is ill, or the relay has had what it may have today,
   * and no operator wants it to wait there.
   */
  isResting(lane: Lane): boolean {
    const relay = this.ofLane(lane.name);
    if (relay === undefined) return false;
    if (relay.left < 1) return true;
    const now = this.#deps.clock.mono();
    return relay.breakerState(now) === 'open' || !lane.isFit(now, relay.transport.probe !== undefined);
  }

  /** How fit a relay is for mail of that priority to that address. */
  fitness(name: string, address: string, priority: Priority): RelayFitness {
    const found = this.#byName.get(name);
    if (found === undefined) return 'missing';
    if (found.relay.disabled) return 'disabled';
    const lane = laneOf(name, found.relay.type, address);
    const hold = this.holdOf(lane);
    if (hold !== null) return hold === 'pause' ? 'paused' : 'draining';
    if ((priority === 'high' ? found.leftForHigh : found.left) < 1) return 'spent';
    const now = this.#deps.clock.mono();
    if (found.breakerState(now) === 'open') return 'resting';
    const canBeProbed = found.transport.probe !== undefined;
    return this.#deps.lanes.get(lane)?.isFit(now, canBeProbed) === false ? 'resting' : 'usable';
  }

  /** A lane is held from now on: whose its hop is, and what is known of the pace that does well with it. */
  introduce(lane: Lane): void {
    const found = this.#byName.get(relayOfLane(lane.name));
    if (found === undefined || found.relay.mx === null) return;
    if (found.relay.mx.presets)
      lane.provider = mailboxProviderOf(lane.name.slice(found.relay.name.length + 1), null);
    const begin = lane.provider?.initialConcurrency ?? INITIAL_CONCURRENCY;
    lane.window = this.#windows.get(lane.name) ?? openWindow(Math.min(begin, found.perLaneOf(lane)));
  }

  /** A host was spoken to for a lane: where it is a big mailbox provider's, the lane shares that one's pace from now on. */
  spokeTo(lane: Lane, relay: RelayAtWork, host: string | null): void {
    if (lane.provider !== null || host === null || relay.relay.mx?.presets !== true) return;
    lane.provider = mailboxProviderOf(lane.name.slice(relay.relay.name.length + 1), host);
  }

  /** A lane is let go: the pace that did well with its hop is remembered for when there is mail for it again. */
  remember({ name, window }: Lane): void {
    this.#windows.delete(name);
    if (window === null) return;
    this.#windows.set(name, window);
    for (const oldest of this.#windows.keys()) {
      if (this.#windows.size <= MAX_WINDOWS) return;
      this.#windows.delete(oldest);
    }
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
