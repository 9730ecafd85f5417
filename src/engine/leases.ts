import { relayOfLane } from '../domain/lane.ts';
import type { Clock } from '../lib/clock.ts';
import { WakeUp } from '../lib/clock.ts';
import type { Store } from '../store/store.ts';
import type { Balance } from './balance.ts';
import { Avoided } from './balance.ts';
import { LANE_LEASE_MS, LANE_RENEW_MS } from './contract.ts';
import type { Dispatch } from './dispatch.ts';
import type { KnownHops } from './known-hops.ts';
import { Lane } from './lanes.ts';
import type { Membership } from './membership.ts';
import type { News } from './news.ts';

/** How often to look for lanes with due work and no holder, in ms. */
const DISCOVER_MS = 1_000;
/** Most newly found lanes to take in one transaction. */
const DISCOVER_LIMIT = 1_000;
/** Most lanes that a node holds; others wait until some are released. */
const MAX_LANES = 20_000;
/** The part of them that is reserved for lanes wanted by name; found lanes fill the rest at most. */
const KEPT_FOR_WANTED = 2_000;
/** A lane of a relay with many destinations is released after this long without work, in ms. */
const IDLE_MS = 30_000;
/** Unless work in it comes due within this many ms. */
const SOON_MS = 60_000;
/** How long a lane is kept to remember the state of its unhealthy hop, in ms. */
const REMEMBER_MS = 600_000;
/** How often to check that the leases of lanes with attempts under way are still trusted, in ms. */
const WATCH_MS = 500;
/** How long a lane left to others by balancing is not taken back, in ms. */
const LEFT_MS = 10_000;
/** A lane that should be left to others but has attempts under way for longer than this stays that long, in ms. */
const LEAVE_LIMIT_MS = 30_000;
const STAY_MS = 300_000;
/** How often a few lanes are taken beyond our share, in ms: those that no other node takes. */
const BEYOND_MS = 15_000;
const BEYOND_LIMIT = 16;
/** How long such lanes stay, in ms. */
const BEYOND_STAY_MS = 60_000;
/** How long a lane that another node just held is assumed to be held by it, in ms. */
const FOREIGN_MS = 5_000;
/** Least and most time for which a lane is left to others because this node cannot connect to its hop, in ms. */
const MIN_SHUN_MS = 10_000;
const MAX_SHUN_MS = 60_000;

/** What keeping leases needs. */
export interface LeaseDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly node: string;
  readonly hops: KnownHops;
  readonly membership: Membership;
  readonly balance: Balance;
  readonly news: News;
  /** Lanes left to others because this node could not connect to their hops. */
  readonly shunned: Avoided;
  readonly fault: (code: string, error: unknown) => void;
}

/** What to ask of the store. */
interface Wishes {
  /** By name. */
  readonly wanted: readonly string[];
  /** How many other lanes, whichever they are. */
  readonly limit: number;
  readonly except: readonly string[];
  /** They exceed our share. */
  readonly beyond: boolean;
}

/**
 * Holds the lanes this node works: takes lanes that have work, renews their leases, drops lost ones, and leaves to
 * other nodes their share.
 */
export class Leases {
  readonly #deps: LeaseDeps;
  readonly #lanes: Map<string, Lane>;
  readonly #dispatch: Dispatch;
  readonly #wanted = new Set<string>();
  /** Left to others by balancing. */
  readonly #left: Avoided;
  /** Another node held these a moment ago. */
  readonly #foreign: Avoided;
  readonly #wakeUp = new WakeUp();
  #renewedAt = Number.NEGATIVE_INFINITY;
  #weighedAt = Number.NEGATIVE_INFINITY;
  #beyondAt: number;
  #draining = false;
  #stopping = false;

  constructor(deps: LeaseDeps, lanes: Map<string, Lane>, dispatch: Dispatch) {
    this.#deps = deps;
    this.#lanes = lanes;
    this.#dispatch = dispatch;
    this.#left = new Avoided(deps.clock);
    this.#foreign = new Avoided(deps.clock);
    this.#beyondAt = deps.clock.mono();
  }

