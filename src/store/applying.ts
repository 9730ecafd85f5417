import type { LogPlace } from '../domain/log-place.ts';
import type { AcceptRecord } from './accepting.ts';
import type { UnitRef } from './leased.ts';
import type { Settlement, Stamp } from './store.ts';

/** Facts of fresh mail, as logged: verbs of the store that were answered, and are still to be written into it. */
export type Fact =
  | {
      readonly verb: 'accept';
      readonly at: Stamp;
      readonly batch: readonly {
        readonly record: AcceptRecord;
        /** For each delivery, whether it was leased then. */
        readonly leased: readonly boolean[];
      }[];
    }
  | { readonly verb: 'begin'; readonly at: Stamp; readonly units: readonly UnitRef[] }
  | { readonly verb: 'settle'; readonly at: Stamp; readonly batch: readonly Settlement[] };

/** A fact as one line of text. */
export function factText(fact: Fact): string {
  return JSON.stringify(fact);
}

/** Reads a fact that this program wrote. */
export function factOf(text: string): Fact {
  return JSON.parse(text) as Fact;
}

/** A store into which facts are written after their answers. */
export interface Applying {
  /**
   * Writes the facts between two places of the log, in order, and the mark that the log is applied up to `end`, in one
   * transaction. `from` is where the previous call ended, null for the first: rejects with `store_busy` if the database
   * is not there. The facts were decided when they were logged, and nothing is judged again. Returns how much of the
   * queue is used then, in total and by each of these keys.
   */
  apply(
    facts: readonly string[],
    from: LogPlace | null,
    end: LogPlace,
    keyIds: readonly string[],
  ): Promise<QueueUse>;

  /**
   * The same for what a dead process left in the log; but a fact that contradicts the database is left out, where `apply`
   * rejects with `store_failed`. Its message is marked as a possible duplicate, for its attempt may have reached the next
   * hop. Returns what was left out.
   */
  applyLeft(
    facts: readonly string[],
    from: LogPlace | null,
    end: LogPlace,
  ): Promise<readonly Contradiction[]>;

  /** Up to where the log is applied; null if there never was a log. */
  logMark(): Promise<LogPlace | null>;
}

/** An attempt of which the log says that it was begun, or settled, while the database says that the unit was not leased so. */
export interface Contradiction {
  readonly verb: 'begin' | 'settle';
  readonly unit: UnitRef;
}

/** How much of the queue's limits is used. */
export interface QueueUse {
  /** Contents of messages that are not final. */
  readonly bytes: number;
  /** Messages that are not final, for each key that was asked for. */
  readonly messages: readonly (readonly [keyId: string, messages: number])[];
}
