import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LogPlace } from '../../domain/log-place.ts';
import type { ContentRef } from '../../domain/message.ts';
import { type EncodedRecord, encodeFacts, HEADER_BYTES } from '../record.ts';
import { SpoolError } from '../spool.ts';
import { LargeWriter } from './large-writer.ts';
import { OpenSegment, type SegmentTerms } from './open-segment.ts';

/** What a writer needs. */
interface WriterOptions extends SegmentTerms {
  readonly segmentBytes: number;
  readonly maxPendingBytes: number;
}

/** Makes facts from the places given to a caller's records; null withdraws them. */
export type FactsOf = (refs: readonly ContentRef[]) => string | null;

/** One caller's records, which are kept or refused together. */
interface Waiting {
  readonly records: readonly EncodedRecord[];
  readonly bytes: number;
  /** Null for none. */
  readonly facts: FactsOf | null;
  /** Contents of its own that are on disk already, and await the facts' decision. */
  readonly before: readonly ContentRef[];
  readonly resolve: (refs: readonly ContentRef[] | null) => void;
  readonly reject: (error: unknown) => void;
}

/** What one flush writes. */
interface Batch {
  readonly records: EncodedRecord[];
  readonly refs: ContentRef[];
  readonly placed: { readonly waiting: Waiting; readonly refs: readonly ContentRef[] | null }[];
  readonly facts: string[];
  /** The place of the facts' record; null without facts. */
  factsAt: ContentRef | null;
  end: number;
}

/** Facts that are durable. */
export interface Logged {
  readonly facts: readonly string[];
  /** The place of their record. */
  readonly record: ContentRef;
  /** The places of contents that were written before, apart from them. */
  readonly before: readonly ContentRef[];
  /** The place after them. */
  readonly end: LogPlace;
}

/** What begins a segment, and writes nothing. */
const NOTHING: Pick<Waiting, 'records' | 'facts' | 'before'> = { records: [], facts: null, before: [] };

/** While large contents are written, a segment may grow to so many times its size. */
const GROWTH = 2;

/**
 * The only writer of a spool. While a flush runs, appends gather; the next flush takes them all, up to
 * `maxPendingBytes`, in order. Large contents have a {@link LargeWriter} of their own, and only their facts come here.
 */
