import type { Clock } from '../lib/clock.ts';
import { WakeUp } from '../lib/wakeup.ts';
import type { Store } from '../store/store.ts';
import type { Dispatch } from './dispatch.ts';
import { Lane } from './lanes.ts';
import { LANE_LEASE_MS, LANE_MARGIN_MS, LANE_RENEW_MS } from './settings.ts';

/** How often lanes with due work that nobody holds are looked for, in ms. */
const DISCOVER_MS = 1_000;
/** At most so many newly found lanes are taken at a time. */
const DISCOVER_LIMIT = 64;

/** What keeping leases needs. */
export interface LeaseDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly node: string;
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
      await this.turn();
      await this.#wakeUp.wait(this.#deps.clock, DISCOVER_MS);
    }
  }

  /** One turn: renew if it is time, then look for work. */
  async turn(): Promise<void> {
    try {
      await this.#letGoOfRetired();
      if (this.#deps.clock.mono() - this.#renewedAt >= LANE_RENEW_MS) await this.renew();
      await this.#acquire();
    } catch (error) {
      this.#deps.fault('lease_failed', error);
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

  async #letGoOfRetired(): Promise<void> {
    const { store, node, clock } = this.#deps;
    const done = [...this.#lanes.values()].filter((lane) => lane.retired && lane.inHand === 0);
    if (done.length === 0) return;
    const leases = done.map(({ name, fence }) => ({ lane: name, fence }));
    await store.releaseLanes(leases, { node, now: clock.wall() });
    for (const { name } of done) {
      this.#lanes.delete(name);
      this.#wanted.add(name);
    }
  }

  async #acquire(): Promise<void> {
    const { store, node, clock } = this.#deps;
    const wanted = [...this.#wanted];
    const now = clock.wall();
    const trustedUntil = clock.mono() + LANE_LEASE_MS - LANE_MARGIN_MS;
    const granted = await store.acquireLanes(wanted, DISCOVER_LIMIT, now + LANE_LEASE_MS, { node, now });
    // A wanted lane that was not granted is somebody else's; when it is free, discovery finds it.
    for (const lane of wanted) this.#wanted.delete(lane);
    for (const { lane, fence } of granted) {
      const old = this.#lanes.get(lane);
      if (old?.fence === fence) continue;
      if (old) this.#dispatch.drop(old);
      this.#lanes.set(lane, new Lane(lane, fence, trustedUntil));
    }
    if (granted.length > 0) this.#dispatch.wake();
  }

  /** Extends every lease held, and drops the lanes that are no longer ours. */
  async renew(): Promise<void> {
    const { store, node, clock } = this.#deps;
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
        lane.trustedUntil = startedAt + LANE_LEASE_MS - LANE_MARGIN_MS;
      }
    }
  }
}
