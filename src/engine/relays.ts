import {
  afterAttempt,
  type BreakerState,
  CLOSED,
  type HopNews,
  isRefused,
  RELAY_POLICY,
  stateOf,
} from '../domain/breaker.ts';
import type { RelayFitness } from '../domain/failover.ts';
import { type HoldKind, laneOf, relayOfLane } from '../domain/lane.ts';
import type { MailboxProvider } from '../domain/mailbox-provider.ts';
import type { Priority } from '../domain/message.ts';
import { type Relay, type RelayLimits, takesWhole } from '../domain/relay.ts';
import { type Share, WHOLE } from '../domain/share.ts';
import type { Clock } from '../lib/clock.ts';
import type { Transport } from '../transport/transport.ts';
import { KnownHops } from './known-hops.ts';
import type { Lane, LaneLimits } from './lanes.ts';
import { Quota } from './quota.ts';
import { Throttle } from './throttle.ts';

interface RelaysDeps {
  readonly clock: Clock;
  readonly lanes: ReadonlyMap<string, Lane>;
  readonly holds: () => ReadonlyMap<string, HoldKind>;
  /** Lanes left to other nodes because this one could not connect to their hops. */
  readonly shunned: { has(lane: string): boolean };
}

/** The configured relays. They change live: work under way with a replaced relay ends with it. */
export class Relays {
  readonly #byName = new Map<string, RelayAtWork>();
  /** By the name of every relay that there ever was. */
  readonly #lasting = new Map<string, Lasting>();
  /** This node's share of the limits of relays that several nodes work on. */
  share: Share = WHOLE;
  /** What is known of the lanes' hops. */
  readonly hops: KnownHops;
  /** What operators hold, as of the last check. */
  #held: ReadonlySet<string> = new Set();
  readonly #deps: RelaysDeps;
  readonly #changed: () => void;

  /** `changed` is called when relays are added, removed or changed. */
  constructor(deps: RelaysDeps, changed: () => void) {
    this.#deps = deps;
    this.#changed = changed;
    this.hops = new KnownHops(this);
  }

  /** Adds or replaces a relay; the old transport closes once its work is done. */
  put(relay: Relay, transport: Transport): void {
    const old = this.#byName.get(relay.name);
    const lasting = this.#lasting.get(relay.name) ?? new Lasting(relay.limits, () => this.share);
    this.#lasting.set(relay.name, lasting);
    this.#byName.set(relay.name, new RelayAtWork(relay, transport, this.#deps.clock, lasting));
    if (old) {
      void old.transport.close();
      // It may lead elsewhere now: what was known of its hops is void.
      this.#forgetHops((lane) => relayOfLane(lane.name) === relay.name);
    }
    this.#changed();
  }