export class SegmentWriter {
  readonly #options: WriterOptions;
  readonly #large: LargeWriter;
  #waiting: Waiting[] = [];
  #active: OpenSegment | null = null;
  #running: Promise<void> | null = null;
  #closed = false;
  #mustTurn = false;
  #flushes = 0;
  /** Called with facts that are durable. */
  onLogged: (logged: Logged) => void = () => {};

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#large = new LargeWriter(options);
  }

  /** Number of flushes. */
  get flushes(): number {
    return this.#flushes + this.#large.flushes;
  }

  /** Writes records durably, all of them or none; one reference each, in order. */
  append(records: readonly EncodedRecord[]): Promise<readonly ContentRef[]> {
    return this.#enter({ records, facts: null, before: [] }, (refs) => refs ?? []);
  }

  /** The same for large records, which hold up no others. */
  async appendLarge(records: readonly EncodedRecord[]): Promise<readonly ContentRef[]> {
    // Others need a segment below: they could not have one while the large records are written.
    if (this.#active === null) await this.#enter(NOTHING, () => null);
    if (this.#closed) throw closed();
    return await this.#large.append(records);
  }

  /** Writes records and the facts about them durably. False: there were no facts, and nothing was written. */
  log(records: readonly EncodedRecord[], facts: FactsOf): Promise<boolean> {
    return this.#enter({ records, facts, before: [] }, (refs) => refs !== null);
  }

  /** The same for large records. False: there were no facts, and nothing refers to what was written. */
  async logLarge(records: readonly EncodedRecord[], facts: FactsOf): Promise<boolean> {
    const before = await this.appendLarge(records);
    let isLogged = false;
    try {
      const factsOf = () => facts(before);
      isLogged = await this.#enter({ records: [], facts: factsOf, before }, (refs) => refs !== null);
    } finally {
      if (!isLogged) for (const ref of before) this.#options.ledger.decided(ref);
    }
    return isLogged;
  }

  /** Begins a new segment, unless the present one is empty. Returns its number. */
  async turn(): Promise<number> {
    this.#mustTurn = true;
    await this.#enter(NOTHING, () => null);
    return this.#active?.number ?? this.#options.ledger.next();
  }

  /** Writes what waits, then closes. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    await this.#large.close();
    await this.#seal();
  }

  #enter<T>(
    { records, facts, before }: Pick<Waiting, 'records' | 'facts' | 'before'>,
    answer: (refs: readonly ContentRef[] | null) => T,
  ): Promise<T> {
    if (this.#closed) return Promise.reject(closed());
    return new Promise((resolve, reject) => {
      let bytes = 0;
      for (const record of records) bytes += HEADER_BYTES + record.bodyBytes;
      this.#waiting.push({ records, bytes, facts, before, resolve: (refs) => resolve(answer(refs)), reject });
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
        this.#flushes += await active.write(batch.records, batch.refs);
        this.#keep(active, batch);
      }
      for (const { waiting: one, refs } of batch.placed) one.resolve(refs);
    } catch (error) {
      for (const one of batch?.placed ?? waiting.map((one) => ({ waiting: one }))) one.waiting.reject(error);
    }
  }

  /** Remembers what records await, and reports the facts among them. */
  #keep(active: OpenSegment, { placed, facts, factsAt, end }: Batch): void {
    const { ledger } = this.#options;
    const before: ContentRef[] = [];
    for (const { waiting, refs } of placed) {
      if (waiting.facts === null) for (const ref of refs ?? []) ledger.hold(ref);
      else if (refs !== null) before.push(...waiting.before);
    }
    if (factsAt === null) return;
    ledger.hold(factsAt);
    this.onLogged({ facts, record: factsAt, before, end: { segment: active.number, offset: end } });
  }

  /** The segment for the next `bytes`. */
  async #segmentFor(bytes: number): Promise<OpenSegment> {
    const active = this.#active;
    const mustTurn = this.#mustTurn;
    this.#mustTurn = false;
    const { segmentBytes } = this.#options;
    if (active !== null) {
      // What is below the next segment must not grow: not even an empty one will do below one of large contents.
      const isEmpty = active.end === 0 && !(mustTurn && this.#large.isOpen);
      const most = this.#large.isBusy ? GROWTH * segmentBytes : segmentBytes;
      if (isEmpty || (!mustTurn && active.end + bytes <= most)) return active;
    }
    return await this.#large.between(async () => {
      await this.#seal();
      this.#active = await OpenSegment.create(this.#options);
      return this.#active;
    });
  }

  async #seal(): Promise<void> {
    const active = this.#active;
    this.#active = null;
    await active?.seal();
  }
}

/**
 * Gives records their places at the end of the segment, and asks for the facts about them: the facts of all callers
 * become one record, the last of the batch. A caller whose facts cannot be made is refused, and leaves nothing.
 */
function place(waiting: readonly Waiting[], active: OpenSegment): Batch {
  const start = active.nextPlace;
  const batch: Batch = { records: [], refs: [], placed: [], facts: [], factsAt: null, end: start };
  for (const one of waiting) {
    const { refs, end } = active.refsFrom(batch.end, one.records);
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
    batch.refs.push(...refs);
    batch.end = end;
    if (facts !== null) batch.facts.push(facts);
  }
  if (batch.facts.length > 0) {
    const record = encodeFacts(batch.facts.join('\n'), batch.end - start);
    batch.factsAt = { segment: active.number, offset: batch.end, length: record.bodyBytes };
    batch.records.push(record);
    batch.refs.push(batch.factsAt);
    batch.end += active.sizeOf(record.bodyBytes);
  }
  return batch;
}

function closed(): SpoolError {
  return new SpoolError('spool_closed', 'the spool is closed');
}
