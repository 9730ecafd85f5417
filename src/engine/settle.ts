import { chooseRelay, nextWay, roundsOf } from '../domain/failover.ts';
import { laneOf } from '../domain/lane.ts';
import type { Priority } from '../domain/message.ts';
import type { Outcome } from '../domain/outcome.ts';
import { type SettlePolicy, settle, type Transition } from '../domain/settle.ts';
import type { Events } from '../observe/events.ts';
import type { QuotaRefund, Settlement, Unit, UnitDelivery } from '../store/store.ts';
import { type AttemptEnd, refOf } from './attempt.ts';
import type { Relays } from './relays.ts';

/** What decides where a delivery goes that was not taken. */
export type Ways = Pick<Relays, 'get' | 'fitness'>;

/** What settling goes by. */
export interface SettleContext {
  readonly policy: SettlePolicy;
  readonly ways: Ways;
  /** Wall ms. */
  readonly now: number;
  readonly dice: number;
}

/**
 * SETTLE: from what an attempt did to what the store will write. Siblings share the time and the dice. What was proven
 * not to be taken goes to the next relay of its group; what may have been stays where it is.
 */
export function settlementOf(
  unit: Unit,
  relay: string,
  end: AttemptEnd,
  context: SettleContext,
): Omit<Settlement, 'report' | 'delayReported'> {
  const transitions: Transition[] = [];
  const results: Settlement['attempt']['results'][number][] = [];
  for (const [place, delivery] of unit.deliveries.entries()) {
    const outcome = end.outcomes[place];
    if (!outcome) throw new Error(`transport ${relay} gave no outcome for recipient ${place}`);
    transitions.push(transitionOf(delivery, unit.priority, { relay, outcome }, context));
    results.push({ index: delivery.index, outcome });
  }
  return {
    unit: refOf(unit),
    attempt: { startedAt: end.startedAt, relay, evidence: end.evidence, results },
    transitions,
    refund: refundOf(end),
  };
}

/** What an attempt took off its relay's quota and proved not to have been taken. */
function refundOf({ quota, outcomes }: AttemptEnd): QuotaRefund | null {
  if (quota === null) return null;
  const untaken = outcomes.filter(({ kind }) => kind === 'deferred' || kind === 'rejected').length;
  return untaken === 0 ? null : { relay: quota.relay, day: quota.day, recipients: untaken };
}

function transitionOf(
  delivery: UnitDelivery,
  priority: Priority,
  { relay, outcome }: { readonly relay: string; readonly outcome: Outcome },
  { policy, ways, now, dice }: SettleContext,
): Transition {
  const { group, recipient, expiresAt } = delivery;
  // The delay grows with every round through the group, not with every relay of it.
  const attempts = roundsOf(delivery.attempts + 1, group.length) - 1;
  const transition = settle({ attempts, expiresAt }, outcome, policy, now, dice);
  const fitness = (name: string) => ways.fitness(name, recipient.address, priority);
  const moveTo = (
    name: string | null,
    nextAttemptAt: number | null,
    rest?: readonly string[],
  ): Transition => {
    const to = name === null ? undefined : ways.get(name)?.relay;
    if (to === undefined || to.name === relay || nextAttemptAt === null) return transition;
    const hop = { relay: to.name, lane: laneOf(to.name, to.type, recipient.address) };
    const next = rest === undefined ? hop : { ...hop, group: rest };
    return { ...transition, state: 'retrying', outcome: null, next, nextAttemptAt };
  };
  if (outcome.kind === 'rejected' && outcome.hopBound === true) {
    // It is of no use to this message; what the others are does not show in how they do at this moment.
    const rest = group.filter((name) => name !== relay);
    const { relay: later, atOnce } = nextWay(group, relay, fitness);
    const chosen = atOnce ? later : chooseRelay(rest, fitness);
    const { reply } = outcome;
    const wait = settle({ attempts, expiresAt }, { kind: 'deferred', reply }, policy, now, dice);
    return moveTo(chosen, atOnce && now < expiresAt ? now : wait.nextAttemptAt, rest);
  }
  if (outcome.kind !== 'deferred' || transition.state !== 'retrying') return transition;
  // Each such attempt delivers to some, so that they come to an end.
  if (outcome.nextInLine === true) return { ...transition, nextAttemptAt: now };
  if (group.length < 2) return transition;
  const way = nextWay(group, relay, fitness);
  return moveTo(way.relay, way.atOnce ? now : transition.nextAttemptAt);
}

/** Tells the world what an attempt did; `cancelled`: the indexes that the store ended so instead. */
export function announce(
  events: Events,
  unit: Unit,
  settlement: Pick<Settlement, 'attempt' | 'transitions'>,
  cancelled: readonly number[],
): void {
  events.emit({
    type: 'attempted',
    messageId: unit.messageId,
    relay: settlement.attempt.relay,
    host: settlement.attempt.evidence.host,
    durationMs: settlement.attempt.evidence.timings.totalMs,
    results: settlement.transitions.flatMap((transition, place) => {
      const delivery = unit.deliveries[place];
      const result = settlement.attempt.results[place];
      if (!delivery || !result) return [];
      const { address } = delivery.recipient;
      const { outcome } = result;
      return cancelled.includes(delivery.index)
        ? [{ address, state: 'failed', outcome, cancelled: true }]
        : [{ address, state: transition.state, outcome }];
    }),
  });
}
