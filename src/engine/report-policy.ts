import type { Recipient } from '../domain/message.ts';
import type { Reply } from '../domain/outcome.ts';
import { type RetryPolicy, type Transition, waitUntold } from '../domain/settle.ts';
import type { ReportAction, ReportedRecipient } from '../mail/report-parts.ts';
import { suppressed } from '../store/columns.ts';
import type { ExpiringDelivery, ExpiringMessage, Settlement, Unit, UnitDelivery } from '../store/store.ts';
import type { Stopped } from '../store/telling.ts';

/** Decides who is owed a delivery status notification, and what it says (RFC 3461 §4.1, §5.2; contract §11). */

/** The main action that a report tells of. */
export type ReportKind = 'failed' | 'delayed' | 'success';

/** A report owed to a message's sender. */
export interface Owed {
  readonly kind: ReportKind;
  /** At least one. */
  readonly recipients: readonly ReportedRecipient[];
  /** The message's recipient indexes that it reports as delayed. */
  readonly delayed: readonly number[];
}

/** The fields of a message that decide whether anybody is told. */
type Addressee = Pick<Unit, 'reportable' | 'test' | 'reversePath'>;

/** What a report says about one delivery. */
interface Told {
  readonly index: number;
  readonly reported: ReportedRecipient;
}

/** The report that a settlement owes; null for none. */
export function owedBySettling(
  unit: Unit,
  { attempt, transitions }: Pick<Settlement, 'attempt' | 'transitions'>,
  { now, delayAfterMs }: { readonly now: number; readonly delayAfterMs: number },
): Owed | null {
  if (!hasAddressee(unit)) return null;
  const isLate = now - unit.createdAt >= delayAfterMs;
  const told = unit.deliveries.flatMap((delivery, place): Told[] => {
    const transition = transitions[place];
    const outcome = attempt.results[place]?.outcome;
    if (transition === undefined || outcome === undefined) return [];
    const passed = outcome.kind === 'delivered' && outcome.dsnPassed;
    const action = passed ? null : actionOn(delivery, transition, isLate);
    if (action === null) return [];
    const reported = {
      recipient: delivery.recipient,
      action,
      expired: transition.outcome === 'expired',
      reply: transition.reply,
      host: attempt.evidence.host,
      triedAt: attempt.startedAt,
      triedUntil: delivery.expiresAt,
    };
    return [{ index: delivery.index, reported }];
  });
  return owedFor(told);
}

/** What to settle if the report cannot be written: no delivery fails of which the sender should be told. */
export function settlingUntold(
  { deliveries }: Pick<Unit, 'deliveries'>,
  { transitions }: Pick<Settlement, 'transitions'>,
  { policy, now, dice }: { readonly policy: RetryPolicy; readonly now: number; readonly dice: number },
): Transition[] {
  return transitions.map((transition, place) => {
    const delivery = deliveries[place];
    const isOwed = delivery !== undefined && actionOn(delivery, transition, false) === 'failed';
    return isOwed ? waitUntold(delivery, transition, policy, now, dice) : transition;
  });
}

/** The report that an expiry owes; null for none. */
export function owedByExpiry(message: ExpiringMessage): Owed | null {
  if (!hasAddressee(message)) return null;
  const wanting = message.deliveries.filter(({ recipient }) => wants(recipient, 'FAILURE'));
  return owedFor(
    wanting.map((delivery) => ({
      index: delivery.index,
      reported: {
        recipient: delivery.recipient,
        action: 'failed',
        expired: true,
        reply: lastReply(delivery),
        host: null,
        triedAt: null,
        triedUntil: delivery.expiresAt,
      },
    })),
  );
}

/** The report that stopped recipients owe; null for none. */
export function owedByStop(unit: Unit, stopped: readonly Stopped[], now: number): Owed | null {
  if (!hasAddressee(unit)) return null;
  return owedFor(
    unit.deliveries.flatMap((delivery): Told[] => {
      const { index, recipient, expiresAt } = delivery;
      const stop = stopped.find((one) => one.index === index);
      if (stop === undefined || !wants(recipient, 'FAILURE')) return [];
      const { reply } = suppressed(recipient.address, stop.reason);
      const told = { recipient, reply, host: null, triedAt: now, triedUntil: expiresAt };
      return [{ index, reported: { ...told, action: 'failed', expired: false } }];
    }),
  );
}

/** A report has a null reverse-path and is not reportable, so no report is ever about another. */
function hasAddressee({ reportable, test, reversePath }: Addressee): boolean {
  return reportable && !test && reversePath !== '';
}

/** The action to report for a delivery that ended with this outcome, or waits; null for none. */
function actionOn(
  { recipient, delayReported }: UnitDelivery,
  { state, outcome }: Transition,
  isLate: boolean,
): ReportAction | null {
  switch (state) {
    case 'delivered':
      if (!wants(recipient, 'SUCCESS')) return null;
      return outcome === 'captured' ? 'delivered' : 'relayed';
    case 'retrying':
      return isLate && !delayReported && wants(recipient, 'DELAY') ? 'delayed' : null;
    case 'failed':
      return isFailure(outcome) && wants(recipient, 'FAILURE') ? 'failed' : null;
  }
}

/** The owner knows of a cancellation; a held delivery may have arrived. */
function isFailure(outcome: Transition['outcome']): boolean {
  return outcome === 'rejected' || outcome === 'expired' || outcome === 'no_route';
}

/** Without NOTIFY, the default is to report failures. */
function wants({ notify }: Recipient, condition: 'SUCCESS' | 'DELAY' | 'FAILURE'): boolean {
  return notify === null ? condition === 'FAILURE' : notify.split(',').includes(condition);
}

function lastReply({ lastCode, lastEnhanced, lastReply: text }: ExpiringDelivery): Reply | null {
  if (text === null) return null;
  const cause = lastCode === null ? 'not_taken' : 'smtp_reply';
  return { code: lastCode, enhanced: lastEnhanced, cause, text };
}

function owedFor(told: readonly Told[]): Owed | null {
  if (told.length === 0) return null;
  const isThere = (action: ReportAction) => told.some(({ reported }) => reported.action === action);
  return {
    kind: isThere('failed') ? 'failed' : isThere('delayed') ? 'delayed' : 'success',
    recipients: told.map(({ reported }) => reported),
    delayed: told.flatMap(({ index, reported }) => (reported.action === 'delayed' ? [index] : [])),
  };
}
