import { nextWay } from '../domain/failover.ts';
import { laneOf, relayOfLane } from '../domain/lane.ts';
import type { Clock } from '../lib/clock.ts';
import { WakeUp } from '../lib/clock.ts';
import type { Reassignment, Store } from '../store/store.ts';
import type { Views, WaitingDelivery } from '../store/views.ts';
import type { EngineSettings } from './contract.ts';
import type { Dispatch } from './dispatch.ts';
import type { Lane } from './lanes.ts';
import type { Relays } from './relays.ts';

/** Deliveries looked at, and moved, in one transaction. */
const PAGE = 500;
/** How often resting lanes are looked at although nothing was heard that could change their ways, in ms. */
const LOOK_MS = 10_000;
/** So many of them at a time, in turn, and so much of each: what has come since is found in the end. */
const LANES_LOOKED_AT = 64;
const PAGES_LOOKED_AT = 2;
/** Of lanes whose hops fell ill, so many are emptied in a row; in an outage of the network there are thousands. */
const LANES_EMPTIED = 64;
/** The pause between two such rows, in ms. */
const PACE_MS = 1_000;

/** What diverting needs. */
export interface DivertDeps {
  readonly store: Store;
  readonly views: Views;
  readonly clock: Clock;
  readonly node: string;
  readonly settings: () => EngineSettings;
  readonly relays: Relays;
  readonly dispatch: Dispatch;
  readonly lanes: ReadonlyMap<string, Lane>;
  readonly want: (lane: string) => void;
  readonly fault: (code: string, error: unknown) => void;
}

/**
 * Moves mail that waits for a hop which was found ill, or has had what it may have today, to a relay of its group that is
 * well: nothing waits while there is another way. What has none stays, and is tried when the hop may be well again.
 */
export class Divert {
  readonly #deps: DivertDeps;
  readonly #wakeUp = new WakeUp();
  /** Lanes to be looked at from end to end. */
  readonly #ill = new Set<string>();
  /** A hop is well again: any resting lane may hold mail for it. */
  #all = false;
  #allAt = Number.NEGATIVE_INFINITY;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #turn: Iterator<Lane> | null = null;

  constructor(deps: DivertDeps) {
    this.#deps = deps;
  }

  /** A lane's hop was found ill. */
  fellIll(lane: string): void {
    this.#ill.add(lane);
    this.#wakeUp.wake();
  }

  /** A hop is well, or the relays have changed. */
  stir(): void {
    this.#all = true;
    this.#wakeUp.wake();
  }

  /** Ends a wait: the loop looks whether it was told to stop. */
  wake(): void {
    this.#wakeUp.wake();
  }

  /** Looks at resting lanes until `stopping` aborts and it is woken. Resolves when stopped. */
  async run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      try {
        await this.#round(stopping);
      } catch (error) {
        this.#all = true;
        this.#deps.fault('divert_failed', error);
        await this.#deps.clock.sleep(PACE_MS, stopping);
      }
      if (stopping.aborted) return;
      if (this.#ill.size > 0) await this.#deps.clock.sleep(PACE_MS, stopping);
      else await this.#wakeUp.wait(this.#deps.clock, LOOK_MS);
    }
  }

  async #round(stopping: AbortSignal): Promise<void> {
    const { clock, lanes } = this.#deps;
    if (this.#all && clock.mono() - this.#allAt >= LOOK_MS) {
      this.#all = false;
      this.#allAt = clock.mono();
      for (const lane of lanes.values()) if (this.#mayLeave(lane)) this.#ill.add(lane.name);
    }
    const ill = [...this.#ill].slice(0, LANES_EMPTIED);
    for (const name of ill) {
      this.#ill.delete(name);
      const lane = lanes.get(name);
      if (lane && !stopping.aborted) await this.#empty(lane, Number.POSITIVE_INFINITY, stopping);
    }
    if (ill.length > 0 || clock.mono() - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = clock.mono();
    for (const lane of this.#some())
      if (!stopping.aborted) await this.#empty(lane, PAGES_LOOKED_AT, stopping);
  }

  /** The next few lanes, in turn. */
  #some(): Lane[] {
    const some: Lane[] = [];
    for (let count = 0; count < this.#deps.lanes.size && some.length < LANES_LOOKED_AT; count++) {
      let next = this.#turn?.next();
      if (next === undefined || next.done) {
        this.#turn = this.#deps.lanes.values();
        next = this.#turn.next();
      }
      if (!next.done && this.#mayLeave(next.value)) some.push(next.value);
    }
    return some;
  }

  /** Whether mail of a lane had better go elsewhere, and some of it can: a rule knows another relay beside the lane's. */
  #mayLeave(lane: Lane): boolean {
    const { relays, settings } = this.#deps;
    if (!relays.isResting(lane)) return false;
    const relay = relayOfLane(lane.name);
    return settings().routing.rules.some(
      ({ via }) => via.length > 1 && via.some((member) => member.relay === relay),
    );
  }

  async #empty(lane: Lane, pages: number, stopping: AbortSignal): Promise<void> {
    const { views } = this.#deps;
    let after: string | null = null;
    for (let page = 0; page < pages && !stopping.aborted && this.#mayLeave(lane); page++) {
      const found = await views.waiting({ lane: { name: lane.name }, after, limit: PAGE });
      await this.#move(found.deliveries.flatMap((delivery) => this.#moveOf(delivery) ?? []));
      if (found.next === null) return;
      after = found.next;
    }
  }

  /** The delivery's other way; null when there is none. */
  #moveOf(delivery: WaitingDelivery): (Reassignment & { readonly dueAt: number }) | null {
    const { messageId, index, relay, rule, group, recipient, lane, dueAt, priority } = delivery;
    if (relay === null || group.length < 2) return null;
    const { relays } = this.#deps;
    const fitness = (name: string) => relays.fitness(name, recipient, priority);
    // What of its relay's day is kept for mail that matters most does for such mail.
    if (fitness(relay) === 'usable') return null;
    const way = nextWay(group, relay, fitness);
    const target = relays.get(way.relay)?.relay;
    if (target === undefined || target.name === relay) return null;
    const to = { relay: target.name, lane: laneOf(target.name, target.type, recipient) };
    return { messageId, index, fromLane: lane, to, rule, group, dueAt };
  }

  async #move(moves: readonly (Reassignment & { readonly dueAt: number })[]): Promise<void> {
    if (moves.length === 0) return;
    const { store, node, clock, dispatch, want } = this.#deps;
    const moved = await store.reassign(moves, { node, now: clock.wall() });
    for (const [place, { to, dueAt }] of moves.entries()) {
      if (!moved[place] || to === null) continue;
      want(to.lane);
      dispatch.expect(to.lane, dueAt);
    }
  }
}
