import type { Outcome } from '../../domain/outcome.ts';
import { ABORTED } from '../smtp/failure.ts';
import type { TransportJob } from '../transport.ts';

/** Told to stop before anything else was known. */
export const STOPPED: Outcome & { readonly kind: 'deferred' } = { kind: 'deferred', reply: ABORTED };

/** Whether another host may take what this one did not. */
export function isHopBound(outcome: Outcome): boolean {
  return outcome.kind === 'rejected' && outcome.hopBound === true;
}

/** The recipients of a job over several hosts: who is decided, and who may still be tried. */
export class Pending {
  readonly #job: TransportJob;
  readonly #outcomes: (Outcome | null)[];
  /** Why the last host that lacked something did not take them: for those whom no other takes either. */
  readonly #lacking: (Outcome | null)[];

  constructor(job: TransportJob) {
    this.#job = job;
    this.#outcomes = job.envelope.recipients.map(() => null);
    this.#lacking = job.envelope.recipients.map(() => null);
  }

  /** The job, for those that may still be tried. */
  get job(): TransportJob {
    if (this.#outcomes.every((outcome) => outcome === null)) return this.#job;
    const { envelope } = this.#job;
    const recipients = envelope.recipients.filter((_, index) => this.#outcomes[index] === null);
    return { ...this.#job, envelope: { ...envelope, recipients } };
  }

  /**
   * Takes what a transaction came to. Not decided, so that another host can be tried, are those whom this one did not
   * take for what it lacks, and with `more` those that wait. True when someone is left.
   */
  take(outcomes: readonly Outcome[], more: boolean): boolean {
    let next = 0;
    for (const [index, known] of this.#outcomes.entries()) {
      if (known !== null) continue;
      const outcome = outcomes[next++] ?? null;
      if (outcome !== null && isHopBound(outcome)) this.#lacking[index] = outcome;
      else if (outcome !== null && !(more && outcome.kind === 'deferred')) this.#outcomes[index] = outcome;
    }
    return this.#outcomes.includes(null);
  }

  /**
   * One per recipient; `rest` for those that are left, unless some host lacked something for one of them and no other
   * may have it later. Null: nothing else is known of any.
   */
  settled(rest: Outcome | null): Outcome[] {
    return this.#outcomes.map((outcome, index) => {
      const lacking = rest?.kind === 'deferred' ? null : (this.#lacking[index] ?? null);
      return outcome ?? lacking ?? rest ?? STOPPED;
    });
  }
}
