import type { ContentRef } from '../../domain/message.ts';
import { Few } from '../../lib/few.ts';
import { type EncodedRecord, HEADER_BYTES } from '../record.ts';
import { OpenSegment, type SegmentTerms } from './open-segment.ts';

/** What the writer of large contents needs. */
interface LargeWriterOptions extends SegmentTerms {
  readonly segmentBytes: number;
}

/** Bytes between two flushes: so long a small flush may have to wait for the disk. */
const STEP_BYTES = 4 * 1024 * 1024;

/**
 * Writes large contents in segments of their own, which hold no facts, one caller's after another's and in steps:
 * small mail shares its flushes with none of them. The facts follow, elsewhere, when the contents are on the disk.
 *
 * While such a segment is written, its number is the highest. So a power failure that tears it leaves nothing behind
 * it, as a start expects (`facts-reader.ts`).
 */
export class LargeWriter {
  readonly #options: LargeWriterOptions;
  readonly #turns = new Few(1);
  #open: OpenSegment | null = null;
  #inside = 0;
  /** Number of flushes. */
  flushes = 0;

  constructor(options: LargeWriterOptions) {
    this.#options = options;
  }

  /** Contents are being written, or wait. */
  get isBusy(): boolean {
    return this.#inside > 0;
  }

  /** There is a segment that the next contents may go to. */
  get isOpen(): boolean {
    return this.#open !== null || this.isBusy;
  }

  /** Writes records durably, all of them or none; one reference each, in order. They await a decision. */
  async append(records: readonly EncodedRecord[]): Promise<readonly ContentRef[]> {
    this.#inside++;
    try {
      return await this.#turns.run(() => this.#write(records));
    } finally {
      this.#inside--;
    }
  }

  /**
   * Does something after the turn under way, before all that wait, when the segment was closed: what is written next has
   * a higher number.
   */
  between<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.runNext(async () => {
      await this.#seal();
      return await work();
    });
  }

  /** Closes the segment when everything that waits is written. */
  close(): Promise<void> {
    return this.#turns.run(() => this.#seal());
  }

  async #write(records: readonly EncodedRecord[]): Promise<readonly ContentRef[]> {
    const { failure, ledger } = this.#options;
    failure.check();
    const segment = await this.#segmentFor(records);
    const { refs } = segment.refsFrom(segment.nextPlace, records);
    this.flushes += await segment.write(records, refs, STEP_BYTES);
    for (const ref of refs) ledger.hold(ref);
    return refs;
  }

  async #segmentFor(records: readonly EncodedRecord[]): Promise<OpenSegment> {
    const open = this.#open;
    const bytes = records.reduce((sum, { bodyBytes }) => sum + HEADER_BYTES + bodyBytes, 0);
    if (open !== null && (open.end === 0 || open.end + bytes <= this.#options.segmentBytes)) return open;
    await this.#seal();
    this.#open = await OpenSegment.create(this.#options);
    return this.#open;
  }

  async #seal(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    await open?.seal();
  }
}
