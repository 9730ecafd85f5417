import {
  afterAttempt,
  type BreakerState,
  CLOSED,
  type HopNews,
  RELAY_POLICY,
  stateOf,
} from '../domain/breaker.ts';
import type { MailboxProvider } from '../domain/mailbox-provider.ts';
import { type Relay, type RelayLimits, takesWhole } from '../domain/relay.ts';
import { type Share, WHOLE } from '../domain/share.ts';
import type { Clock } from '../lib/clock.ts';
import type { Transport } from '../transport/transport.ts';
import type { Lane, LaneLimits } from './lanes.ts';
import { Quota } from './quota.ts';
import { Throttle } from './throttle.ts';

/** What a relay at work has that outlives its being set up anew: what is under way goes on counting. */
export class Lasting {
  readonly slots: Throttle;
  readonly groups = new Map<MailboxProvider, Throttle>();
  readonly quota: Quota;
  /** Whether several nodes may work on it at the same time: what it allows is divided among them then. */
  isDivided = false;
  readonly #share: () => Share;

  /** `share`: this node's part of what relays allow. */
  constructor(limits: RelayLimits, share: () => Share = () => WHOLE) {
    this.#share = () => (this.isDivided ? share() : WHOLE);
    this.slots = new Throttle(limits, this.#share);
    this.quota = new Quota(limits);
  }

  /** What an attempt on that lane must find room in: the relay's slots, and those of the mailbox provider it goes to. */
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
  /** Over all its lanes. */
  readonly slots: Throttle;
  /** What it may be given in a day. */
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
    // One lane has one holder, who hands it over with nothing under way: whoever it is has all that the relay allows.
    lasting.isDivided = !this.soleLane;
    this.slots.limits = relay.limits;
    this.quota.limit(relay.limits);
  }

  /** Attempts under way over all lanes. */
  get inflight(): number {
    return this.slots.inflight;
  }

  /** Attempts at once on any of its lanes, in health. */
  get perLane(): number {
    const { mx } = this.relay;
    return mx === null ? this.slots.most : Math.min(this.slots.most, mx.maxPerDomain);
  }

  /** Attempts at once on that lane, in health. */
  perLaneOf(lane: Lane): number {
    const [, ofProvider] = this.#lasting.throttlesOf(lane);
    return ofProvider === undefined ? this.perLane : Math.min(this.perLane, ofProvider.most);
  }

  /** Whether what is under way is within such a part of what it allows. */
  fits(share: Share): boolean {
    return this.soleLane || this.throttles().every((throttle) => throttle.inflight <= throttle.mostOf(share));
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

  /** Every throttle, for what concerns all of them. */
  throttles(): readonly Throttle[] {
    return [this.slots, ...this.#lasting.groups.values()];
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
