import type { Attempt } from '../../domain/attempt.ts';
import { endCancelled } from '../../domain/settle.ts';
import { classOf } from '../columns.ts';
import {
  type BeginAnswer,
  type BeginRequest,
  type ReleaseRequest,
  type SettleAnswer,
  type Settlement,
  type Stamp,
  StoreError,
  type UnitRef,
} from '../store.ts';
import { giveBack, leasedOf, settleDelivery } from './changes.ts';
import type { OpenMessage } from './ledger.ts';
import type { Call, Work } from './work.ts';

const STALE: SettleAnswer = { kind: 'stale' };

/** A call of the verb `begin`: refused unless the node still holds the lane and every delivery is still the unit's. */
export function beginCall(units: readonly BeginRequest[], at: Stamp): Call<BeginAnswer[]> {
  return {
    at,
    weight: weightOf(units),
    needs: { lanes: units.map(({ lane }) => lane), units, quotas: units.map(({ quota }) => quota) },
    decide: (work) => units.map((unit) => beginUnit(work, unit)),
  };
}

function beginUnit(work: Work, unit: BeginRequest): BeginAnswer {
  const found = work.lanes.holds(unit, work.at) ? leasedOf(work, unit) : null;
  if (found === null || found.some(({ row }) => row.cancelRequested)) return 'refused';
  // An attempt already begun under this lease was charged then: the answer was lost, and this is the repeat.
  const isNew = found.some(({ row }) => row.begunAt === null);
  if (unit.quota !== null && isNew && !work.quotas.take(unit.quota)) return 'over_quota';
  for (const delivery of found) work.ledger.begin(delivery, work.at.now);
  return 'begun';
}

/**
 * A call of the verb `settle`. The fence of the deliveries counts: while they carry the unit's, nobody else can have
 * taken them, even if the lane's lease has ended, and the result must be recorded.
 */
export function settleCall(batch: readonly Settlement[], at: Stamp): Call<SettleAnswer[]> {
  const units = batch.map(({ unit }) => unit);
  return {
    at,
    weight: weightOf(units),
    needs: { units, quotas: batch.map(({ refund }) => refund) },
    decide: (work) => batch.map((settlement) => settleUnit(work, settlement)),
  };
}

/** A call of the verb `release`: deliveries not leased under the unit's fence are left alone. */
export function releaseCall(units: readonly ReleaseRequest[], at: Stamp): Call<SettleAnswer[]> {
  return {
    at,
    weight: weightOf(units),
    needs: { units, quotas: units.map(({ refund }) => refund) },
    decide: (work) => units.map((unit) => releaseUnit(work, unit)),
  };
}

function weightOf(units: readonly UnitRef[]): number {
  return units.reduce((sum, { indexes }) => sum + indexes.length, 0);
}

function releaseUnit(work: Work, unit: ReleaseRequest): SettleAnswer {
  const found = leasedOf(work, unit);
  if (found === null) return STALE;
  const cancelled = found.flatMap(({ row }) => (row.cancelRequested ? [row.index] : []));
  // What has not begun was not charged.
  if (found.some(({ row }) => row.begunAt !== null)) work.quotas.giveBack(unit.refund);
  for (const delivery of found) giveBack(work, delivery, 'release');
  return { kind: 'settled', cancelled };
}

function settleUnit(work: Work, settlement: Settlement): SettleAnswer {
  const { unit, attempt, transitions, report, delayReported, refund } = settlement;
  const found = leasedOf(work, unit);
  const message = found?.[0]?.message;
  if (found === null || message === undefined) return STALE;
  if (found.some(({ row }) => row.begunAt !== attempt.startedAt)) return STALE;
  let deferred = false;
  const cancelled: number[] = [];
  for (const [place, delivery] of found.entries()) {
    const planned = transitions[place];
    if (planned === undefined)
      throw new StoreError('store_bug', `no transition for place ${place} of the unit`);
    const transition = delivery.row.cancelRequested ? endCancelled(planned) : planned;
    deferred ||= transition.state === 'retrying';
    if (transition !== planned) cancelled.push(delivery.row.index);
    settleDelivery(work, delivery, transition, classOf(attempt, delivery.row.index), 'settle');
    if (delayReported.includes(delivery.row.index)) delivery.row.delayReported = true;
  }
  appendAttempt(work, message, attempt, deferred);
  if (report !== null) work.desk.enterReport(report, work.at);
  work.quotas.giveBack(refund);
  return { kind: 'settled', cancelled };
}

/** Adds an attempt to an open message; `deferred` if it left a recipient waiting. */
export function appendAttempt(work: Work, message: OpenMessage, attempt: Attempt, deferred: boolean): void {
  message.attempts++;
  work.ledger.append({
    message: message.row.id,
    number: message.attempts,
    startedAt: attempt.startedAt,
    relay: attempt.relay,
    evidence: JSON.stringify(attempt.evidence),
    results: JSON.stringify(attempt.results),
  });
  if (deferred) work.tallies.count('retried', work.at);
}
