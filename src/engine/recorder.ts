import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import type { Events } from '../observe/events.ts';
import type { QuotaRefund, Settlement, Store, Unit } from '../store/store.ts';
import { type AttemptEnd, refOf } from './attempt.ts';
import { persist } from './persist.ts';
import type { Job } from './ready.ts';
import type { RelayAtWork } from './relay-at-work.ts';
import { type Owed, owedBySettling, settlingUntold } from './report-policy.ts';
import type { Reports, WrittenReport } from './reports.ts';
import type { EngineSettings } from './settings.ts';
import { announce, type SettleContext, settlementOf, type Ways } from './settle.ts';
import type { Wait } from './wait.ts';

/** What recording needs. */
export interface RecorderDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: Events;
  readonly node: string;
  readonly reports: Reports;
  readonly settings: () => EngineSettings;
}

/**
 * What came of writing: what it left waiting, if anything; `stale` when the work was no longer ours; `refused` when the
 * store will never take it.
 */
export type Recorded = { readonly waits: readonly Wait[] } | 'stale' | 'refused';

/** SETTLE: writes what became of leased work, however long the store is full or away. */
export class Recorder {
  readonly #deps: RecorderDeps;
  readonly #ways: Ways;
  readonly #giveUp: AbortSignal;

  /** `giveUp` ends the waiting for a store that is full or away. */
  constructor(deps: RecorderDeps, ways: Ways, giveUp: AbortSignal) {
    this.#deps = deps;
    this.#ways = ways;
    this.#giveUp = giveUp;
  }

  /** Writes what an attempt did, with the report that it owes, and tells the world once it is on disk. */
  settle(job: Job, relay: RelayAtWork, end: AttemptEnd): Promise<Recorded> {
    const { clock, random, settings } = this.#deps;
    const now = clock.wall();
    const { retry, reports: told } = settings();
    const context = { policy: retry, ways: this.#ways, now, dice: random.next() };
    const settling = settlementOf(job.unit, relay.relay.name, end, context);
    const owed = owedBySettling(job.unit, settling, { now, delayAfterMs: told.delayAfterMs });
    return owed === null && settling.refund === null
      ? this.#write(job.unit, { ...settling, report: null, delayReported: [] }, null, now)
      : this.#settleOwing(job, relay, settling, owed, context);
  }

  async #settleOwing(
    job: Job,
    relay: RelayAtWork,
    settling: Omit<Settlement, 'report' | 'delayReported'>,
    owed: Owed | null,
    context: SettleContext,
  ): Promise<Recorded> {
    const { clock, reports } = this.#deps;
    const written = owed && (await reports.writePatiently(job.unit, owed, this.#giveUp));
    const isUntold = written === 'not_now';
    const report = isUntold ? null : written;
    const later = { ...context, now: clock.wall() };
    const transitions = isUntold ? settlingUntold(job.unit, settling, later) : settling.transitions;
    let taken = false;
    try {
      const delayReported = report?.owed.delayed ?? [];
      const settlement = { ...settling, transitions, report: report?.record ?? null, delayReported };
      const recorded = await this.#write(job.unit, settlement, report, context.now);
      taken = recorded !== 'stale' && recorded !== 'refused';
      if (taken && settling.refund !== null) relay.quota.refunded(settling.refund, clock.wall());
      return recorded;
    } finally {
      reports.decided(report, taken);
    }
  }

  async #write(
    unit: Unit,
    settlement: Settlement,
    report: WrittenReport | null,
    now: number,
  ): Promise<Recorded> {
    const { clock, store, node, events, reports } = this.#deps;
    const answer = await persist(clock, this.#giveUp, 'harmless', () =>
      store.settle([settlement], { node, now }),
    );
    if (answer === null) return 'refused';
    if (answer[0]?.kind !== 'settled') return 'stale';
    const { cancelled } = answer[0];
    announce(events, unit, settlement, cancelled);
    const { indexes, lane } = settlement.unit;
    const waits = settlement.transitions.flatMap(({ nextAttemptAt, next }, place): Wait[] =>
      nextAttemptAt === null || cancelled.includes(indexes[place] ?? -1)
        ? []
        : [{ lane: next?.lane ?? lane, dueAt: nextAttemptAt }],
    );
    return { waits: report === null ? waits : [...waits, ...reports.announce(report)] };
  }

  /**
   * Gives back work that no peer can have taken; it is due at once, unless it was cancelled and ends by that. `refund`: what
   * its one job had taken off the quota.
   */
  async release(jobs: readonly Job[], refund: QuotaRefund | null): Promise<Recorded> {
    const { clock, store, node } = this.#deps;
    const refs = jobs.map((job) => ({ ...refOf(job.unit), refund }));
    // Asked twice, it could give back what has been claimed anew meanwhile, under the same fence.
    const answers = await persist(clock, this.#giveUp, 'harmful', () =>
      store.release(refs, { node, now: clock.wall() }),
    );
    if (answers === null) return 'refused';
    const waits: Wait[] = [];
    const now = clock.wall();
    for (const [place, { unit }] of jobs.entries()) {
      const answer = answers[place];
      if (answer?.kind !== 'settled') continue;
      if (answer.cancelled.length > 0) this.#announceCancelled(unit, answer.cancelled);
      if (answer.cancelled.length < unit.deliveries.length) waits.push({ lane: unit.lane, dueAt: now });
    }
    return answers.some(({ kind }) => kind === 'settled') ? { waits } : 'stale';
  }

  #announceCancelled({ messageId, deliveries }: Unit, cancelled: readonly number[]): void {
    const recipients = deliveries.flatMap(({ index, recipient }) =>
      cancelled.includes(index) ? [recipient.address] : [],
    );
    this.#deps.events.emit({ type: 'cancelled', messageId, recipients });
  }
}
