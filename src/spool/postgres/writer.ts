import type { ContentRef } from '../../domain/message.ts';
import { yieldToLoop } from '../../lib/clock.ts';
import { SegmentLost } from '../../store/postgres/contents.ts';
import type { EncodedRecord } from '../record.ts';
import { SpoolError } from '../spool.ts';
import { ActiveSegment, refsOf, type SegmentOptions } from './active-segment.ts';
import { insertContents, spoolErrorOf } from './insert.ts';

/** One caller's records, which are kept or refused together. */
interface Waiting {
  readonly records: readonly EncodedRecord[];
  readonly bytes: number;
  readonly resolve: (refs: ContentRef[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Most bytes in one transaction; a single larger append goes alone. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** Callers that may wait; further ones are refused. */
export const MAX_WAITING = 1000;

/**
 * Writes contents, one transaction after another. While one runs, appends gather; the next takes them all, up to {@link
 * BATCH_BYTES}, in order. Errors are `SpoolError`.
 */
export class ContentsWriter {
  readonly #options: SegmentOptions;
  readonly #active: ActiveSegment;
  #waiting: Waiting[] = [];
  #running: Promise<void> | null = null;
  #closed = false;
  /** Number of committed transactions. */
  commits = 0;

  constructor(options: SegmentOptions) {
    this.#options = options;
    this.#active = new ActiveSegment(options);
  }

  /** Writes records durably, all of them or none; one reference each, in order. */
  append(records: readonly EncodedRecord[]): Promise<ContentRef[]> {
    if (this.#closed) return Promise.reject(new SpoolError('spool_closed', 'the spool is closed'));
    if (this.#waiting.length >= MAX_WAITING)
      return Promise.reject(new SpoolError('spool_unavailable', 'too many calls wait for the spool'));
    return new Promise((resolve, reject) => {
      const bytes = records.reduce((sum, record) => sum + record.bodyBytes, 0);
      this.#waiting.push({ records, bytes, resolve, reject });
      this.#start();
    });
  }

  /** Seals the current segment if its time is over; if a write is under way, that does it. */
  async sealIfDone(): Promise<void> {
    if (this.#running !== null) return;
    const sealing = this.#active.sealIfDone();
    // Appends meanwhile wait.
    this.#running = sealing.then(
      () => this.#run(),
      () => this.#run(),
    );
    await sealing;
  }

  /** Writes what waits, seals, and takes no more. */
  async close(): Promise<void> {
    this.#closed = true;
    while (this.#running !== null) await this.#running;
    // What cannot be sealed now will be when this process counts as dead.
    await this.#active.seal().catch(() => {});
  }

  #start(): void {
    this.#running ??= yieldToLoop().then(() => this.#run());
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) await this.#write(this.#takeBatch());
    this.#running = null;
  }

  #takeBatch(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const waiting of this.#waiting) {
      bytes += waiting.bytes;
      if (count > 0 && bytes > BATCH_BYTES) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    try {
      const refs = await this.#commit(batch).catch((error) => this.#commitAnew(batch, error));
      for (const [place, { resolve }] of batch.entries()) resolve(refs[place] ?? []);
    } catch (error) {
      const refusal = spoolErrorOf(error);
      for (const { reject } of batch) reject(refusal);
    }
  }

  /** In another segment, if that was the trouble. */
  #commitAnew(batch: readonly Waiting[], error: unknown): Promise<ContentRef[][]> {
    if (!(error instanceof SegmentLost)) throw error;
    this.#active.lose(error.segment);
    return this.#commit(batch);
  }

  async #commit(batch: readonly Waiting[]): Promise<ContentRef[][]> {
    const { database, own } = this.#options;
    const placed = await this.#active.place(batch.flatMap(({ records }) => records));
    const refs = refsOf(placed);
    try {
      await database.transact((db) => insertContents(db, placed));
      this.commits++;
      let end = 0;
      return batch.map(({ records }) => {
        end += records.length;
        return refs.slice(end - records.length, end);
      });
    } catch (error) {
      own.decided(refs);
      throw error;
    } finally {
      this.#active.written(placed);
    }
  }
}
