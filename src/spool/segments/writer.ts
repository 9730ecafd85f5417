import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ContentRef } from '../../domain/message.ts';
import { type EncodedRecord, HEADER_BYTES } from '../record.ts';
import { SpoolError } from '../spool.ts';
import type { Failure } from './failure.ts';
import { errorCode, type SpoolFiles, writeFully } from './files.ts';
import type { Ledger } from './ledger.ts';

/** What a writer works with. */
export interface WriterOptions {
  readonly files: SpoolFiles;
  readonly pathOf: (segment: number) => string;
  /** Open for reading, to flush the names in it. */
  readonly directoryFd: number;
  readonly segmentBytes: number;
  readonly maxPendingBytes: number;
  readonly ledger: Ledger;
  readonly failure: Failure;
}

/** One caller's records, which are kept or refused together. */
interface Waiting {
  readonly records: readonly EncodedRecord[];
  readonly bytes: number;
  readonly resolve: (refs: ContentRef[]) => void;
  readonly reject: (error: unknown) => void;
}

/** The segment that is written to. */
interface Active {
  readonly number: number;
  readonly fd: number;
  /** Where the next record goes: everything before it is on stable storage. */
  end: number;
}

/** Out of space, or out of descriptors to make a segment with: passes, and has harmed nothing. */
const NO_ROOM = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);

/**
 * The one writer of a spool. While a flush runs, what is appended gathers; the next flush takes it all, up to
 * `maxPendingBytes`, in the order it came.
 */
export class SegmentWriter {
  readonly #options: WriterOptions;
  #waiting: Waiting[] = [];
  #active: Active | null = null;
  #running: Promise<void> | null = null;
  #closed = false;
  /** How often data was flushed. */
  flushes = 0;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /** Writes records durably; one reference each, in order. All of them or none. */
  append(records: readonly EncodedRecord[]): Promise<ContentRef[]> {
    if (this.#closed) return Promise.reject(new SpoolError('spool_closed', 'the spool is closed'));
    return new Promise((resolve, reject) => {
      const bytes = records.reduce((sum, record) => sum + HEADER_BYTES + record.bodyBytes, 0);
      this.#waiting.push({ records, bytes, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Writes what waits, then closes. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    await this.#seal();
  }

  async #run(): Promise<void> {
    // One turn, so that callers the same poll has woken share the first flush.
    await nextTurn();
    while (this.#waiting.length > 0) await this.#flush(this.#takeBatch());
    this.#running = null;
  }

  #takeBatch(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const waiting of this.#waiting) {
      bytes += waiting.bytes;
      if (count > 0 && bytes > this.#options.maxPendingBytes) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #flush(batch: readonly Waiting[]): Promise<void> {
    try {
      this.#options.failure.check();
      const records = batch.flatMap((waiting) => waiting.records);
      const bytes = batch.reduce((sum, waiting) => sum + waiting.bytes, 0);
      const active = await this.#segmentFor(bytes);
      await this.#write(active, records);
      for (const waiting of batch) waiting.resolve(this.#place(active, waiting.records));
    } catch (error) {
      for (const waiting of batch) waiting.reject(error);
    }
  }

  /** Moves the end past records that are on disk. */
  #place(active: Active, records: readonly EncodedRecord[]): ContentRef[] {
    return records.map((record) => {
      const ref = { segment: active.number, offset: active.end, length: record.bodyBytes };
      active.end += HEADER_BYTES + record.bodyBytes;
      this.#options.ledger.hold(ref);
      return ref;
    });
  }

  async #write(active: Active, records: readonly EncodedRecord[]): Promise<void> {
    const { files, failure } = this.#options;
    const parts = records.flatMap(({ header, chunks }) => [header, ...chunks]);
    try {
      await writeFully(files, active.fd, parts, active.end);
    } catch (error) {
      if (!NO_ROOM.has(errorCode(error))) throw failure.trip(error);
      await this.#takeBack(active);
      throw noRoom(error);
    }
    this.flushes++;
    await this.#orFail(files.fdatasync(active.fd));
  }

  /** Removes a partial batch; if that cannot be done, nothing more is written behind it. */
  async #takeBack(active: Active): Promise<void> {
    try {
      await this.#options.files.ftruncate(active.fd, active.end);
    } catch {
      await this.#seal();
    }
  }

  /** The segment that the next `bytes` go to. */
  async #segmentFor(bytes: number): Promise<Active> {
    const active = this.#active;
    if (active !== null && (active.end === 0 || active.end + bytes <= this.#options.segmentBytes))
      return active;
    await this.#seal();
    this.#active = await this.#create();
    return this.#active;
  }

  async #create(): Promise<Active> {
    const { files, pathOf, directoryFd, ledger, failure } = this.#options;
    const number = ledger.next();
    let fd: number;
    try {
      fd = await files.openNew(pathOf(number));
    } catch (error) {
      throw NO_ROOM.has(errorCode(error)) ? noRoom(error) : failure.trip(error);
    }
    ledger.add(number);
    const active = { number, fd, end: 0 };
    this.#active = active;
    await this.#orFail(files.fsync(fd));
    await this.#orFail(files.fsync(directoryFd));
    return active;
  }

  async #seal(): Promise<void> {
    const active = this.#active;
    this.#active = null;
    if (active !== null) await this.#options.files.close(active.fd);
  }

  async #orFail(flush: Promise<void>): Promise<void> {
    try {
      await flush;
    } catch (error) {
      throw this.#options.failure.trip(error);
    }
  }
}

function noRoom(cause: unknown): SpoolError {
  return new SpoolError('spool_full', 'the spool has no room', { cause });
}
