import { chooseRelay, type RelayFitness } from '../domain/failover.ts';
import { laneOf, relayOfLane } from '../domain/lane.ts';
import { INBOX } from '../domain/relay.ts';
import { AMBIGUOUS_RULE, MANUAL_RULE, messageDice, type RouteDecision, route } from '../domain/route.ts';
import { type Clock, WakeUp } from '../lib/clock.ts';
import type { Events } from '../observe/events.ts';
import type { Reassignment } from '../store/acting.ts';
import type { Store } from '../store/store.ts';
import type { Views, WaitingDelivery, WaitingQuery } from '../store/views.ts';
import type { EngineSettings } from './contract.ts';
import type { Dispatch } from './dispatch.ts';
import type { Membership } from './membership.ts';
import type { Relays } from './relays.ts';
import type { RoutingParts } from './routing.ts';

/** Most deliveries looked at and moved in one transaction. */
const PAGE = 500;
/** How often to look for lanes whose relay was removed, in ms. */
const LOOK_MS = 10_000;
/** How many lanes that looks at, the fullest first. */
const LANES_LOOKED_AT = 1_000;
/** When further walks follow a walk, for what was under way during it, in ms; attempts may take long. */
const AGAIN_MS: readonly number[] = [5_000, 60_000, 15 * 60_000];

interface RedecideDeps {
  readonly store: Store;
  readonly views: Views;
  readonly clock: Clock;
  readonly node: string;
  readonly events: Events;
  readonly settings: () => EngineSettings;
  readonly relays: Relays;
  readonly dispatch: Dispatch;
  readonly want: (lane: string) => void;
  readonly membership: Membership;
  readonly fault: (code: string, error: unknown) => void;
}

/**
 * Routes waiting mail again, page by page, after every start and whenever routes may have changed: a table was
 * published, a relay was added, removed or disabled, or a hold was placed or lifted.
 */
export class Redecide {
  readonly #deps: RedecideDeps;
  readonly #wakeUp = new WakeUp();
  /** A table may have been published while no node ran. */
  #stirred = true;
  /** The first walk over all mail, before which nothing was under way. */
  #first = true;
  /** When the next walks without a change are due (monotonic ms), in order. */
  #again: readonly number[] = [];
  /**
   * Lanes to which mail was given back on this node, though another node does the walks; null stands for mail without a
   * lane.
   */
  readonly #cameBack = new Set<string | null>();

  constructor(deps: RedecideDeps) {
    this.#deps = deps;
  }

  /** Routes may have changed. */
  stir(): void {
    this.#stirred = true;
    this.#wakeUp.wake();
  }

  /** Mail was given back to lanes whose relay may be gone; an empty list stands for mail without a lane. */
  cameBack(lanes: readonly string[]): void {
    if (this.#deps.membership.isFirst) {
      this.stir();
      return;
    }
    // The node that does the walks does not hear of it.
    for (const lane of lanes) this.#cameBack.add(lane);
    if (lanes.length === 0) this.#cameBack.add(null);
    this.#wakeUp.wake();
  }

  /** Ends a wait, so that the loop checks whether to stop. */
  wake(): void {
    this.#wakeUp.wake();
  }

  /** Walks until `stopping` aborts and `wake` is called. Resolves when stopped. */
  async run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      try {
        await this.#turn(stopping);
      } catch (error) {
        this.#deps.fault('redecide_failed', error);
      }
      const [next = Number.POSITIVE_INFINITY] = this.#again;
      const waitMs = Math.min(LOOK_MS, next - this.#deps.clock.mono());
      if (!stopping.aborted) await this.#wakeUp.wait(this.#deps.clock, waitMs);
    }
  }

  /** Routes deliveries again by the table, whatever routed them before. Returns how many moved. */
  async afresh(deliveries: readonly WaitingDelivery[]): Promise<number> {
    const { moved } = await this.#decide(deliveries, true);
    return moved;
  }

  async #turn(stopping: AbortSignal): Promise<void> {
    if (!this.#deps.membership.isFirst) {
      // One node does the walks. A node that takes over walks once: its predecessor may not have finished.
      this.#stirred = true;
      this.#again = [];
      await this.#walkBack(stopping);
      return;
    }
    this.#cameBack.clear();
    const now = this.#deps.clock.mono();
    const [next = Number.POSITIVE_INFINITY, ...later] = this.#again;
    if (!this.#stirred && now < next) {
      for (const lane of await this.#lostLanes()) await this.#walk({ name: lane }, stopping);
      return;
    }
    this.#again = this.#stirred && !this.#first ? AGAIN_MS.map((ms) => now + ms) : later;
    this.#stirred = false;
    this.#first = false;
    try {
      await this.#walk('all', stopping);
    } catch (error) {
      this.#stirred = true;
      throw error;
    }
  }

  async #walkBack(stopping: AbortSignal): Promise<void> {
    for (const lane of [...this.#cameBack]) {
      if (stopping.aborted) return;
      // Before the walk: what is given back meanwhile may be behind the current page.
      this.#cameBack.delete(lane);
      try {
        await this.#walk(lane === null ? 'none' : { name: lane }, stopping);
      } catch (error) {
        this.#cameBack.add(lane);
        throw error;
      }
    }
  }

  /** Lanes of removed relays, to which work that was under way is given back. */
  async #lostLanes(): Promise<readonly string[]> {
    const lanes = await this.#deps.views.lanes(null, LANES_LOOKED_AT);
    return lanes
      .filter(({ lane, waiting }) => waiting > 0 && !this.#deps.relays.get(relayOfLane(lane)))
      .map(({ lane }) => lane);
  }

  async #walk(lane: WaitingQuery['lane'], stopping: AbortSignal): Promise<void> {
    const { views, events } = this.#deps;
    const total = { moved: 0, lost: 0 };
    let after: string | null = null;
    do {
      const page = await views.waiting({ lane, after, limit: PAGE });
      const { moved, lost } = await this.#decide(page.deliveries, false);
      total.moved += moved;
      total.lost += lost;
      after = page.next;
    } while (after !== null && !stopping.aborted);
    if (total.moved > 0 || total.lost > 0) events.emit({ type: 'rerouted', ...total });
  }

  async #decide(
    deliveries: readonly WaitingDelivery[],
    afresh: boolean,
  ): Promise<{ readonly moved: number; readonly lost: number }> {
    const { store, relays, clock, node, settings } = this.#deps;
    const parts = { table: settings().routing, relays, now: clock.wall() };
    const moves = deliveries.flatMap((delivery) => {
      const move = decideAnew(delivery, parts, afresh);
      return move === null ? [] : [{ ...move, dueAt: delivery.dueAt }];
    });
    if (moves.length === 0) return { moved: 0, lost: 0 };
    const answers = await store.reassign(moves, { node, now: clock.wall() });
    const done = moves.filter((_, place) => answers[place]);
    for (const { to, dueAt } of done) if (to !== null) this.#expect(to.lane, dueAt);
    const lost = done.filter(({ to }) => to === null).length;
    return { moved: done.length - lost, lost };
  }

  #expect(lane: string, dueAt: number): void {
    this.#deps.want(lane);
    this.#deps.dispatch.expect(lane, dueAt);
  }
}

