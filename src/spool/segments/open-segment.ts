import type { ContentRef } from '../../domain/message.ts';
import { ownTurn, yieldToLoop } from '../../lib/clock.ts';
import { type EncodedRecord, encodeKey, HEADER_BYTES, sealedBytes } from '../record.ts';
import type { ContentKeys, SegmentKey } from '../sealing.ts';
import { SpoolError } from '../spool.ts';
import { errorCode, type SpoolFiles, writeFully } from './files.ts';
import { KEY_RECORD_BYTES } from './keys.ts';
import type { Ledger } from './ledger.ts';

/** What segments are made with. */
export interface SegmentTerms {
  readonly files: SpoolFiles;
  readonly pathOf: (segment: number) => string;
  /** Open for reading, to flush the names in it. */
  readonly directoryFd: number;
  readonly ledger: Ledger;
  readonly failure: Failure;
  /** Makes the keys of new segments; null: they are not encrypted. */
  readonly keys: Pick<ContentKeys, 'make'> | null;
  /** The keys of encrypted segments, by number: those that are made are added. */
  readonly segmentKeys: Map<number, SegmentKey>;
  /** Called when what lay after the last flush of a segment was removed, and other data may replace it. */
  readonly takenBack: (segment: number) => void;
}

/**
 * The latch that stops writing (contract §15): after a failed write or flush the disk's state is unknown, so nobody
 * writes anything until the process has restarted.
 */
export class Failure {
  readonly #onFailure: (error: SpoolError) => void;
  #error: SpoolError | null = null;

  /** `onFailure` is called once, with the first failure. */
  constructor(onFailure: (error: SpoolError) => void) {
    this.#onFailure = onFailure;
  }

  /** Throws the first failure, if there was one. */
  check(): void {
    if (this.#error !== null) throw this.#error;
  }

  /** Stops writing for good. Returns the first failure. */
  trip(cause: unknown): SpoolError {
    if (this.#error === null) {
      this.#error = new SpoolError('spool_failed', 'the spool could not write to its disk', { cause });
      this.#onFailure(this.#error);
    }
    return this.#error;
  }
}

/** Out of space, or of descriptors for a new segment: transient, and harmless. */
const NO_ROOM = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);

/** A segment that is being written. One batch at a time: the next is placed when the last is kept, or was taken back. */
export class OpenSegment {
  readonly number: number;
  readonly #terms: SegmentTerms;
  readonly #fd: number;
  /** Null: it is not encrypted. */
  readonly #key: SegmentKey | null;
  #end = 0;

  private constructor(terms: SegmentTerms, number: number, fd: number, key: SegmentKey | null) {
    this.#terms = terms;
    this.number = number;
    this.#fd = fd;
    this.#key = key;
  }

  /** Makes the next segment, and flushes its name. Rejects with `SpoolError`. */
  static async create(terms: SegmentTerms): Promise<OpenSegment> {
    const { files, pathOf, directoryFd, ledger, failure, keys, segmentKeys } = terms;
    const number = ledger.next();
    let fd: number;
    try {
      fd = await files.openNew(pathOf(number));
    } catch (error) {
      throw NO_ROOM.has(errorCode(error)) ? noRoom(error) : failure.trip(error);
    }
    ledger.add(number);
    const key = keys?.make() ?? null;
    if (key !== null) segmentKeys.set(number, key);
    try {
      await files.fsync(fd);
      await files.fsync(directoryFd);
    } catch (error) {
      throw failure.trip(error);
    }
    return new OpenSegment(terms, number, fd, key);
  }

  /** Everything before it is on stable storage. */
  get end(): number {
    return this.#end;
  }

  /** The place of the first record of the next batch. */
  get nextPlace(): number {
    return this.#end === 0 && this.#key !== null ? KEY_RECORD_BYTES : this.#end;
  }

  /** What a record with such a body takes. */
  sizeOf(bodyBytes: number): number {
    return HEADER_BYTES + (this.#key === null ? bodyBytes : sealedBytes(bodyBytes));
  }

  /** The places of records, one after the other from `from` on. */
  refsFrom(from: number, records: readonly EncodedRecord[]): { refs: ContentRef[]; end: number } {
    let end = from;
    const refs = records.map(({ bodyBytes }) => {
      const ref = { segment: this.number, offset: end, length: bodyBytes };
      end += this.sizeOf(bodyBytes);
      return ref;
    });
    return { refs, end };
  }

  /**
   * Writes records at their places and flushes them. Large ones are written in steps of at most so many bytes, and
   * encrypted in turns of their own. Resolves to the number of flushes. Rejects with `SpoolError`; then nothing is left
   * of them, or nothing may be written any more.
   */
  async write(
    records: readonly EncodedRecord[],
    refs: readonly ContentRef[],
    stepBytes: number | null = null,
  ): Promise<number> {
    // A segment's key goes before its first batch, and is as durable as that is.
    const parts: Uint8Array[] = this.#end === 0 && this.#key !== null ? [encodeKey(this.#key.wrapped)] : [];
    const turn = stepBytes === null ? yieldToLoop : ownTurn;
    const sealed = this.#key === null ? records : await this.#key.seal(records, refs, turn);
    for (const { header, chunks } of sealed) parts.push(header, ...chunks);
    let at = this.#end;
    let flushes = 0;
    for (const step of stepsOf(parts, stepBytes)) {
      at += await this.#flush(step, at);
      flushes++;
    }
    this.#end = at;
    return flushes;
  }

  /** Closes it: nothing is written to it any more. */
  async seal(): Promise<void> {
    this.#terms.ledger.sealed(this.number);
    await this.#terms.files.close(this.#fd);
  }

  async #flush(parts: readonly Uint8Array[], at: number): Promise<number> {
    const { files, failure } = this.#terms;
    let bytes: number;
    try {
      bytes = await writeFully(files, this.#fd, parts, at);
    } catch (error) {
      const isTaken = await this.#takeBack();
      throw isTaken && NO_ROOM.has(errorCode(error)) ? noRoom(error) : failure.trip(error);
    }
    try {
      await files.fdatasync(this.#fd);
    } catch (error) {
      const failed = failure.trip(error);
      await this.#cut().catch(() => {});
      throw failed;
    }
    return bytes;
  }

  /**
   * Removes a batch that is not known to be on disk, durably: parts of it may have come there, and a power failure would
   * leave them, torn, below later facts. False: it cannot be removed, and nothing may be written after it.
   */
  async #takeBack(): Promise<boolean> {
    try {
      await this.#cut();
      await this.#terms.files.fdatasync(this.#fd);
      return true;
    } catch {
      return false;
    }
  }

  /** Ends the file where the batch began: a refused batch must not reappear at the next start. */
  async #cut(): Promise<void> {
    await this.#terms.files.ftruncate(this.#fd, this.#end);
    this.#terms.takenBack(this.number);
  }
}

/** The same bytes in steps of at most so many; in one without a limit. */
function* stepsOf(parts: readonly Uint8Array[], stepBytes: number | null): Iterable<readonly Uint8Array[]> {
  if (stepBytes === null) return yield parts;
  let step: Uint8Array[] = [];
  let left = stepBytes;
  for (const part of parts)
    for (let at = 0; at < part.byteLength; ) {
      const piece = part.subarray(at, at + left);
      step.push(piece);
      at += piece.byteLength;
      left -= piece.byteLength;
      if (left > 0) continue;
      yield step;
      step = [];
      left = stepBytes;
    }
  if (step.length > 0) yield step;
}

function noRoom(cause: unknown): SpoolError {
  return new SpoolError('spool_full', 'the spool has no room', { cause });
}
