import type { ContentRef } from '../../domain/message.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Database } from '../../postgres/database.ts';
import { type EncodedRecord, HEADER_BYTES } from '../record.ts';
import type { OwnSegments } from './own-segments.ts';

/** What a writer's segments depend on. */
export interface SegmentOptions {
  readonly database: Database;
  readonly node: string;
  readonly clock: Clock;
  readonly own: OwnSegments;
  /** A segment is full at this size in bytes; a single larger batch still goes into one. */
  readonly segmentBytes: number;
}

/** A record and where it goes. */
export interface Placed {
  readonly record: EncodedRecord;
  readonly ref: ContentRef;
}

/** The segment that is written to. */
interface Active {
  readonly segment: number;
  /** Monotonic ms. */
  readonly openedAt: number;
  bytes: number;
  /** Of the next record. */
  offset: number;
}

/** A segment takes contents for so long, in ms: where little mail comes, too, what is no longer kept is to go. */
export const SEGMENT_MS = 10 * 60_000;

/** The segment that one writer fills, one after the other; it must not be asked twice at once. Errors are the store's. */
export class ActiveSegment {
  readonly #options: SegmentOptions;
  #active: Active | null = null;

  constructor(options: SegmentOptions) {
    this.#options = options;
  }

  /** Gives records of one batch their places, all in one segment. A place is given once, also if writing there fails. */
  async place(batch: readonly (readonly EncodedRecord[])[]): Promise<Placed[][]> {
    const bytes = batch.flat().reduce((sum, record) => sum + sizeOf(record), 0);
    const active = await this.#fitting(bytes);
    const placed = batch.map((records) => records.map((record) => ({ record, ref: next(active, record) })));
    this.#options.own.hold(placed.flat().map(({ ref }) => ref));
    return placed;
  }

  /** Seals the segment. If that fails it is still to be sealed. */
  async seal(): Promise<void> {
    const active = this.#active;
    if (active === null) return;
    await this.#options.database.rows(SEAL, [active.segment, active.bytes]);
    this.#options.own.sealed(active.segment);
    this.#active = null;
  }

  /** Seals the segment if it is full or its time is over. */
  async sealIfDone(): Promise<void> {
    if (this.#active !== null && !this.#fits(this.#active, 0)) await this.seal();
  }

  /** Gives up the segment: others have sealed it. */
  lose(): void {
    if (this.#active !== null) this.#options.own.lost(this.#active.segment);
    this.#active = null;
  }

  async #fitting(bytes: number): Promise<Active> {
    if (this.#active !== null && this.#fits(this.#active, bytes)) return this.#active;
    await this.seal();
    const { database, node, clock, own } = this.#options;
    const [row] = await database.rows<{ segment: number }>(OPEN, [node, clock.wall()]);
    if (row === undefined) throw new Error('the database gave no segment');
    this.#active = { segment: row.segment, openedAt: clock.mono(), bytes: 0, offset: 0 };
    own.opened(row.segment);
    return this.#active;
  }

  #fits({ bytes, openedAt }: Active, more: number): boolean {
    const { clock, segmentBytes } = this.#options;
    if (clock.mono() - openedAt >= SEGMENT_MS) return false;
    return bytes === 0 || bytes + more <= segmentBytes;
  }
}

function next(active: Active, record: EncodedRecord): ContentRef {
  const ref = { segment: active.segment, offset: active.offset, length: record.bodyBytes };
  active.offset++;
  active.bytes += sizeOf(record);
  return ref;
}

function sizeOf({ bodyBytes }: EncodedRecord): number {
  return HEADER_BYTES + bodyBytes;
}

const OPEN = 'INSERT INTO spool_segments (node, opened_at) VALUES ($1, $2) RETURNING segment';
// Others may have sealed it, when they took this process for dead.
const SEAL = 'UPDATE spool_segments SET bytes = $2 WHERE segment = $1 AND bytes IS NULL';
