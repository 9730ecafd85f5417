import { nextWay } from '../domain/failover.ts';
import { laneOf, relayOfLane } from '../domain/lane.ts';
import type { Clock } from '../lib/clock.ts';
import { WakeUp } from '../lib/clock.ts';
import type { Reassignment } from '../store/acting.ts';
import type { Store } from '../store/store.ts';
import type { Views, WaitingDelivery } from '../store/views.ts';
import type { EngineSettings } from './contract.ts';
import type { Dispatch } from './dispatch.ts';
import type { Lane } from './lanes.ts';
import type { Relays } from './relays.ts';

/** Most deliveries looked at and moved in one transaction. */
const PAGE = 500;
/** How often resting lanes are checked even if no news could have changed their routes, in ms. */
const LOOK_MS = 10_000;
/** Lanes per check, in turn, and one page of each: later arrivals are found in the end. */
const LANES_LOOKED_AT = 64;
const PAGES_LOOKED_AT = 2;
/** Lanes with newly unhealthy hops that are emptied in a row; a network outage leaves thousands. */
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
 * Moves mail that waits for an unhealthy hop, or for a relay with a used-up quota, to a healthy relay of its group: no
 * mail waits while it has another way. The rest stays, and is tried when its hop may be healthy again.
 */
export class Divert {
  readonly #deps: DivertDeps;
  readonly #wakeUp = new WakeUp();
  /** Lanes to look through from end to end. */
  readonly #ill = new Set<string>();
  /** A hop is healthy again: any resting lane may hold mail for it. */
  #all = false;
  #allAt = Number.NEGATIVE_INFINITY;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #turn: Iterator<Lane> | null = null;

  constructor(deps: DivertDeps) {
    this.#deps = deps;
  }

  /** A lane's hop was found unhealthy. */
  fellIll(lane: string): void {
    this.#ill.add(lane);
    this.#wakeUp.wake();
  }

  /** A hop is healthy, or the relays have changed. */
  stir(): void {
    this.#all = true;
    this.#wakeUp.wake();
  }

  /** Ends a wait, so that the loop checks whether to stop. */
  wake(): void {
    this.#wakeUp.wake();
  }

  /** Checks resting lanes until `stopping` aborts and `wake` is called. Resolves when stopped. */
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

  /** Whether mail of a lane should go elsewhere, and some of it can: a rule names another relay besides the lane's. */
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

  /** The delivery's other way; null if there is none. */
  #moveOf(delivery: WaitingDelivery): (Reassignment & { readonly dueAt: number }) | null {
    const { messageId, index, relay, rule, group, recipient, lane, dueAt, priority } = delivery;
    if (relay === null || group.length < 2) return null;
    const { relays } = this.#deps;
    const fitness = (name: string) => relays.fitness(name, recipient, priority);
    // High-priority mail may use the part of the daily quota that is reserved for it.
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
