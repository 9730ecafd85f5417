import { chooseRelay, type RelayFitness } from '../domain/failover.ts';
import { laneOf, relayOfLane } from '../domain/lane.ts';
import { INBOX } from '../domain/relay.ts';
import { AMBIGUOUS_RULE, MANUAL_RULE, messageDice, type RouteDecision, route } from '../domain/route.ts';
import { type Clock, WakeUp } from '../lib/clock.ts';
import type { Events } from '../observe/events.ts';
import type { Reassignment, Store } from '../store/store.ts';
import type { Views, WaitingDelivery, WaitingQuery } from '../store/views.ts';
import type { EngineSettings } from './contract.ts';
import type { Dispatch } from './dispatch.ts';
import type { Membership } from './membership.ts';
import type { Relays } from './relays.ts';
import type { RoutingParts } from './routing.ts';

/** Deliveries looked at, and moved, in one transaction. */
const PAGE = 500;
/** How often lanes are looked for whose relay is gone, in ms. */
const LOOK_MS = 10_000;
/** How many lanes are looked at for that, the fullest first. */
const LANES_LOOKED_AT = 1_000;
/** How long after a walk there are others, for what was under way during the first, in ms; attempts may take long. */
const AGAIN_MS: readonly number[] = [5_000, 60_000, 15 * 60_000];

/** What deciding anew needs. */
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
 * Decides anew where waiting mail goes, page by page, after every start and whenever the ways have changed: a table was
 * published, a relay came, went or was disabled, a hold was laid or lifted.
 */
export class Redecide {
  readonly #deps: RedecideDeps;
  readonly #wakeUp = new WakeUp();
  /** A table may have been published while nobody ran. */
  #stirred = true;
  /** The first walk of all, before which nothing was under way. */
  #first = true;
  /** When the next walks are due though nothing changed (monotonic ms), in order. */
  #again: readonly number[] = [];
  /** Lanes to which mail came back on this node, though another walks for all; null: to none. */
  readonly #cameBack = new Set<string | null>();

  constructor(deps: RedecideDeps) {
    this.#deps = deps;
  }

  /** The ways have changed. */
  stir(): void {
    this.#stirred = true;
    this.#wakeUp.wake();
  }

  /** Mail was given back to lanes whose ways may be gone; without a lane it has none. */
  cameBack(lanes: readonly string[]): void {
    if (this.#deps.membership.isFirst) {
      this.stir();
      return;
    }
    // Who walks for all does not hear of it.
    for (const lane of lanes) this.#cameBack.add(lane);
    if (lanes.length === 0) this.#cameBack.add(null);
    this.#wakeUp.wake();
  }

  /** Ends a wait: the loop looks whether it was told to stop. */
  wake(): void {
    this.#wakeUp.wake();
  }

  /** Walks until `stopping` aborts and it is woken. Resolves when stopped. */
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

  /** Decides deliveries anew by the table, whatever decided them before. Says how many were given another way. */
  async afresh(deliveries: readonly WaitingDelivery[]): Promise<number> {
    const { moved } = await this.#decide(deliveries, true);
    return moved;
  }

  async #turn(stopping: AbortSignal): Promise<void> {
    if (!this.#deps.membership.isFirst) {
      // One node walks for all. Who becomes the first walks once: the last one may not have come to the end.
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
      // Not afterwards: what comes back meanwhile may be behind the page that is looked at.
      this.#cameBack.delete(lane);
      try {
        await this.#walk(lane === null ? 'none' : { name: lane }, stopping);
      } catch (error) {
        this.#cameBack.add(lane);
        throw error;
      }
    }
  }

  /** Lanes of relays that are gone, to which what was under way comes back. */
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

/** Where mail waits that need not be moved: it is sent there, or will be when the breaker closes. */
const STAYS: readonly RelayFitness[] = ['usable', 'resting', 'spent', 'draining'];

/** Decisions that are no table's: they hold as long as there is a way. */
const NO_TABLES: readonly (string | null)[] = [MANUAL_RULE, AMBIGUOUS_RULE, 'report-relay'];

/**
 * Another way for a waiting delivery; null when it stays as it is.
 *
 * What an older table decided is decided by this one, and what an operator rerouted by hand keeps its group, unless all
 * is to be decided `afresh`. Then a relay of the group is chosen as for new mail, but mail is left where it can be sent.
 * A group without a way is given up for the table's. Mail that was to be sent is captured only where a rule says so, and
 * mail that was to be captured is never sent: its sender has been told.
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

/** What follows of a decision: a move, or none; null when its group has no way. */
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

/** There is no way: it waits without a route, but where its relay is only held back or disabled, there. */
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

/** Whether mail would be captured that was to be sent, and no rule says so; or sent that was to be captured. */
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
