import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LogPlace } from '../../domain/log-place.ts';
import type { ContentRef } from '../../domain/message.ts';
import { type EncodedRecord, encodeFacts, encodeKey, HEADER_BYTES, sealedBytes } from '../record.ts';
import type { ContentKeys, SegmentKey } from '../sealing.ts';
import { SpoolError } from '../spool.ts';
import { errorCode, type SpoolFiles, writeFully } from './files.ts';
import { KEY_RECORD_BYTES } from './keys.ts';

/** What a writer needs. */
interface WriterOptions {
  readonly files: SpoolFiles;
  readonly pathOf: (segment: number) => string;
  /** Open for reading, to flush the names in it. */
  readonly directoryFd: number;
  readonly segmentBytes: number;
  readonly maxPendingBytes: number;
  readonly ledger: Ledger;
  readonly failure: Failure;
  /** Makes the keys of new segments; null: they are not encrypted. */
  readonly keys: Pick<ContentKeys, 'make'> | null;
  /** The keys of encrypted segments, by number: those that are made are added. */
  readonly segmentKeys: Map<number, SegmentKey>;
}

/** Makes facts from the places given to a caller's records; null withdraws them. */
export type FactsOf = (refs: readonly ContentRef[]) => string | null;

/** One caller's records, which are kept or refused together. */
interface Waiting {
  readonly records: readonly EncodedRecord[];
  readonly bytes: number;
  /** Null for none. */
  readonly facts: FactsOf | null;
  readonly resolve: (refs: readonly ContentRef[] | null) => void;
  readonly reject: (error: unknown) => void;
}

/** What one flush writes. */
interface Batch {
  readonly records: EncodedRecord[];
  readonly placed: { readonly waiting: Waiting; readonly refs: readonly ContentRef[] | null }[];
  readonly facts: string[];
  /** The place of the facts' record; null without facts. */
  factsAt: ContentRef | null;
  end: number;
}

/** The segment that is being written. */
interface Active {
  readonly number: number;
  readonly fd: number;
  /** Null: it is not encrypted. */
  readonly key: SegmentKey | null;
  /** The place of the next record: everything before it is on stable storage. */
  end: number;
}

/** Out of space, or of descriptors for a new segment: transient, and harmless. */
const NO_ROOM = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);

/**
 * The only writer of a spool. While a flush runs, appends gather; the next flush takes them all, up to
 * `maxPendingBytes`, in order.
 */
export class SegmentWriter {
  readonly #options: WriterOptions;
  #waiting: Waiting[] = [];
  #active: Active | null = null;
  #running: Promise<void> | null = null;
  #closed = false;
  #mustTurn = false;
  /** Number of flushes. */
  flushes = 0;
  /** Called when what lay after the last flush of a segment was removed, and other data may replace it. */
  onTakenBack: (segment: number) => void = () => {};
  /** Called with facts that are durable. */
  onLogged: (facts: readonly string[], record: ContentRef, end: LogPlace) => void = () => {};

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /** Writes records durably, all of them or none; one reference each, in order. */
  append(records: readonly EncodedRecord[]): Promise<readonly ContentRef[]> {
    return this.#enter(records, null, (refs) => refs ?? []);
  }

  /** Writes records and the facts about them durably. False: there were no facts, and nothing was written. */
  log(records: readonly EncodedRecord[], facts: FactsOf): Promise<boolean> {
    return this.#enter(records, facts, (refs) => refs !== null);
  }

  /** Begins a new segment, unless the present one is empty. Returns its number. */
  async turn(): Promise<number> {
    this.#mustTurn = true;
    await this.#enter([], null, () => null);
    return this.#active?.number ?? this.#options.ledger.next();
  }

