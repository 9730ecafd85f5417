import { relayOfLane } from '../domain/lane.ts';
import type { Clock } from '../lib/clock.ts';
import { WakeUp } from '../lib/wakeup.ts';
import type { Store } from '../store/store.ts';
import type { Dispatch } from './dispatch.ts';
import type { KnownHops } from './known-hops.ts';
import { Lane } from './lanes.ts';
import type { Membership } from './membership.ts';
import { LANE_LEASE_MS, LANE_RENEW_MS } from './settings.ts';

/** How often lanes with due work that nobody holds are looked for, in ms. */
const DISCOVER_MS = 1_000;
/** At most so many newly found lanes are taken in one transaction. */
const DISCOVER_LIMIT = 1_000;
/** A node holds at most so many lanes; others wait until some are let go. */
const MAX_LANES = 20_000;
/** Of these, so many are for lanes that are asked for by name: those found fill the rest at most. */
const KEPT_FOR_WANTED = 2_000;
/** A lane of a relay with many destinations is let go when it had nothing to do for so long, in ms. */
const IDLE_MS = 30_000;
/** Unless something in it comes due within so many ms. */
const SOON_MS = 60_000;
/** How long a lane is kept for what is known of its hop, which is not well, in ms. */
const REMEMBER_MS = 600_000;

/** What keeping leases needs. */
export interface LeaseDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly node: string;
  readonly hops: KnownHops;
  readonly membership: Membership;
  readonly fault: (code: string, error: unknown) => void;
}

/** Holds the lanes this node works: takes those that have work, renews their leases, lets go of lost ones. */
export class Leases {
  readonly #deps: LeaseDeps;
  readonly #lanes: Map<string, Lane>;
  readonly #dispatch: Dispatch;
  readonly #wanted = new Set<string>();
  readonly #wakeUp = new WakeUp();
  #renewedAt = Number.NEGATIVE_INFINITY;
  #stopping = false;

  constructor(deps: LeaseDeps, lanes: Map<string, Lane>, dispatch: Dispatch) {
    this.#deps = deps;
    this.#lanes = lanes;
    this.#dispatch = dispatch;
  }

  /** Asks for a lane, such as one that fresh mail just went to. */
  want(lane: string): void {
    if (this.#lanes.has(lane) || this.#wanted.has(lane)) return;
    this.#wanted.add(lane);
    this.#wakeUp.wake();
  }

  /** Takes and renews until stopped. Resolves when stopped. */
  async run(): Promise<void> {
    while (!this.#stopping) {
      const more = await this.turn();
      if (!more) await this.#wakeUp.wait(this.#deps.clock, DISCOVER_MS);
    }
  }

  /** One turn: let go of what is done with, renew if it is time, then look for work. True: there is more to be found. */
  async turn(): Promise<boolean> {
    try {
      await this.#letGo();
      if (this.#deps.clock.mono() - this.#renewedAt >= LANE_RENEW_MS) await this.renew();
      return await this.#acquire();
    } catch (error) {
      this.#deps.fault('lease_failed', error);
      return false;
    }
  }

  /** Stops taking and renewing. */
  stop(): void {
    this.#stopping = true;
    this.#wakeUp.wake();
  }

  /** Lets go of every lane, once nothing is under way. */
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

  /** Retired lanes are taken anew at once; idle ones when there is mail for them again. */
  async #letGo(): Promise<void> {
    const { store, node, clock } = this.#deps;
    const mono = clock.mono();
    const now = clock.wall();
    const done = [...this.#lanes.values()].filter(
      (lane) => lane.inHand === 0 && (lane.retired || this.#isIdle(lane, mono, now)),
    );
    if (done.length === 0) return;
    const leases = done.map(({ name, fence }) => ({ lane: name, fence }));
    const anew = new Set(done.filter(({ retired }) => retired));
    // From here on nothing may be promised on them: what is accepted meanwhile waits in the store.
    for (const lane of done) lane.retired = true;
    await store.releaseLanes(leases, { node, now });
    for (const lane of done) {
      if (this.#lanes.get(lane.name) === lane) this.#lanes.delete(lane.name);
      this.#deps.hops.remember(lane);
      if (lane.waiting || anew.has(lane)) this.#wanted.add(lane.name);
    }
  }

  #isIdle(lane: Lane, mono: number, now: number): boolean {
    if (lane.name === relayOfLane(lane.name) || lane.waiting || mono - lane.busyAt < IDLE_MS) return false;
    if (lane.breakerState(mono) !== 'closed' && mono - lane.busyAt < REMEMBER_MS) return false;
    return lane.nextDueAt === null || lane.nextDueAt - now > SOON_MS;
  }

  /** Takes what is wanted and what is found. True: there may be more. */
  async #acquire(): Promise<boolean> {
    const { store, node, clock, membership } = this.#deps;
    if (!membership.delivers) return false;
    const room = MAX_LANES - this.#lanes.size;
    const asked = [...this.#wanted];
    const wanted = asked.slice(0, Math.max(0, room));
    const now = clock.wall();
    const mono = clock.mono();
    const limit = Math.max(0, Math.min(DISCOVER_LIMIT, room - wanted.length - KEPT_FOR_WANTED));
    const granted = await store.acquireLanes(wanted, limit, now + LANE_LEASE_MS, { node, now });
    // A wanted lane that was not granted is somebody else's, or too many: when it is free, discovery finds it.
    for (const lane of asked) this.#wanted.delete(lane);
    for (const { lane, fence } of granted) {
      const old = this.#lanes.get(lane);
      if (old?.fence === fence) continue;
      if (old) this.#dispatch.drop(old);
      const taken = new Lane(lane, fence, membership.trustedUntil(mono), mono);
      this.#deps.hops.introduce(taken);
      this.#lanes.set(lane, taken);
      this.#dispatch.stir(taken);
    }
    return limit > 0 && granted.length - wanted.length >= limit;
  }

  /** Extends every lease held, and drops the lanes that are no longer ours. */
  async renew(): Promise<void> {
    const { store, node, clock, membership } = this.#deps;
    const held = [...this.#lanes.values()];
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
