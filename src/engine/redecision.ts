import { chooseRelay, type RelayFitness } from '../domain/failover.ts';
import { laneOf } from '../domain/lane.ts';
import { INBOX } from '../domain/relay.ts';
import { AMBIGUOUS_RULE, MANUAL_RULE, messageDice, type RouteDecision, route } from '../domain/route.ts';
import type { Reassignment } from '../store/store.ts';
import type { WaitingDelivery } from '../store/views.ts';
import type { RoutingParts } from './routing.ts';

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