  /** Work waits in a lane, such as fresh mail: asks for the lane, or tells its holder. */
  want(lane: string): void {
    if (this.#lanes.has(lane) || this.#wanted.has(lane)) return;
    if (!this.#mayTake(lane)) {
      this.#deps.news.tell(lane);
      return;
    }
    this.#wanted.add(lane);
    this.#wakeUp.wake();
  }

  /** Takes and renews leases until stopped. Resolves when stopped. */
  async run(): Promise<void> {
    while (!this.#stopping) {
      const more = await this.turn();
      if (!more) await this.#wakeUp.wait(this.#deps.clock, DISCOVER_MS);
    }
  }

  /** Interrupts what is under way on leases that are no longer trusted, however long the store takes to answer. */
  async watch(stopping: AbortSignal): Promise<void> {
    const { clock, membership } = this.#deps;
    while (membership.isShared && !stopping.aborted) {
      await clock.sleep(WATCH_MS, stopping);
      const mono = clock.mono();
      for (const lane of this.#lanes.values())
        if (lane.inflight > 0 && mono >= lane.trustedUntil) this.#dispatch.breakOff(lane);
    }
  }

  /** One turn: releases finished lanes, renews if it is time, then looks for work. True: there is more to find. */
  async turn(): Promise<boolean> {
    try {
      this.#weigh();
      await this.#letGo();
      if (this.#deps.clock.mono() - this.#renewedAt >= LANE_RENEW_MS) await this.renew();
      return await this.#acquire();
    } catch (error) {
      this.#deps.fault('lease_failed', error);
      return false;
    }
  }

  /** Connecting to a lane's hop failed repeatedly: lets other nodes try, if there are any. */
  shun(name: string): void {
    const { clock, balance, shunned } = this.#deps;
    const lane = this.#lanes.get(name);
    if (lane === undefined || lane.isEnding || balance.isAlone) return;
    const mono = clock.mono();
    const restMs = (lane.restsUntil(mono) ?? mono) - mono;
    shunned.add(name, Math.min(MAX_SHUN_MS, Math.max(MIN_SHUN_MS, restMs)));
    this.#dispatch.leave(lane);
    this.#wakeUp.wake();
  }

  /** Takes no more lanes, and releases those with nothing in hand. */
  drain(): void {
    this.#draining = true;
    this.#wakeUp.wake();
  }

  /** Stops taking and renewing. */
  stop(): void {
    this.#stopping = true;
    this.#wakeUp.wake();
  }

  /** Releases every lane, once nothing is under way. */
  async releaseAll(): Promise<void> {
    const { store, node, clock } = this.#deps;
    const leases = [...this.#lanes.values()].map(({ name, fence }) => ({ lane: name, fence }));
    this.#lanes.clear();
    try {
      await store.releaseLanes(leases, { node, now: clock.wall() });
    } catch (error) {
      this.#deps.fault('lease_failed', error);
    }
  }

  /** Starts to leave lanes to others if this node has too many, or can send nothing on them. */
  #weigh(): void {
    const { clock, balance, shunned } = this.#deps;
    const mono = clock.mono();
    if (mono - this.#weighedAt < DISCOVER_MS) return;
    this.#weighedAt = mono;
    for (const lane of this.#lanes.values()) {
      if (lane.leavingSince === null || mono - lane.leavingSince < LEAVE_LIMIT_MS) continue;
      lane.leavingSince = null;
      lane.staysUntil = mono + STAY_MS;
      this.#dispatch.stir(lane);
    }
    for (const lane of balance.hopeless()) {
      shunned.add(lane.name, MAX_SHUN_MS);
      this.#dispatch.leave(lane);
    }
    for (const lane of balance.surplus(mono)) {
      this.#left.add(lane.name, LEFT_MS);
      this.#dispatch.leave(lane);
    }
  }

  /** Retired lanes are acquired again at once; idle ones when there is mail for them. */
  async #letGo(): Promise<void> {
    const { store, node, clock } = this.#deps;
    const mono = clock.mono();
    const now = clock.wall();
    const done = [...this.#lanes.values()].filter(
      (lane) => lane.inHand === 0 && (lane.isEnding || this.#draining || this.#isIdle(lane, mono, now)),
    );
    if (done.length === 0) return;
    const leases = done.map(({ name, fence }) => ({ lane: name, fence }));
    const anew = new Set(done.filter(({ retired }) => retired));
    // From here on no room may be promised on them: mail accepted meanwhile waits in the store.
    for (const lane of done) lane.retired = true;
    await store.releaseLanes(leases, { node, now });
    for (const lane of done) {
      if (this.#lanes.get(lane.name) === lane) this.#lanes.delete(lane.name);
      this.#deps.hops.remember(lane);
      const isLeft = lane.leavingSince !== null || this.#draining;
      if (!isLeft && (lane.waiting || anew.has(lane))) this.#wanted.add(lane.name);
    }
  }

  #isIdle(lane: Lane, mono: number, now: number): boolean {
    if (lane.name === relayOfLane(lane.name) || lane.waiting || mono - lane.busyAt < IDLE_MS) return false;
    if (lane.breakerState(mono) !== 'closed' && mono - lane.busyAt < REMEMBER_MS) return false;
    return lane.nextDueAt === null || lane.nextDueAt - now > SOON_MS;
  }

  /** Whether this node should ask for a lane at all. */
  #mayTake(lane: string): boolean {
    const { membership, balance, shunned } = this.#deps;
    if (!membership.delivers || this.#draining) return false;
    if (balance.mayNotSend(lane)) return false;
    return balance.isAlone || ![shunned, this.#left, this.#foreign].some((avoided) => avoided.has(lane));
  }

  /** The wanted lanes that this node has room for; the holders of the others are told. */
  #choose(): string[] {
    const { balance, news } = this.#deps;
    const rooms = { sole: balance.roomForSole, many: balance.roomForMany };
    const room = MAX_LANES - this.#lanes.size;
    const chosen: string[] = [];
    for (const lane of this.#wanted) {
      const kind = lane === relayOfLane(lane) ? 'sole' : 'many';
      if (chosen.length >= room) break;
      if (rooms[kind] < 1 || !this.#mayTake(lane)) news.tell(lane);
      else {
        rooms[kind]--;
        chosen.push(lane);
      }
    }
    this.#wanted.clear();
    return chosen;
  }

  #wishes(mono: number): Wishes {
    const { balance, shunned } = this.#deps;
    const wanted = this.#choose();
    const most = MAX_LANES - this.#lanes.size - wanted.length - KEPT_FOR_WANTED;
    const hopeless = balance.relaysNotSentBy();
    if (balance.isAlone)
      return { wanted, limit: bounded(most, DISCOVER_LIMIT), except: hopeless, beyond: false };
    if (mono - this.#beyondAt >= BEYOND_MS) {
      this.#beyondAt = mono;
      const except = [...hopeless, ...shunned.names()];
      return { wanted, limit: bounded(most, BEYOND_LIMIT), except, beyond: true };
    }
    const { roomForSole, roomForMany } = balance;
    const avoided = [...shunned.names(), ...this.#left.names(), ...balance.relaysResting(mono)];
    const full = [
      ...(roomForSole < 1 ? balance.relaysOf('sole') : []),
      ...(roomForMany < 1 ? balance.relaysOf('many') : []),
    ];
    const limit = bounded(
      Math.min(most, Math.max(0, roomForSole) + Math.max(0, roomForMany)),
      DISCOVER_LIMIT,
    );
    return { wanted, limit, except: [...hopeless, ...avoided, ...full], beyond: false };
  }

  /** Acquires wanted and found lanes. True: there may be more. */
  async #acquire(): Promise<boolean> {
    const { store, node, clock, membership, balance, news } = this.#deps;
    if (!membership.delivers || this.#draining) return false;
    const now = clock.wall();
    const mono = clock.mono();
    const { wanted, limit, except, beyond } = this.#wishes(mono);
    const granted = await store.acquireLanes(wanted, limit, now + LANE_LEASE_MS, { node, now }, except);
    for (const { lane, fence } of granted) {
      const old = this.#lanes.get(lane);
      if (old?.fence === fence) continue;
      if (old) this.#dispatch.drop(old);
      const taken = new Lane(lane, fence, membership.trustedUntil(mono), mono);
      if (beyond) taken.staysUntil = mono + BEYOND_STAY_MS;
      this.#deps.hops.introduce(taken);
      this.#lanes.set(lane, taken);
      this.#dispatch.stir(taken);
    }
    // Another node holds a wanted lane that was not granted; discovery finds it once it is free.
    if (!balance.isAlone)
      for (const lane of wanted)
        if (!this.#lanes.has(lane)) {
          this.#foreign.add(lane, FOREIGN_MS);
          news.tell(lane);
        }
    return limit > 0 && !beyond && granted.length - wanted.length >= limit;
  }

  /** Extends every held lease, and drops the lanes that are no longer ours. */
  async renew(): Promise<void> {
    const { store, node, clock, membership } = this.#deps;
    const held = [...this.#lanes.values()];
    if (held.length === 0) return;
    const now = clock.wall();
    const startedAt = clock.mono();
    const leases = held.map(({ name, fence }) => ({ lane: name, fence }));
    const lost = new Set(await store.renewLanes(leases, now + LANE_LEASE_MS, { node, now }));
    this.#renewedAt = startedAt;
    for (const lane of held) {
      if (lost.has(lane.name)) {
        this.#dispatch.drop(lane);
        if (this.#lanes.get(lane.name) === lane) this.#lanes.delete(lane.name);
      } else {
        lane.trustedUntil = membership.trustedUntil(startedAt);
      }
    }
  }
}

/** At most `most`, as far as there is room. */
function bounded(room: number, most: number): number {
  return Math.max(0, Math.min(room, most));
}
