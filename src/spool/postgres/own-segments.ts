import type { ContentRef } from '../../domain/message.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Database } from '../../postgres/database.ts';

/** What a node's own segments depend on. */
export interface OwnSegmentsOptions {
  readonly database: Database;
  readonly node: string;
  readonly clock: Clock;
  readonly segmentBytes: number;
  /** A segment takes contents for so long, in ms. */
  readonly segmentMs: number;
}

/** The segment that is written to. */
interface Active {
  readonly number: number;
  /** Monotonic ms. */
  readonly openedAt: number;
  bytes: number;
  /** Of the next record. */
  offset: number;
}

/** The segments that this process writes or has written, and which of their records the store has not decided on. */
export class OwnSegments {
  readonly #options: OwnSegmentsOptions;
  #active: Active | null = null;
  readonly #sealed = new Set<number>();
  /** Offsets of undecided records, per segment that has any. */
  readonly #undecided = new Map<number, Set<number>>();

  constructor(options: OwnSegmentsOptions) {
    this.#options = options;
  }

  /** The segment that the next `bytes` go to. Throws `StoreError`. */
  async forBytes(bytes: number): Promise<number> {
    const active = this.#active;
    if (active !== null && this.#fits(active, bytes)) return active.number;
    await this.seal();
    return (await this.#open()).number;
  }

  /** Where a record of so many bytes goes; a place is given once, also when writing there fails. */
  place(segment: number, length: number): ContentRef {
    const active = this.#active;
    if (active?.number !== segment) throw new Error('the segment is sealed');
    const ref = { segment, offset: active.offset, length };
    active.offset++;
    active.bytes += length;
    return ref;
  }

  /** Records were written, and wait for the store's decision. */
  hold(refs: readonly ContentRef[]): void {
    for (const { segment, offset } of refs) {
      const offsets = this.#undecided.get(segment);
      if (offsets === undefined) this.#undecided.set(segment, new Set([offset]));
      else offsets.add(offset);
    }
  }

  decided(refs: readonly ContentRef[]): void {
    for (const { segment, offset } of refs) {
      const offsets = this.#undecided.get(segment);
      if (offsets?.delete(offset) && offsets.size === 0) this.#undecided.delete(segment);
    }
  }

  /** Whether it is this process's and may not be removed: it is written to, or waits for a decision. */
  isBusy(segment: number): boolean {
    return segment === this.#active?.number || this.#undecided.has(segment);
  }

  /** Those that no append will touch again and whose appends are all decided. */
  idle(): number[] {
    return [...this.#sealed].filter((segment) => !this.isBusy(segment));
  }

  /** A segment is gone. */
  remove(segment: number): void {
    this.#sealed.delete(segment);
  }

  /** Ends the segment that is written to. Throws `StoreError`, and it is to be sealed still. */
  async seal(): Promise<void> {
    const active = this.#active;
    if (active === null) return;
    await this.#options.database.rows(SEAL, [active.number, active.bytes]);
    this.#sealed.add(active.number);
    this.#active = null;
  }

  /** Ends it if its time is over. Throws `StoreError`. */
  async sealIfOld(): Promise<void> {
    if (this.#active !== null && !this.#fits(this.#active, 0)) await this.seal();
  }

  #fits({ offset, bytes, openedAt }: Active, more: number): boolean {
    const { clock, segmentBytes, segmentMs } = this.#options;
    if (clock.mono() - openedAt >= segmentMs) return false;
    return offset === 0 || bytes + more <= segmentBytes;
  }

  async #open(): Promise<Active> {
    const { database, node, clock } = this.#options;
    const [row] = await database.rows<{ segment: number }>(OPEN, [node, clock.wall()]);
    if (row === undefined) throw new Error('the database gave no segment');
    this.#active = { number: row.segment, openedAt: clock.mono(), bytes: 0, offset: 0 };
    return this.#active;
  }
}

const OPEN = 'INSERT INTO spool_segments (node, opened_at) VALUES ($1, $2) RETURNING segment';
const SEAL = 'UPDATE spool_segments SET bytes = $2 WHERE segment = $1';
