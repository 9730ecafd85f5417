import { type SettlePolicy, settle, type Transition } from '../domain/settle.ts';
import type { Events } from '../observe/events.ts';
import type { Settlement, Unit } from '../store/store.ts';
import { type AttemptEnd, refOf } from './attempt.ts';

/** SETTLE: from what an attempt did to what the store will write. Siblings share the time and the dice. */
export function settlementOf(
  unit: Unit,
  relay: string,
  end: AttemptEnd,
  policy: SettlePolicy,
  now: number,
  dice: number,
): Settlement {
  const transitions: Transition[] = [];
  const results: Settlement['attempt']['results'][number][] = [];
  for (const [place, delivery] of unit.deliveries.entries()) {
    const outcome = end.outcomes[place];
    if (!outcome) throw new Error(`transport ${relay} gave no outcome for recipient ${place}`);
    transitions.push(settle(delivery, outcome, policy, now, dice));
    results.push({ index: delivery.index, outcome });
  }
  return {
    unit: refOf(unit),
    attempt: { startedAt: end.startedAt, relay, evidence: end.evidence, results },
    transitions,
  };
}

/** Tells the world what an attempt did; `cancelled`: the indexes that the store ended so instead. */
export function announce(
  events: Events,
  unit: Unit,
  settlement: Settlement,
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
