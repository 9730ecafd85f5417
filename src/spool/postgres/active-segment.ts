import type { ContentRef } from '../../domain/message.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Database } from '../../postgres/database.ts';
import type { Placed } from '../../store/postgres/contents.ts';
import { type EncodedRecord, HEADER_BYTES } from '../record.ts';
import type { SegmentKey } from '../sealing.ts';
import type { KeysOfSegments } from './keys.ts';

/** What a writer's segments depend on. */
export interface SegmentOptions {
  readonly database: Database;
  readonly node: string;
  readonly clock: Clock;
  readonly own: OwnSegments;
  readonly keys: KeysOfSegments;
  /** A segment is full at this size in bytes; a single larger batch still goes into one. */
  readonly segmentBytes: number;
}

/** A segment that is being written. */
interface Open {
  readonly segment: number;
  /** Null: it is not encrypted. */
  readonly key: SegmentKey | null;
  /** Monotonic ms. */
  readonly openedAt: number;
  bytes: number;
  /** Of the next record. */
  offset: number;
  /** Batches with places in it that were neither committed nor rolled back. */
  writing: number;
}

/** How long a segment takes contents, in ms: even with little mail, removed contents must free their room. */
export const SEGMENT_MS = 10 * 60_000;

/** The segments that one writer fills, one after another. Errors are the store's. */
export class ActiveSegment {
  readonly #options: SegmentOptions;
  #active: Open | null = null;
  /** Full, and sealed once nobody writes to them: the seal refuses later writes. */
  readonly #full = new Set<Open>();
  #opening: Promise<void> | null = null;

  constructor(options: SegmentOptions) {
    this.#options = options;
  }

  /**
   * Gives the records of one batch their places, all in one segment. A place is used once, even if writing fails. Call
   * {@link written} when the write is over, either way.
   */
  async place(records: readonly EncodedRecord[]): Promise<Placed[]> {
    const bytes = records.reduce((sum, record) => sum + sizeOf(record), 0);
    let active = this.#active;
    while (active === null || !this.#fits(active, bytes)) {
      this.#opening ??= this.#next().finally(() => {
        this.#opening = null;
      });
      await this.#opening;
      active = this.#active;
    }
    active.writing++;
    const { segment, key } = active;
    const placed: Placed[] = [];
    for (const record of records) {
      placed.push({ record, ref: { segment, offset: active.offset, length: record.bodyBytes } });
      active.offset++;
    }
    active.bytes += bytes;
    const refs = refsOf(placed);
    this.#options.own.hold(refs);
    if (key === null) return placed;
    try {
      return together(await key.seal(records, refs), refs);
    } catch (error) {
      this.#options.own.decided(refs);
      active.writing--;
      throw error;
    }
  }

  /** A batch was committed, or never will be. */
  written([first]: readonly Placed[]): void {
    for (const open of this.#all()) if (open.segment === first?.ref.segment) open.writing--;
  }

  /** Seals segments that are full or whose time is over. A failed seal is repeated later. */
  async sealIfDone(): Promise<void> {
    if (this.#active !== null && !this.#fits(this.#active, 0)) this.#retire();
    await this.#sealFull();
  }

  /** Seals all but those being written. */
  async seal(): Promise<void> {
    this.#retire();
    await this.#sealFull();
  }

  /** Gives up a segment that others have sealed. */
  lose(segment: number): void {
    for (const open of this.#all()) if (open.segment === segment) this.#forget(open);
    this.#options.own.lost(segment);
  }

  /** Opens the next. */
  async #next(): Promise<void> {
    this.#retire();
    await this.#sealFull();
    const { database, node, clock, own, keys } = this.#options;
    const key = keys.make();
    const [row] = await database.rows<{ segment: number }>(OPEN, [node, clock.wall(), key?.wrapped ?? null]);
    if (row === undefined) throw new Error('the database gave no segment');
    keys.remember(row.segment, key);
    this.#active = { segment: row.segment, key, openedAt: clock.mono(), bytes: 0, offset: 0, writing: 0 };
    own.opened(row.segment);
  }

  #retire(): void {
    if (this.#active !== null) this.#full.add(this.#active);
    this.#active = null;
  }

  async #sealFull(): Promise<void> {
    for (const open of this.#full) {
      if (open.writing > 0) continue;
      await this.#options.database.rows(SEAL, [open.segment, open.bytes]);
      if (this.#full.delete(open)) this.#options.own.sealed(open.segment);
    }
  }

  #all(): Open[] {
    return this.#active === null ? [...this.#full] : [this.#active, ...this.#full];
  }

  #forget(open: Open): void {
    this.#full.delete(open);
    if (this.#active === open) this.#active = null;
  }

  #fits({ bytes, openedAt }: Open, more: number): boolean {
    const { clock, segmentBytes } = this.#options;
    if (clock.mono() - openedAt >= SEGMENT_MS) return false;
    return bytes === 0 || bytes + more <= segmentBytes;
  }
}

/** The places of the records. */
export function refsOf(placed: readonly Placed[]): ContentRef[] {
  return placed.map(({ ref }) => ref);
}

function together(records: readonly EncodedRecord[], refs: readonly ContentRef[]): Placed[] {
  return refs.map((ref, nth) => {
    const record = records[nth];
    if (record === undefined) throw new Error('a place has no record');
    return { record, ref };
  });
}

function sizeOf({ bodyBytes }: EncodedRecord): number {
  return HEADER_BYTES + bodyBytes;
}

const OPEN =
  'INSERT INTO spool_segments (node, opened_at, wrapped_key) VALUES ($1, $2, $3) RETURNING segment';
// Others may have sealed it, when they took this process for dead.
const SEAL = 'UPDATE spool_segments SET bytes = $2 WHERE segment = $1 AND bytes IS NULL';

/** The segments that this process has written, and which of their records the store has not decided on. No I/O. */
export class OwnSegments {
  /** Being written. */
  readonly #open = new Set<number>();
  /** No append will touch them again. */
  readonly #sealed = new Set<number>();
  /** Offsets of undecided records, for each segment that has any. */
  readonly #undecided = new Map<number, Set<number>>();

  opened(segment: number): void {
    this.#open.add(segment);
  }

  sealed(segment: number): void {
    this.#open.delete(segment);
    this.#sealed.add(segment);
  }

  /** It is no longer ours: others took this process for dead. */
  lost(segment: number): void {
    this.#open.delete(segment);
    this.#sealed.delete(segment);
    this.#undecided.delete(segment);
  }

  /** Records await the store's decision. */
  hold(refs: readonly ContentRef[]): void {
    for (const { segment, offset } of refs) {
      const offsets = this.#undecided.get(segment);
      if (offsets === undefined) this.#undecided.set(segment, new Set([offset]));
      else offsets.add(offset);
    }
  }

  /** The store has decided on records. */
  decided(refs: readonly ContentRef[]): void {
    for (const { segment, offset } of refs) {
      const offsets = this.#undecided.get(segment);
      if (offsets?.delete(offset) && offsets.size === 0) this.#undecided.delete(segment);
    }
  }

  /** Whether it is ours and may not be removed: it is being written, or awaits a decision. */
  isBusy(segment: number): boolean {
    return this.#open.has(segment) || this.#undecided.has(segment);
  }

  /** Segments that no append will touch again and whose records are all decided. */
  idle(): number[] {
    return [...this.#sealed].filter((segment) => !this.isBusy(segment));
  }

  /** A segment was dropped: any node may remove the rest. */
  dropped(segment: number): void {
    this.#sealed.delete(segment);
  }
}