  /** Writes what waits, then closes. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    await this.#seal();
  }

  #enter<T>(
    records: readonly EncodedRecord[],
    facts: FactsOf | null,
    answer: (refs: readonly ContentRef[] | null) => T,
  ): Promise<T> {
    if (this.#closed) return Promise.reject(new SpoolError('spool_closed', 'the spool is closed'));
    return new Promise((resolve, reject) => {
      let bytes = 0;
      for (const record of records) bytes += HEADER_BYTES + record.bodyBytes;
      this.#waiting.push({ records, bytes, facts, resolve: (refs) => resolve(answer(refs)), reject });
      this.#running ??= this.#run();
    });
  }

  async #run(): Promise<void> {
    do {
      // One turn, so that callers woken by the same poll, or by the last flush, share the next.
      await nextTurn();
      await this.#flush(this.#takeBatch());
    } while (this.#waiting.length > 0);
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

  async #flush(waiting: readonly Waiting[]): Promise<void> {
    let batch: Batch | null = null;
    try {
      this.#options.failure.check();
      const bytes = waiting.reduce((sum, one) => sum + one.bytes, 0);
      const active = await this.#segmentFor(bytes);
      batch = place(waiting, active);
      // A batch that writes nothing moves nothing: the segment's key is yet to be written.
      if (batch.records.length > 0) {
        await this.#write(active, await partsOf(batch, active));
        this.#keep(active, batch);
      }
      for (const { waiting: one, refs } of batch.placed) one.resolve(refs);
    } catch (error) {
      for (const one of batch?.placed ?? waiting.map((one) => ({ waiting: one }))) one.waiting.reject(error);
    }
  }

  /** Moves the end past records that are on disk, and reports the facts among them. */
  #keep(active: Active, { placed, facts, factsAt, end }: Batch): void {
    const { ledger } = this.#options;
    active.end = end;
    for (const { waiting, refs } of placed)
      if (waiting.facts === null) for (const ref of refs ?? []) ledger.hold(ref);
    if (factsAt === null) return;
    ledger.hold(factsAt);
    this.onLogged(facts, factsAt, { segment: active.number, offset: end });
  }

  async #write(active: Active, parts: readonly Uint8Array[]): Promise<void> {
    const { files, failure } = this.#options;
    try {
      await writeFully(files, active.fd, parts, active.end);
    } catch (error) {
      const isTaken = await this.#takeBack(active);
      throw isTaken && NO_ROOM.has(errorCode(error)) ? noRoom(error) : failure.trip(error);
    }
    this.flushes++;
    try {
      await files.fdatasync(active.fd);
    } catch (error) {
      const failed = failure.trip(error);
      await this.#takeBack(active);
      throw failed;
    }
  }

  /**
   * Removes a batch that is not known to be on disk: a refused batch must not reappear at the next start. False: it
   * cannot be removed, and nothing may be written after it.
   */
  async #takeBack(active: Active): Promise<boolean> {
    try {
      await this.#options.files.ftruncate(active.fd, active.end);
      this.onTakenBack(active.number);
      return true;
    } catch {
      return false;
    }
  }

  /** The segment for the next `bytes`. */
  async #segmentFor(bytes: number): Promise<Active> {
    const active = this.#active;
    const isFull = active !== null && (this.#mustTurn || active.end + bytes > this.#options.segmentBytes);
    this.#mustTurn = false;
    if (active !== null && (active.end === 0 || !isFull)) return active;
    await this.#seal();
    this.#active = await this.#create();
    return this.#active;
  }

  async #create(): Promise<Active> {
    const { files, pathOf, directoryFd, ledger, failure, keys, segmentKeys } = this.#options;
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
    const active = { number, fd, key, end: 0 };
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

/**
 * Gives records their places at the end of the segment, and asks for the facts about them: the facts of all callers
 * become one record, the last of the batch. A caller whose facts cannot be made is refused, and leaves nothing.
 */
