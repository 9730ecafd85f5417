import type { LogPlace } from '../domain/log-place.ts';
import type { BodyFlags, Content, ContentPart, ContentRef } from '../domain/message.ts';

/**
 * The spool of message contents, written once and never changed.
 *
 * Laws: first the contents, then the records that refer to them, then the answer. When `append` resolves, the contents
 * (and the names of their files) are on stable storage. `read` returns exactly what was appended or fails with
 * `SpoolError`; a damaged record never passes for a good one. A segment with an append that the store has not decided
 * on is never unlinked.
 */
export interface Spool {
  /** Writes contents durably; concurrent callers share one flush. One reference each, in order. */
  append(contents: readonly SpoolEntry[]): Promise<ContentRef[]>;

  /** Tells the spool that the store has decided on these references (committed or refused). */
  decided(refs: readonly ContentRef[]): void;

  /** Opens contents for reading, or a part of them; the rest is then neither read nor checked. */
  read(ref: ContentRef, part?: ContentPart | null): Promise<SpoolContent>;

  /** Segments that no append will touch again and whose appends are all decided: candidates for unlinking. */
  idle(): Promise<number[]>;

  /** The length of each of these idle segments, in bytes; one that is gone is left out. */
  sizes(segments: readonly number[]): Promise<Map<number, number>>;

  /**
   * The contents of an idle segment, in order. Only the store knows whether anything refers to them. Throws
   * `SpoolError`.
   */
  records(segment: number): AsyncIterable<SpoolRecord>;

  /**
   * Removes segments. After `idle`, the caller has asked the store that nothing refers to them. If other processes may
   * be reading, the bytes stay for a while, and `idle` names the segments again when they may go, for a second `unlink`
   * after asking again.
   */
  unlink(segments: readonly number[]): Promise<void>;

  /** Number of flushes to disk since opening. */
  flushes(): number;

  /** Room on the volume; null if it is unknown. */
  space(): Promise<{ readonly freeBytes: number; readonly totalBytes: number } | null>;

  /** What is encrypted at rest. */
  encryption(): Promise<Encryption>;

  /** Flushes and closes. */
  close(): Promise<void>;
}

/** What of a spool is encrypted at rest. */
export interface Encryption {
  /** Whether new contents are. */
  readonly encrypting: boolean;
  /** Names the key of the installation, which wraps the keys of segments; null if there is none. */
  readonly keyId: string | null;
  readonly segments: number;
  /** The segments that are. */
  readonly encrypted: number;
}

/** Contents to be stored. */
export interface SpoolEntry {
  readonly messageId: string;
  readonly content: Content;
}

/** Contents in the spool, as they were stored. */
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
   * The bytes, piece by piece; may be iterated more than once. Throws `SpoolError`, perhaps only after the last piece:
   * a caller that passes the bytes on must not pass on the end of the message before the iteration has ended.
   */
  chunks(): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** A spool that could not do what was asked. */
export class SpoolError extends Error {
  /**
   * - `spool_full`: no room; nothing kept, may be retried later.
   * - `spool_unavailable`: the spool's database cannot be reached, or is too busy; may be retried later.
   * - `spool_failed`: a write or flush failed; nothing may be written any more (contract §15).
   * - `content_damaged`: the stored bytes are not what was written.
   * - `content_missing`: the segment or the record does not exist.
   * - `log_damaged`: facts cannot be read though later ones can; refused at start.
   * - `spool_other_key`: contents are encrypted under another key than the one at hand; refused at start.
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
  | 'spool_other_key'
  | 'spool_closed';

/**
 * A spool whose segments also hold facts: contents and facts of one flush become durable together.
 *
 * Laws: facts are read back in the order in which they were written. A segment with facts that are not applied is never
 * idle. What was written but not flushed when the machine crashed is read back whole or not at all, and nothing after
 * it is.
 */
export interface FactLog {
  /**
   * Writes contents durably, along with the facts that `facts` makes of their places: a text without a line feed, or
   * null to write nothing. It is called just before the facts are written, and must not wait. If it throws, the call
   * rejects with its error. False: it returned null, and nothing refers to the contents.
   *
   * Small contents and their facts are written together, in the order of the calls. Large contents (`isLarge`) come
   * first, and their facts enter the order when the contents are on stable storage: nobody else waits for them.
   */
  log(
    contents: readonly SpoolEntry[],
    facts: (refs: readonly ContentRef[]) => string | null,
  ): Promise<boolean>;

  /**
   * Sets the listener for durable facts, called in order, before anybody who waits for them. Once, before the first
   * write.
   */
  onLogged(told: (facts: readonly string[], end: LogPlace) => void): void;

  /** Everything up to `end` is applied: its segments may go. */
  applied(end: LogPlace): void;

  /**
   * The facts after a place, one flush after another. Throws `SpoolError` `log_damaged` if some cannot be read although
   * later ones can.
   */
  factsAfter(place: LogPlace): AsyncIterable<LoggedFacts>;

  /** The place of the first facts of this run, or one before it. */
  beginning(): LogPlace;
}

/** The facts of one flush. */
export interface LoggedFacts {
  readonly facts: readonly string[];
  /** The place after them. */
  readonly end: LogPlace;
}

/** A spool on files whose bytes can be looked through, for erasing people. */
export interface SearchableSpool {
  /** Begins a new segment. Those below the returned number will not grow. */
  turn(): Promise<number>;
  /** The segments below a number whose files are there, in ascending order. */
  existing(below: number): Promise<number[]>;
  /**
   * Which of these segments contain one of these texts, in lower case; ASCII case is ignored. Encrypted ones are
   * decrypted for that; one that cannot be counts. Those that were removed meanwhile do not. Rejects with `SpoolError` as
   * `read` does, if one cannot be read: nobody knows what is in it.
   */
  containing(texts: readonly string[], segments: readonly number[]): Promise<number[]>;
}
