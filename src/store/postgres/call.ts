import type { AcceptWish } from '../accepting.ts';
import type { QuotaRefund, QuotaRequest, Stamp, UnitRef } from '../store.ts';
import type { Contents } from './contents.ts';
import type { Work } from './work.ts';

/** What must be locked and read before a call can decide. What is left out is nothing. */
export interface Needs {
  /** Lanes whose leases are relied on. */
  readonly lanes?: readonly string[];
  /** Idempotency keys. */
  readonly repeats?: readonly Pick<AcceptWish, 'keyId' | 'idempotency'>[];
  /** Keys whose queues are limited, and with them the queue of everyone; null: no queue is. */
  readonly room?: readonly (string | null)[] | null;
  /** Deliveries, and their messages. */
  readonly units?: readonly UnitRef[];
  readonly quotas?: readonly (QuotaRefund | QuotaRequest | null)[];
}

/**
 * A call of a verb that can share its transaction with others: what it needs is known before it is asked, so all of them
 * lock together, in the order of {@link Work}, and then decide one after the other.
 */
export interface Call<Answer> {
  readonly at: Stamp;
  readonly needs: Needs;
  /** What is to be written with it, whatever it decides. */
  readonly contents?: Contents | undefined;
  /** What it adds to the size of a transaction, in deliveries. */
  readonly weight: number;
  /** What becomes of it, after the calls before it; in memory. Runs anew when the transaction does. */
  decide(work: Work): Answer;
}

/**
 * Locks what calls need, in the order of {@link Work}. Nothing of it depends on what comes before it, so all is asked at once
 * and takes one round trip.
 */
export async function lockFor(work: Work, calls: readonly Call<unknown>[]): Promise<void> {
  const { lanes, repeats, room, ledger, quotas } = work;
  const needs = calls.map((call) => call.needs);
  await Promise.all([
    lanes.lock(
      needs.flatMap((one) => one.lanes ?? []),
      'SHARE',
    ),
    repeats.lock(needs.flatMap((one) => one.repeats ?? [])),
    ledger.openUnits(needs.flatMap((one) => one.units ?? [])),
    quotas.lock(needs.flatMap((one) => one.quotas ?? [])),
    needs.some((one) => one.room) ? room.lock(needs.flatMap((one) => one.room ?? [])) : null,
  ]);
}
