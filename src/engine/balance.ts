import { relayOfLane } from '../domain/lane.ts';
import type { Share } from '../domain/share.ts';
import type { Clock } from '../lib/clock.ts';
import { NewestMap } from '../lib/newest-map.ts';
import type { Lane } from './lanes.ts';
import type { Membership } from './membership.ts';
import type { RelayAtWork, Relays } from './relays.ts';

/** A node lets go of lanes when it has more than its part by one in so many, and by so many at least. */
const SLACK_SHARE = 8;
const MIN_SLACK = 1;
/** Of what it has too much it lets go of one in so many at a time, and of no fewer and no more than so many. */
const STEP_SHARE = 8;
const MIN_STEP = 8;
const MAX_STEP = 256;

/** How many lanes a node may hold, and how many it is to let go of now. */
interface Burden {
  readonly most: number;
  readonly surplus: number;
}

/** The burden of a node that has `own` lanes, and whose `others` have so many each. */
export function burdenOf(own: number, others: readonly number[]): Burden {
  const fair = Math.ceil(others.reduce((sum, count) => sum + count, own) / (others.length + 1));
  const most = fair + Math.max(MIN_SLACK, Math.ceil(fair / SLACK_SHARE));
  const over = own - fair;
  const step = Math.min(over, MAX_STEP, Math.max(MIN_STEP, Math.ceil(over / STEP_SHARE)));
  return { most, surplus: own > most ? step : 0 };
}

/** What weighing takes. */
interface BalanceDeps {
  readonly membership: Membership;
  readonly relays: Relays;
  /** Lanes whose hops this node could not reach. They count as its own: others have them only for that. */
  readonly shunned: Avoided;
}

/**
 * Weighs the lanes of this node against those of the others. Two kinds weigh by themselves: the lanes of smarthosts, of
 * which a relay has one and the cluster few, and those of relays with many destinations. Lanes of a relay that allows too
 * little for every node to have a part of it are worked by those which have one, and are not weighed.
 */
export class Balance {
  readonly #deps: BalanceDeps;
  readonly #lanes: ReadonlyMap<string, Lane>;

  constructor(deps: BalanceDeps, lanes: ReadonlyMap<string, Lane>) {
    this.#deps = deps;
    this.#lanes = lanes;
  }

  /** Whether no other node is there that works lanes. */
  get isAlone(): boolean {
    return this.#deps.membership.others().length === 0;
  }

  /** Lanes of many destinations that weigh; those that were left to others for their hops' sake do, too. */
  get count(): number {
    const held = this.#held().filter((lane) => this.#isWeighed(lane)).length;
    return held + this.#deps.shunned.names().filter((name) => name.includes('/')).length;
  }

  /** How many more lanes of smarthosts this node may take. */
  get roomForSole(): number {
    return this.isAlone ? Number.POSITIVE_INFINITY : this.#mostSole - this.#soleHeld().length;
  }

  /** How many more lanes of relays with many destinations it may take. */
  get roomForMany(): number {
    return this.isAlone ? Number.POSITIVE_INFINITY : this.#burden.most - this.count;
  }

  /** Lanes that this node is to leave to others at `mono` (monotonic ms): what is idle goes first. */
  surplus(mono: number): Lane[] {
    if (this.isAlone) return [];
    const mayGo = (lane: Lane) => lane.staysUntil <= mono;
    const byNeed = (one: Lane, other: Lane) => one.inHand - other.inHand;
    const sole = this.#soleHeld().filter(mayGo).sort(byNeed);
    const many = this.#held().filter((lane) => this.#isWeighed(lane) && mayGo(lane));
    const { surplus } = this.#burden;
    return [
      // One at a time: there are few, and much goes by each.
      ...sole.slice(0, this.roomForSole < 0 ? 1 : 0),
      ...(surplus > 0 ? many.sort(byNeed).slice(0, surplus) : []),
    ];
  }

  /** Lanes of which this node may not send anything, as what their relay or provider allows is too little for it. */
  hopeless(): Lane[] {
    if (this.isAlone || !this.#deps.membership.sends) return [];
    return this.#held().filter((lane) => {
      const relay = this.#deps.relays.ofLane(lane.name);
      return relay?.throttlesOf(lane).some(({ most }) => most === 0) === true;
    });
  }

  /** Relays by which this node may not send anything: another has what little they allow, or it is not counted yet. */
  relaysNotSentBy(): string[] {
    return this.#relaysThat((relay) => isNotSentBy(relay));
  }

  /** Whether a lane's relay is one of these. */
  mayNotSend(lane: string): boolean {
    const relay = this.#deps.relays.get(relayOfLane(lane));
    return relay !== undefined && isNotSentBy(relay);
  }

  /** Relays hardly any of whose destinations this node can reach at `mono` (monotonic ms). */
  relaysResting(mono: number): string[] {
    return this.#relaysThat((relay) => relay.breakerState(mono) === 'open');
  }

  /** Relays of one kind: those with one lane, or those with many. */
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

  /** Every node rounds up: together they have room for all. */
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

  /** Whether every node has a part of what the lane's relay and provider allow. */
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

/** So many lanes are avoided at the same time; of more the first are forgotten, and may be taken again early. */
const MAX_AVOIDED = 4_000;

/** Lanes that are left to other nodes for a while. */
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

  /** Whether a lane is left to others at this moment. */
  has(lane: string): boolean {
    return (this.#until.get(lane) ?? Number.NEGATIVE_INFINITY) > this.#clock.mono();
  }

  /** All that are. */
  names(): string[] {
    const now = this.#clock.mono();
    for (const [lane, until] of this.#until) if (until <= now) this.#until.delete(lane);
    return [...this.#until.keys()];
  }
}
