import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import type { Events } from '../observe/events.ts';
import type { Store, Unit } from '../store/store.ts';
import { type AttemptEnd, refOf } from './attempt.ts';
import { persist } from './persist.ts';
import type { Job } from './ready.ts';
import type { EngineSettings } from './settings.ts';
import { announce, settlementOf } from './settle.ts';

/** What recording needs. */
export interface RecorderDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: Events;
  readonly node: string;
  readonly settings: () => EngineSettings;
}

/**
 * What came of writing: when what it left waiting comes due (wall ms), if anything; `stale` when the work was no
 * longer ours; `refused` when the store will never take it.
 */
export type Recorded = { readonly dueAt: readonly number[] } | 'stale' | 'refused';

/** SETTLE: writes what became of leased work, however long the store is full or away. */
export class Recorder {
  readonly #deps: RecorderDeps;
  readonly #giveUp: AbortSignal;

  /** `giveUp` ends the waiting for a store that is full or away. */
  constructor(deps: RecorderDeps, giveUp: AbortSignal) {
    this.#deps = deps;
    this.#giveUp = giveUp;
  }

  /** Writes what an attempt did, and tells the world once it is on disk. */
  async settle(job: Job, relay: string, end: AttemptEnd): Promise<Recorded> {
    const { clock, store, node, random, events, settings } = this.#deps;
    const now = clock.wall();
    const settlement = settlementOf(job.unit, relay, end, settings().retry, now, random.next());
    const answer = await persist(clock, this.#giveUp, 'harmless', () =>
      store.settle([settlement], { node, now }),
    );
    if (answer === null) return 'refused';
    if (answer[0]?.kind !== 'settled') return 'stale';
    const { cancelled } = answer[0];
    announce(events, job.unit, settlement, cancelled);
    const { indexes } = settlement.unit;
    return {
      dueAt: settlement.transitions.flatMap(({ nextAttemptAt }, place) =>
        nextAttemptAt === null || cancelled.includes(indexes[place] ?? -1) ? [] : nextAttemptAt,
      ),
    };
  }

  /** Gives back work that no peer can have taken; it is due at once, unless it was cancelled and ends by that. */
  async release(jobs: readonly Job[]): Promise<Recorded> {
    const { clock, store, node } = this.#deps;
    const refs = jobs.map((job) => refOf(job.unit));
    // Asked twice, it could give back what has been claimed anew meanwhile, under the same fence.
    const answers = await persist(clock, this.#giveUp, 'harmful', () =>
      store.release(refs, { node, now: clock.wall() }),
    );
    if (answers === null) return 'refused';
    let waits = false;
    for (const [place, { unit }] of jobs.entries()) {
      const answer = answers[place];
      if (answer?.kind !== 'settled') continue;
      if (answer.cancelled.length > 0) this.#announceCancelled(unit, answer.cancelled);
      waits ||= answer.cancelled.length < unit.deliveries.length;
    }
    return { dueAt: waits ? [clock.wall()] : [] };
  }

  #announceCancelled({ messageId, deliveries }: Unit, cancelled: readonly number[]): void {
    const recipients = deliveries.flatMap(({ index, recipient }) =>
      cancelled.includes(index) ? [recipient.address] : [],
    );
    this.#deps.events.emit({ type: 'cancelled', messageId, recipients });
  }
}
