import type { Clock } from '../lib/clock.ts';
import type { QuotaRefund } from '../store/store.ts';
import type { AttemptEnd } from './attempt.ts';
import type { Lane } from './lanes.ts';
import type { Job } from './ready.ts';
import type { Recorded, Recorder } from './recorder.ts';
import type { RelayAtWork } from './relay-at-work.ts';

/** What sees to the end of leased work needs. */
export interface AftermathDeps {
  readonly clock: Clock;
  /** Told of lanes that mail waits for and that may not be ours. */
  readonly want: (lane: string) => void;
  readonly fault: (code: string, error: unknown) => void;
}

/** Who works the lanes. */
export interface LaneWork {
  /** A delivery waits in the store, due at `dueAt` (wall ms). */
  expect(lane: string, dueAt: number): void;
  /** Starts nothing more on a lane whose leases we cannot be sure to know. */
  retire(lane: Lane): void;
  /** Aborts when nothing is recorded any more. */
  readonly givenUp: AbortSignal;
}

/** The end of leased work: it is recorded, or given back, and lanes hear of what waits after it. */
export class Aftermath {
  readonly #deps: AftermathDeps;
  readonly #recorder: Recorder;
  readonly #work: LaneWork;

  constructor(deps: AftermathDeps, recorder: Recorder, work: LaneWork) {
    this.#deps = deps;
    this.#recorder = recorder;
    this.#work = work;
  }

  /** An attempt has ended: what it did is settled, and what it did not begin is given back. */
  async record(job: Job, lane: Lane, relay: RelayAtWork, end: AttemptEnd): Promise<void> {
    const untouched = end.outcomes.every((outcome) => outcome.kind === 'deferred');
    const nothingSent = !end.begun || (untouched && end.brokenOff);
    if (!nothingSent) {
      this.#note(lane, await this.#recorder.settle(job, relay, end));
      return;
    }
    const recorded = await this.#recorder.release([job], end.quota);
    const isRefunded = end.begun && typeof recorded === 'object';
    if (end.quota !== null && isRefunded) relay.quota.refunded(end.quota, this.#deps.clock.wall());
    this.#note(lane, recorded);
  }

  /** Gives back work that no peer can have taken; `refund`: what its one job had taken off the quota. */
  async giveBack(lane: Lane, jobs: readonly Job[], refund: QuotaRefund | null): Promise<void> {
    this.#note(lane, await this.#recorder.release(jobs, refund));
  }

  /** What was recorded waits for its time; what could not be comes back when its lane is let go and taken anew. */
  #note(lane: Lane, recorded: Recorded): void {
    if (recorded === 'stale') return;
    if (recorded !== 'refused') {
      for (const { lane: where, dueAt } of recorded.waits) {
        if (where !== lane.name) this.#deps.want(where);
        this.#work.expect(where, dueAt);
      }
      return;
    }
    if (this.#work.givenUp.aborted || lane.retired) return;
    this.#deps.fault('not_recorded', new Error(`lane ${lane.name} is let go: the store refused a write`));
    this.#work.retire(lane);
  }
}