/** Mail that need not move: it is sent where it is, or will be when the breaker closes. */
const STAYS: readonly RelayFitness[] = ['usable', 'resting', 'spent', 'draining'];

/** Decisions that no table made: they hold as long as there is a way. */
const NO_TABLES: readonly (string | null)[] = [MANUAL_RULE, AMBIGUOUS_RULE, 'report-relay'];

/**
 * Another way for a waiting delivery; null if it stays.
 *
 * The current table replaces an older table's decision. A group set by an operator's reroute stays, unless the delivery
 * is routed `afresh`. The group's relay is then chosen as for new mail, but mail that can be sent where it is stays
 * there. If the group has no way, the table's group is used. Mail that was to be sent is captured only if a rule says
 * so. Mail that was to be captured is never sent: its sender has been told so.
 */
export function decideAnew(
  delivery: WaitingDelivery,
  parts: RoutingParts,
  afresh = false,
): Reassignment | null {
  const { table } = parts;
  const { rule, group } = delivery;
  const keeps = !afresh && (delivery.routeTable === table.version || NO_TABLES.includes(rule));
  const own = keeps && group.length > 0 ? attend({ rule, group }, delivery, parts) : null;
  if (own !== null) return own.move;
  const decision = route(factsOf(delivery, parts.now), table, messageDice(delivery.messageId));
  if (isExchange(delivery, decision)) return lost(delivery, { rule, group }, parts);
  return attend(decision, delivery, parts)?.move ?? lost(delivery, decision, parts);
}

/** The move that a decision implies; null if its group has no way. */
function attend(
  decision: RouteDecision,
  delivery: WaitingDelivery,
  { relays }: RoutingParts,
): { readonly move: Reassignment | null } | null {
  const { recipient, relay, priority } = delivery;
  const fitness = (name: string) => relays.fitness(name, recipient, priority);
  if (isSame(decision, delivery) && relay !== null && STAYS.includes(fitness(relay))) return { move: null };
  const chosen = chooseRelay(decision.group, fitness);
  const found = chosen === null ? undefined : relays.get(chosen)?.relay;
  if (found === undefined) return null;
  const to = { relay: found.name, lane: laneOf(found.name, found.type, recipient) };
  if (isSame(decision, delivery) && to.lane === delivery.lane) return { move: null };
  return { move: moveOf(delivery, decision, to) };
}

/** There is no way: it waits without a route, or stays if its relay is only held or disabled. */
function lost(
  delivery: WaitingDelivery,
  decision: RouteDecision,
  { relays }: RoutingParts,
): Reassignment | null {
  const { relay, recipient, lane, priority } = delivery;
  if (relay !== null && relays.fitness(relay, recipient, priority) !== 'missing') return null;
  if (lane === null && isSame(decision, delivery)) return null;
  return moveOf(delivery, decision, null);
}

function moveOf(
  { messageId, index, lane }: WaitingDelivery,
  { rule, group }: RouteDecision,
  to: Reassignment['to'],
): Reassignment {
  return { messageId, index, fromLane: lane, to, rule, group };
}

/**
 * Whether a move would capture mail that was to be sent, without a rule that says so, or send mail that was to be
 * captured.
 */
function isExchange({ group, relay, test }: WaitingDelivery, decision: RouteDecision): boolean {
  if (test) return false;
  const wasCaptured = group.length > 0 ? group.includes(INBOX) : relay === INBOX;
  const isCaptured = decision.group.includes(INBOX);
  return wasCaptured ? !isCaptured : isCaptured && decision.rule === null;
}

function isSame({ rule, group }: RouteDecision, delivery: WaitingDelivery): boolean {
  return (
    rule === delivery.rule &&
    group.length === delivery.group.length &&
    group.every((relay, place) => relay === delivery.group[place])
  );
}

function factsOf(delivery: WaitingDelivery, now: number) {
  return { ...delivery, now: Math.max(now, delivery.dueAt) };
}
