import type { LogPlace } from '../domain/log-place.ts';
import type { AcceptRecord } from './accepting.ts';
import type { Settlement, Stamp, UnitRef } from './store.ts';

/**
 * Facts of fresh mail, as they stand in the log: verbs of the store that have been answered, and are to be written
 * into it.
 */
export type Fact =
  | {
      readonly verb: 'accept';
      readonly at: Stamp;
      readonly batch: readonly {
        readonly record: AcceptRecord;
        /** Per delivery, whether it was leased then. */
        readonly leased: readonly boolean[];
      }[];
    }
  | { readonly verb: 'begin'; readonly at: Stamp; readonly units: readonly UnitRef[] }
  | { readonly verb: 'settle'; readonly at: Stamp; readonly batch: readonly Settlement[] };

/** The text of a fact: one line. */
export function factText(fact: Fact): string {
  return JSON.stringify(fact);
}

/** Reads a fact that this program wrote. */
export function factOf(text: string): Fact {
  return JSON.parse(text) as Fact;
}

/** A store that facts are written into behind their answers. */
export interface Applying {
  /**
   * Writes the facts between two places of the log, in their order, and that it has been applied up to `end`; one
   * transaction. `from` is where the one before ended, null for the first: rejects with `store_busy` where that is not in the database. What they
   * say was decided when they were logged: nothing of it is judged anew. Answers how much of the queue is used then, by
   * everybody and by each of these keys.
   */
  apply(
    facts: readonly string[],
    from: LogPlace | null,
    end: LogPlace,
    keyIds: readonly string[],
  ): Promise<QueueUse>;

  /** Up to where the log has been applied; null where there never was one. */
  logMark(): Promise<LogPlace | null>;
}

/** How much of the queue's limits is used. */
export interface QueueUse {
  /** Of contents of messages that are not final. */
  readonly bytes: number;
  /** Messages that are not final, of each key that was asked for. */
  readonly messages: readonly (readonly [keyId: string, messages: number])[];
}
