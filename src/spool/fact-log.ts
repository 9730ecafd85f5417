import type { LogPlace } from '../domain/log-place.ts';
import type { ContentRef } from '../domain/message.ts';
import type { SpoolEntry } from './spool.ts';

/**
 * A spool whose segments hold facts beside contents: what is written in one flush becomes durable together.
 *
 * Laws: facts are read back in the order in which they were written. A segment that holds facts which are not
 * applied is never idle. What was written but not flushed when the machine died is read back whole or not at all, and
 * nothing behind it is.
 */
export interface FactLog {
  /**
   * Writes contents durably, and the facts that `facts` makes of the places they are given: a text without a line
   * feed, or null, and nothing of it is written then. It is called at once before the write, in the order of the
   * calls, and must not wait. What it throws, the call rejects with. False: it gave null.
   */
  log(
    contents: readonly SpoolEntry[],
    facts: (refs: readonly ContentRef[]) => string | null,
  ): Promise<boolean>;

  /** Who is told of facts that are durable, in order, before anybody who waits for them. Once, before the first are written. */
  onLogged(told: (facts: readonly string[], end: LogPlace) => void): void;

  /** Everything up to `end` has been applied: its segments may go. */
  applied(end: LogPlace): void;

  /**
   * The facts behind a place, one flush after the other. Throws `SpoolError` `log_damaged` where some cannot be read
   * although what was written after them can.
   */
  factsAfter(place: LogPlace): AsyncIterable<LoggedFacts>;

  /** Where the first facts of this run will lie, or behind which they will. */
  beginning(): LogPlace;
}

/** The facts of one flush. */
export interface LoggedFacts {
  readonly facts: readonly string[];
  /** Behind them. */
  readonly end: LogPlace;
}
