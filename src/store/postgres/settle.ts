import type { Attempt } from '../../domain/attempt.ts';
import { endCancelled } from '../../domain/settle.ts';
import type { AcceptRecord } from '../accepting.ts';
import { classOf } from '../columns.ts';
import type { BeginAnswer, BeginRequest, ReleaseRequest, Suppressing, UnitRef } from '../leased.ts';
import { tellOwn } from '../plain/telling.ts';
import { NOBODY, type Stops, stopsOf } from '../stops.ts';
import { type SettleAnswer, type Settlement, type Stamp, StoreError } from '../store.ts';
import type { OwnBounces } from '../telling.ts';
import { giveBack, leasedOf, settleDelivery, suppressDelivery } from './changes.ts';
import type { OpenDelivery, OpenMessage } from './ledger.ts';
import { runMail } from './telling.ts';
import { type Call, lockFor, type Work } from './work.ts';

const STALE: SettleAnswer = { kind: 'stale' };

/** A call of the verb `begin`: refused unless the node still holds the lane and every delivery is still the unit's. */
export function beginCall(units: readonly BeginRequest[], at: Stamp): Call<BeginAnswer[]> {
  return {
    at,
    weight: weightOf(units),
    needs: {
      lanes: units.map(({ lane }) => lane),
      units,
      quotas: units.map(({ quota }) => quota),
      recipients: units.flatMap(({ recipients }) => recipients),
    },
    decide: (work) => units.map((unit) => beginUnit(work, unit)),
  };
}

function beginUnit(work: Work, unit: BeginRequest): BeginAnswer {
  const found = work.lanes.holds(unit, work.at) ? leasedOf(work, unit) : null;
  if (found === null || found.some(({ row }) => row.cancelRequested)) return 'refused';
  const stopped = stopsIn(work, found);
  if (stopped.size > 0) return stopsOf(stopped);
  // An attempt already begun under this lease was charged then: the answer was lost, and this is the repeat.
  const isNew = found.some(({ row }) => row.begunAt === null);
  if (unit.quota !== null && isNew && !work.quotas.take(unit.quota)) return 'over_quota';
  for (const delivery of found) work.ledger.begin(delivery, work.at.now);
  return 'begun';
}

function stopsIn({ list, at }: Work, found: readonly OpenDelivery[]): Stops {
  const [first] = found;
  if (first === undefined) return NOBODY;
  return list.ofDeliveries(
    first.message,
    found.map(({ row }) => row),
    at.now,
  );
}

/** The verb `suppress`. */
export async function suppress(work: Work, batch: readonly Suppressing[]): Promise<SettleAnswer[]> {
  const units = batch.map(({ unit }) => unit);
  await work.ledger.openUnits(units);
  const opened = units.flatMap((unit) => leasedOf(work, unit) ?? []);
  const told = batch.flatMap(({ report }) => recipientsOf(report));
  await work.list.look([...opened.map(({ row }) => row.address), ...told]);
  return batch.map(({ unit, report }) => {
    const found = leasedOf(work, unit);
    if (found === null || found.some(({ row }) => row.begunAt !== null)) return STALE;
    const stopped = stopsIn(work, found);
    if (stopped.size < found.length) return STALE;
    for (const delivery of found) {
      const entry = stopped.get(delivery.row.index);
      if (entry !== undefined) suppressDelivery(work, delivery, entry);
    }
    if (report !== null) work.desk.enterReport(report, work.at);
    return { kind: 'settled', cancelled: [] };
  });
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
    needs: {
      units,
      quotas: batch.map(({ refund }) => refund),
      recipients: batch.flatMap(({ report }) => recipientsOf(report)),
    },
    decide: (work) => batch.map((settlement) => settleUnit(work, settlement)),
  };
}

/** Settlements with bounces of ours, in a transaction of their own. */
export async function settleWithOwn(work: Work, batch: readonly Settlement[]): Promise<SettleAnswer[]> {
  const call = settleCall(batch, work.at);
  await lockFor(work, [call]);
  const answers = call.decide(work);
  const settled = batch.filter((_, place) => answers[place]?.kind === 'settled');
  for (const { unit, own } of settled) await tellOwnBounces(work, unit.messageId, own);
  return answers;
}

/** Writes own bounces of a message that is open, with all that are about to be changed. */
export async function tellOwnBounces(work: Work, id: string, own: OwnBounces | undefined): Promise<void> {
  if (own !== undefined) await runMail(tellOwn(id, own, work.at.now), work);
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

/** To whom a report goes. */
export function recipientsOf(report: AcceptRecord | null): string[] {
  return report?.deliveries.map(({ recipient }) => recipient.address) ?? [];
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
