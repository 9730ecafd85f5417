import { nextWay } from '../domain/failover.ts';
import { laneOf, relayOfLane } from '../domain/lane.ts';
import type { Clock } from '../lib/clock.ts';
import { WakeUp } from '../lib/wakeup.ts';
import type { Reassignment, Store } from '../store/store.ts';
import type { Views, WaitingDelivery } from '../store/views.ts';
import type { Dispatch } from './dispatch.ts';
import type { Lane } from './lanes.ts';
import type { Relays } from './relays.ts';

/** Deliveries looked at, and moved, in one transaction. */
const PAGE = 500;
/** How often resting lanes are looked at although nothing was heard that could change their ways, in ms. */
const LOOK_MS = 10_000;
/** And how much of each is then looked at: what came since comes first in none, but soon. */
const PAGES_LOOKED_AT = 2;

/** What diverting needs. */
export interface DivertDeps {
  readonly store: Store;
  readonly views: Views;
  readonly clock: Clock;
  readonly node: string;
  readonly relays: Relays;
  readonly dispatch: Dispatch;
  readonly lanes: ReadonlyMap<string, Lane>;
  readonly want: (lane: string) => void;
  readonly fault: (code: string, error: unknown) => void;
}

/**
 * Moves mail that waits for a hop which was found ill to a relay of its group that is well: nothing waits while there is
 * another way. What has none stays, and is tried when the hop may be well again.
 */
export class Divert {
  readonly #deps: DivertDeps;
  readonly #wakeUp = new WakeUp();
  #stirred = false;

  constructor(deps: DivertDeps) {
    this.#deps = deps;
  }

  /** A hop was found ill, or well again. */
  stir(): void {
    this.#stirred = true;
    this.#wakeUp.wake();
  }

  /** Ends a wait: the loop looks whether it was told to stop. */
  wake(): void {
    this.#wakeUp.wake();
  }

  /** Looks at resting lanes until `stopping` aborts and it is woken. Resolves when stopped. */
  async run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      const pages = this.#stirred ? Number.POSITIVE_INFINITY : PAGES_LOOKED_AT;
      this.#stirred = false;
      try {
        for (const lane of [...this.#deps.lanes.values()])
          if (!stopping.aborted && this.#rests(lane)) await this.#empty(lane, pages, stopping);
      } catch (error) {
        this.#deps.fault('divert_failed', error);
      }
      if (!this.#stirred) await this.#wakeUp.wait(this.#deps.clock, LOOK_MS);
    }
  }

  #rests({ name }: Lane): boolean {
    const relay = relayOfLane(name);
    return this.#deps.relays.fitness(relay, `@${name.slice(relay.length + 1)}`) === 'resting';
  }

  async #empty(lane: Lane, pages: number, stopping: AbortSignal): Promise<void> {
    const { views } = this.#deps;
    let after: string | null = null;
    for (let page = 0; page < pages && !stopping.aborted && this.#rests(lane); page++) {
      const found = await views.waiting({ lane: { name: lane.name }, after, limit: PAGE });
      await this.#move(found.deliveries.flatMap((delivery) => this.#moveOf(delivery) ?? []));
      if (found.next === null) return;
      after = found.next;
    }
  }

  /** The delivery's other way; null when there is none. */
  #moveOf(delivery: WaitingDelivery): (Reassignment & { readonly dueAt: number }) | null {
    const { messageId, index, relay, rule, group, recipient, lane, dueAt } = delivery;
    if (relay === null || group.length < 2) return null;
    const { relays } = this.#deps;
    const way = nextWay(group, relay, (name) => relays.fitness(name, recipient));
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