  /** Holds were placed or lifted. An operator who releases a lane wants it tried, whatever is known of its hop. */
  holdsChanged(): void {
    const now = this.#deps.holds();
    const lifted = [...this.#held].filter((target) => !now.has(target));
    this.#held = new Set(now.keys());
    for (const target of lifted)
      this.#forgetHops(({ name }) => name === target || relayOfLane(name) === target);
  }

  #forgetHops(isMeant: (lane: Lane) => boolean): void {
    for (const lane of this.#deps.lanes.values()) if (isMeant(lane)) this.hops.forget(lane);
  }

  /** Removes a relay. Mail that waits for it is routed again. */
  remove(name: string): void {
    const old = this.#byName.get(name);
    this.#byName.delete(name);
    if (old) void old.transport.close();
    this.#changed();
  }

  get(name: string): RelayAtWork | undefined {
    return this.#byName.get(name);
  }

  /** The relay of a lane; undefined if it is gone, disabled, or held, or if the lane is held. */
  ofLane(lane: string): RelayAtWork | undefined {
    const found = this.#byName.get(relayOfLane(lane));
    if (found === undefined || found.relay.disabled) return undefined;
    return this.holdOf(lane) === 'pause' ? undefined : found;
  }

  /**
   * How an operator holds a lane or its whole relay; null if neither is held. A pause takes precedence over a drain.
   */
  holdOf(lane: string): HoldKind | null {
    const holds = this.#deps.holds();
    if (holds.size === 0) return null;
    const kinds = [holds.get(lane), holds.get(relayOfLane(lane))];
    return kinds.includes('pause') ? 'pause' : (kinds.find((kind) => kind !== undefined) ?? null);
  }

  /**
   * Whether mail that waits in a lane should go elsewhere: its hop is unhealthy, or the relay's quota is used up, and
   * no operator wants the mail to wait there.
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
    if (found.breakerState(now) === 'open' || this.#deps.shunned.has(lane)) return 'resting';
    const canBeProbed = found.transport.probe !== undefined;
    return this.#deps.lanes.get(lane)?.isFit(now, canBeProbed) === false ? 'resting' : 'usable';
  }

  /** That many units of the lane were taken in hand, or (negative) are no longer in hand. */
  took(lane: Lane, units: number): void {
    if (units === 0) return;
    lane.claimed += units;
    const lasting = this.#lasting.get(relayOfLane(lane.name));
    for (const throttle of lasting?.throttlesOf(lane) ?? []) throttle.inHand += units;
  }

  /** The lane's provider has changed: its units in hand count there from now on. */
  provided(lane: Lane, provider: MailboxProvider | null): void {
    const lasting = this.#lasting.get(relayOfLane(lane.name));
    const group = () => lasting?.throttlesOf(lane)[1];
    const before = group();
    if (before !== undefined) before.inHand -= lane.claimed;
    lane.provider = provider;
    const after = group();
    if (after !== undefined) after.inHand += lane.claimed;
  }

  all(): Iterable<RelayAtWork> {
    return this.#byName.values();
  }

  /** A relay's breaker at `now` (monotonic ms): of all of its destinations together, or of its only lane. */
  breakerState(name: string, now: number): BreakerState {
    const found = this.#byName.get(name);
    if (found === undefined) return 'closed';
    return found.relay.type === 'mx'
      ? found.breakerState(now)
      : (this.#deps.lanes.get(name)?.breakerState(now) ?? 'closed');
  }

  /**
   * The reply, in short, by which a relay's only next hop refuses us; null if it does not, or there are several hops.
   */
  refusalOf(name: string): string | null {
    const lane = this.#deps.lanes.get(name);
    return lane === undefined || !isRefused(lane.breaker) ? null : lane.restCause;
  }

  /** A test found the relay healthy: it stops resting. */
  foundWell(name: string): void {
    const lane = this.#deps.lanes.get(name);
    if (lane === undefined || lane.breaker.failures === 0) return;
    this.hops.forget(lane);
    this.#changed();
  }

  /** Whether what is under way fits such a share of the relays' limits. */
  fits(share: Share): boolean {
    for (const relay of this.#byName.values()) if (!relay.fits(share)) return false;
    return true;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#byName.values()].map((relay) => relay.transport.close()));
  }
}

/** The state of a relay that survives its reconfiguration: what is under way still counts. */
export class Lasting {
  readonly slots: Throttle;
  readonly groups = new Map<MailboxProvider, Throttle>();
  readonly quota: Quota;
  /** Whether several nodes may work on it at once, so that its limits are divided among them. */
  isDivided = false;
  readonly #share: () => Share;

  /** `share`: this node's share of the relay's limits. */
  constructor(limits: RelayLimits, share: () => Share = () => WHOLE) {
    this.#share = () => (this.isDivided ? share() : WHOLE);
    this.slots = new Throttle(limits, this.#share);
    this.quota = new Quota(limits);
  }

  /** What limits an attempt on that lane: the relay's slots, and those of the mailbox provider it goes to. */
  throttlesOf({ provider }: Lane): readonly Throttle[] {
    if (provider === null) return [this.slots];
    let group = this.groups.get(provider);
    if (group === undefined) {
      group = new Throttle(provider, this.#share);
      this.groups.set(provider, group);
    }
    return [this.slots, group];
  }
}

/** A relay at work: its transport, how much of it is in use, and the lanes that wait for a slot of it. */
export class RelayAtWork implements LaneLimits {
  readonly relay: Relay;
  readonly transport: Transport;
  /** Shared by all its lanes. */
  readonly slots: Throttle;
  /** What it may send in a day. */
  readonly quota: Quota;
  readonly #lasting: Lasting;
  readonly #clock: Clock;
  #breaker = CLOSED;

  constructor(relay: Relay, transport: Transport, clock: Clock, lasting: Lasting) {
    this.relay = relay;
    this.transport = transport;
    this.#clock = clock;
    this.#lasting = lasting;
    this.slots = lasting.slots;
    this.quota = lasting.quota;
    // A lane has one holder, and changes hands only with nothing under way, so the holder has all of the relay's
    // limits.
    lasting.isDivided = !this.soleLane;
    this.slots.limits = relay.limits;
    this.quota.limit(relay.limits);
  }

  /** Attempts under way over all lanes. */
  get inflight(): number {
    return this.slots.inflight;
  }

  /** Attempts at once on any of its lanes, while healthy. */
  get perLane(): number {
    const { mx } = this.relay;
    return mx === null ? this.slots.most : Math.min(this.slots.most, mx.maxPerDomain);
  }

  /** Attempts at once on that lane, while healthy. */
  perLaneOf(lane: Lane): number {
    const [, ofProvider] = this.#lasting.throttlesOf(lane);
    return ofProvider === undefined ? this.perLane : Math.min(this.perLane, ofProvider.most);
  }

  /** Whether what is under way fits such a share of its limits. */
  fits(share: Share): boolean {
    return this.soleLane || this.throttles().every((throttle) => throttle.inflight <= throttle.mostOf(share));
  }

  /** All of its mail uses one lane, unless every domain has its own. */
  get soleLane(): boolean {
    return this.relay.mx === null;
  }

  /** Most recipients in one transaction. */
  get maxRecipients(): number {
    return this.relay.limits.maxRecipients;
  }

  /** See {@link LaneLimits}. */
  get takesWhole(): boolean {
    return takesWhole(this.relay);
  }

  /** See {@link LaneLimits}. */
  get left(): number {
    return this.quota.left('normal', this.#clock.wall());
  }

  /** See {@link LaneLimits}. */
  get leftForHigh(): number {
    return this.quota.left('high', this.#clock.wall());
  }

  /** See {@link Lasting.throttlesOf}. */
  throttlesOf(lane: Lane): readonly Throttle[] {
    return this.#lasting.throttlesOf(lane);
  }

  /** Every throttle of the relay. */
  throttles(): readonly Throttle[] {
    return [this.slots, ...this.#lasting.groups.values()];
  }

  /**
   * Takes an attempt's news from any of its lanes. Only a relay with many destinations has a breaker besides its
   * lanes'.
   */
  heard(news: HopNews, now: number, dice: number): void {
    if (this.relay.type === 'mx') this.#breaker = afterAttempt(this.#breaker, news, RELAY_POLICY, now, dice);
  }

  /** The breaker of all its destinations together. */
  breakerState(now: number): BreakerState {
    return stateOf(this.#breaker, now);
  }
}
