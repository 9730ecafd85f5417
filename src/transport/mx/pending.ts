import type { Outcome } from '../../domain/outcome.ts';
import type { TransportJob } from '../transport.ts';

/** The recipients of a job over several hosts: who is decided, and who may still be tried. */
export class Pending {
  readonly #job: TransportJob;
  readonly #outcomes: (Outcome | null)[];

  constructor(job: TransportJob) {
    this.#job = job;
    this.#outcomes = job.envelope.recipients.map(() => null);
  }

  /** The job, for those that may still be tried. */
  get job(): TransportJob {
    if (this.#outcomes.every((outcome) => outcome === null)) return this.#job;
    const { envelope } = this.#job;
    const recipients = envelope.recipients.filter((_, index) => this.#outcomes[index] === null);
    return { ...this.#job, envelope: { ...envelope, recipients } };
  }

  /**
   * Takes what a transaction came to. With `more`, those that wait are not decided, so that another host can be
   * tried. True when someone is left.
   */
  take(outcomes: readonly Outcome[], more: boolean): boolean {
    let next = 0;
    for (const [index, known] of this.#outcomes.entries()) {
      if (known !== null) continue;
      const outcome = outcomes[next++] ?? null;
      if (outcome !== null && !(more && outcome.kind === 'deferred')) this.#outcomes[index] = outcome;
    }
    return this.#outcomes.includes(null);
  }

  /** One per recipient; `rest` for those that are left. */
  settled(rest: Outcome): Outcome[] {
    return this.#outcomes.map((outcome) => outcome ?? rest);
  }
}
