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
