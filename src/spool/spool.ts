import type { LogPlace } from '../domain/log-place.ts';
import type { BodyFlags, Content, ContentRef } from '../domain/message.ts';

/**
 * The spool of bytes: message contents, written once, never changed.
 *
 * Laws: bytes first, then the facts that refer to them, then the answer. When `append` resolves, the bytes (and
 * the names of the files that hold them) are on stable storage. `read` gives exactly what was appended or
 * fails with `SpoolError`; a damaged record never passes for a good one. A segment that holds an append whose
 * fate the store has not yet decided is never unlinked.
 */
export interface Spool {
  /** Writes contents durably; concurrent callers share one flush. One reference each, in order. */
  append(contents: readonly SpoolEntry[]): Promise<ContentRef[]>;

  /** Tells the spool that the store has decided on these references (committed or refused). */
  decided(refs: readonly ContentRef[]): void;

  /** Opens contents for reading. */
  read(ref: ContentRef): Promise<SpoolContent>;

  /** Segments that no append will touch again and whose appends are all decided: candidates for unlinking. */
  idle(): Promise<number[]>;

  /** How long each of these idle segments is, in bytes; one that is gone is left out. */
  sizes(segments: readonly number[]): Promise<Map<number, number>>;

  /** What lies in an idle segment, in order. Whether anything refers to it only the store knows. Throws `SpoolError`. */
  records(segment: number): AsyncIterable<SpoolRecord>;

  /**
   * Removes segments. The caller has asked the store, after `idle`, that nothing refers to them. Where other processes may
   * be reading, the bytes stay for a while, and `idle` names the segments once more when they may go: until a second
   * `unlink`, asked about anew.
   */
  unlink(segments: readonly number[]): Promise<void>;

  /** How often data was flushed to the disk since opening. */
  flushes(): number;

  /** Room on the volume; null when the volume cannot be asked. */
  space(): Promise<{ readonly freeBytes: number; readonly totalBytes: number } | null>;

  /** Flushes and closes. */
  close(): Promise<void>;
}

/** Contents on their way in. */
export interface SpoolEntry {
  readonly messageId: string;
  readonly content: Content;
}

/** Contents that lie in the spool, as they were given to it. */
export interface SpoolRecord {
  readonly messageId: string;
  readonly content: ContentRef;
  readonly flags: BodyFlags;
}

/** Contents up to this size are read whole; larger ones are streamed. */
export const WHOLE_READ_BYTES = 1024 * 1024;

/** Contents read back. */
export interface SpoolContent {
  readonly sizeBytes: number;
  /**
   * The bytes, piece by piece; may be iterated more than once. Throws `SpoolError`, perhaps only after the last
   * piece: who passes the bytes on must not pass on what ends the message before the iteration has ended.
   */
  chunks(): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** A spool that could not do what was asked. */
export class SpoolError extends Error {
  /**
   * - `spool_full`: no room; nothing kept, may be tried again later.
   * - `spool_unavailable`: what holds the spool cannot be reached, or has too much to do; may be tried again later.
   * - `spool_failed`: a write or flush failed; nothing may be written any more (contract §15).
   * - `content_damaged`: what lies there is not what was written.
   * - `content_missing`: the segment or the record is not there.
   * - `log_damaged`: facts cannot be read though later ones can; refused at start.
   * - `spool_closed`: closed, or closing.
   */
  readonly code: SpoolErrorCode;
  constructor(code: SpoolErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SpoolError';
    this.code = code;
  }
}

/** See {@link SpoolError.code}. */
export type SpoolErrorCode =
  | 'spool_full'
  | 'spool_unavailable'
  | 'spool_failed'
  | 'content_damaged'
  | 'content_missing'
  | 'log_damaged'
  | 'spool_closed';

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
