import { relayOfLane } from '../domain/lane.ts';
import type { Share } from '../domain/share.ts';
import type { Clock } from '../lib/clock.ts';
import { NewestMap } from '../lib/newest-map.ts';
import type { Lane } from './lanes.ts';
import type { Membership } from './membership.ts';
import type { RelayAtWork, Relays } from './relays.ts';

/** A node releases lanes if it exceeds its share by more than one in this many, or by `MIN_SLACK` if that is more. */
const SLACK_SHARE = 8;
const MIN_SLACK = 1;
/** It releases one in this many of its surplus at a time, within the two bounds below. */
const STEP_SHARE = 8;
const MIN_STEP = 8;
const MAX_STEP = 256;

/** How many lanes a node may hold, and how many it should release now. */
interface Burden {
  readonly most: number;
  readonly surplus: number;
}

/** The burden of a node with `own` lanes, whose peers have `others` lanes each. */
export function burdenOf(own: number, others: readonly number[]): Burden {
  const fair = Math.ceil(others.reduce((sum, count) => sum + count, own) / (others.length + 1));
  const most = fair + Math.max(MIN_SLACK, Math.ceil(fair / SLACK_SHARE));
  const over = own - fair;
  const step = Math.min(over, MAX_STEP, Math.max(MIN_STEP, Math.ceil(over / STEP_SHARE)));
  return { most, surplus: own > most ? step : 0 };
}

interface BalanceDeps {
  readonly membership: Membership;
  readonly relays: Relays;
  /** Lanes whose hops this node could not reach. They count as its own: others have them only for that reason. */
  readonly shunned: Avoided;
}

/**
 * Balances this node's lanes against those of the other nodes. Two kinds are balanced separately: lanes of smarthosts,
 * which are one per relay and few in the cluster, and lanes of relays with many destinations. If a relay's limits are
 * too small for every node to have a share, only the nodes with a share work its lanes, and they are not balanced.
 */
export class Balance {
  readonly #deps: BalanceDeps;
  readonly #lanes: ReadonlyMap<string, Lane>;

  constructor(deps: BalanceDeps, lanes: ReadonlyMap<string, Lane>) {
    this.#deps = deps;
    this.#lanes = lanes;
  }

  /** Whether no other node works lanes. */
  get isAlone(): boolean {
    return this.#deps.membership.others().length === 0;
  }

  /** Balanced lanes of relays with many destinations, including those left to others because of their hops. */
  get count(): number {
    const held = this.#held().filter((lane) => this.#isWeighed(lane)).length;
    return held + this.#deps.shunned.names().filter((name) => name.includes('/')).length;
  }

  /** How many more smarthost lanes this node may take. */
  get roomForSole(): number {
    return this.isAlone ? Number.POSITIVE_INFINITY : this.#mostSole - this.#soleHeld().length;
  }

  /** How many more lanes of relays with many destinations it may take. */
  get roomForMany(): number {
    return this.isAlone ? Number.POSITIVE_INFINITY : this.#burden.most - this.count;
  }

  /** Lanes that this node should leave to others at `mono` (monotonic ms), idle ones first. */
  surplus(mono: number): Lane[] {
    if (this.isAlone) return [];
    const mayGo = (lane: Lane) => lane.staysUntil <= mono;
    const byNeed = (one: Lane, other: Lane) => one.inHand - other.inHand;
    const sole = this.#soleHeld().filter(mayGo).sort(byNeed);
    const many = this.#held().filter((lane) => this.#isWeighed(lane) && mayGo(lane));
    const { surplus } = this.#burden;
    return [
      // One at a time: they are few, and each carries much mail.
      ...sole.slice(0, this.roomForSole < 0 ? 1 : 0),
      ...(surplus > 0 ? many.sort(byNeed).slice(0, surplus) : []),
    ];
  }

  /** Lanes on which this node may send nothing, because their relay's or provider's limits are too small for it. */
  hopeless(): Lane[] {
    if (this.isAlone || !this.#deps.membership.sends) return [];
    return this.#held().filter((lane) => {
      const relay = this.#deps.relays.ofLane(lane.name);
      return relay?.throttlesOf(lane).some(({ most }) => most === 0) === true;
    });
  }

  /**
   * Relays on which this node may send nothing: another node has all of their small limits, or this one is not counted
   * yet.
   */
  relaysNotSentBy(): string[] {
    return this.#relaysThat((relay) => isNotSentBy(relay));
  }

  /** Whether a lane's relay is one of these. */
  mayNotSend(lane: string): boolean {
    const relay = this.#deps.relays.get(relayOfLane(lane));
    return relay !== undefined && isNotSentBy(relay);
  }

  /** Relays most of whose destinations this node cannot reach at `mono` (monotonic ms). */
  relaysResting(mono: number): string[] {
    return this.#relaysThat((relay) => relay.breakerState(mono) === 'open');
  }

  /** Relays of one kind: with one lane, or with many. */
  relaysOf(kind: 'sole' | 'many'): string[] {
    return this.#relaysThat(({ soleLane }) => soleLane === (kind === 'sole'));
  }

  #relaysThat(are: (relay: RelayAtWork) => boolean): string[] {
    return [...this.#deps.relays.all()].filter(are).map(({ relay }) => relay.name);
  }

  get #burden(): Burden {
    const others = this.#deps.membership.others().map(({ lanes }) => lanes);
    return burdenOf(this.count, others);
  }

  /** Every node rounds up, so together they have room for all. */
  get #mostSole(): number {
    const sole = this.#relaysThat(({ soleLane, relay }) => soleLane && !relay.disabled).length;
    return Math.ceil(sole / (1 + this.#deps.membership.others().length));
  }

  #held(): Lane[] {
    return [...this.#lanes.values()].filter(({ isEnding }) => !isEnding);
  }

  #soleHeld(): Lane[] {
    return this.#held().filter(({ name }) => this.#deps.relays.ofLane(name)?.soleLane === true);
  }

  /** Whether every node has a share of the limits of the lane's relay and provider. */
  #isWeighed(lane: Lane): boolean {
    const relay = this.#deps.relays.ofLane(lane.name);
    if (relay === undefined || relay.soleLane) return false;
    const of = 1 + this.#deps.membership.others().length;
    const least: Share = { rank: of - 1, of };
    return relay.throttlesOf(lane).every((throttle) => throttle.mostOf(least) > 0);
  }
}

function isNotSentBy({ soleLane, slots }: RelayAtWork): boolean {
  return !soleLane && slots.most === 0;
}

/** Most lanes avoided at once. Beyond it the oldest are forgotten, and may be taken again early. */
const MAX_AVOIDED = 4_000;

/** Lanes left to other nodes for a while. */
export class Avoided {
  readonly #clock: Pick<Clock, 'mono'>;
  /** Until when (monotonic ms). */
  readonly #until = new NewestMap<string, number>(MAX_AVOIDED);

  constructor(clock: Pick<Clock, 'mono'>) {
    this.#clock = clock;
  }

  /** Leaves a lane to others for `ms` milliseconds. */
  add(lane: string, ms: number): void {
    this.#until.set(lane, this.#clock.mono() + ms);
  }

  /** Whether a lane is left to others now. */
  has(lane: string): boolean {
    return (this.#until.get(lane) ?? Number.NEGATIVE_INFINITY) > this.#clock.mono();
  }

  /** All lanes left to others now. */
  names(): string[] {
    const now = this.#clock.mono();
    for (const [lane, until] of this.#until) if (until <= now) this.#until.delete(lane);
    return [...this.#until.keys()];
  }
}