function place(waiting: readonly Waiting[], active: Active): Batch {
  const { key } = active;
  const start = active.end === 0 && key !== null ? KEY_RECORD_BYTES : active.end;
  const sizeOf = (bodyBytes: number) => HEADER_BYTES + (key === null ? bodyBytes : sealedBytes(bodyBytes));
  const batch: Batch = { records: [], placed: [], facts: [], factsAt: null, end: start };
  for (const one of waiting) {
    let end = batch.end;
    const refs = one.records.map(({ bodyBytes }) => {
      const ref = { segment: active.number, offset: end, length: bodyBytes };
      end += sizeOf(bodyBytes);
      return ref;
    });
    let facts: string | null = null;
    try {
      facts = one.facts === null ? null : one.facts(refs);
    } catch (error) {
      one.reject(error);
      continue;
    }
    const isKept = one.facts === null || facts !== null;
    batch.placed.push({ waiting: one, refs: isKept ? refs : null });
    if (!isKept) continue;
    batch.records.push(...one.records);
    batch.end = end;
    if (facts !== null) batch.facts.push(facts);
  }
  if (batch.facts.length > 0) {
    const record = encodeFacts(batch.facts.join('\n'), batch.end - start);
    batch.factsAt = { segment: active.number, offset: batch.end, length: record.bodyBytes };
    batch.records.push(record);
    batch.end += sizeOf(record.bodyBytes);
  }
  return batch;
}

/** What is written of a batch. A segment's key goes before its first batch, and is as durable as that is. */
async function partsOf({ records, placed, factsAt }: Batch, { key, end }: Active): Promise<Uint8Array[]> {
  const parts: Uint8Array[] = end === 0 && key !== null ? [encodeKey(key.wrapped)] : [];
  // In the order of the records.
  const places = () => [...placed.flatMap(({ refs }) => refs ?? []), ...(factsAt === null ? [] : [factsAt])];
  for (const { header, chunks } of key === null ? records : await key.seal(records, places()))
    parts.push(header, ...chunks);
  return parts;
}

function noRoom(cause: unknown): SpoolError {
  return new SpoolError('spool_full', 'the spool has no room', { cause });
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

/** The existing segments, and which of their records the store has not decided on. Numbers only, no I/O. */
export class Ledger {
  readonly #segments: Set<number>;
  /** Offsets of undecided records, for each segment that has any. */
  readonly #undecided = new Map<number, Set<number>>();
  #highest: number;

  /** `found` are the segments on disk. */
  constructor(found: readonly number[]) {
    this.#segments = new Set(found);
    this.#highest = found.reduce((highest, segment) => Math.max(highest, segment), 0);
  }

  /** How many segments exist. */
  get size(): number {
    return this.#segments.size;
  }

  /** The number of the next segment, which was never used before. */
  next(): number {
    return this.#highest + 1;
  }

  /** The segment numbered {@link next} was created. */
  add(segment: number): void {
    this.#segments.add(segment);
    this.#highest = segment;
  }

  /** A record was written and awaits the store's decision. */
  hold(ref: ContentRef): void {
    const offsets = this.#undecided.get(ref.segment);
    if (offsets === undefined) this.#undecided.set(ref.segment, new Set([ref.offset]));
    else offsets.add(ref.offset);
  }

  /** The store has decided. Repeating it, or naming a record of an earlier run, changes nothing. */
  decided(ref: ContentRef): void {
    const offsets = this.#undecided.get(ref.segment);
    if (offsets?.delete(ref.offset) && offsets.size === 0) this.#undecided.delete(ref.segment);
  }

  /** All of them, in ascending order. */
  existing(): number[] {
    return [...this.#segments].sort((a, b) => a - b);
  }

  /** Whether a segment exists. */
  has(segment: number): boolean {
    return this.#segments.has(segment);
  }

  /**
   * Segments that will not change and await no decision, in ascending order. Never the highest: it may be being
   * written, and while it exists its number cannot be reused.
   */
  idle(): number[] {
    return this.existing().filter((segment) => this.isIdle(segment));
  }

  /** Whether `segment` is idle as in {@link idle}. */
  isIdle(segment: number): boolean {
    return segment < this.#highest && !this.#undecided.has(segment);
  }

  /** A segment's file is gone. */
  remove(segment: number): void {
    this.#segments.delete(segment);
  }
}
