import type { ContentRef } from '../../domain/message.ts';
import type { Queries } from '../../postgres/database.ts';
import type { AcceptAnswer, AcceptRecord, QueueLimits } from '../accepting.ts';
import { type Stamp, StoreError } from '../store.ts';

/** One content, and where it goes. */
export interface Placed {
  readonly record: {
    readonly header: Uint8Array;
    readonly chunks: readonly Uint8Array[];
    readonly bodyBytes: number;
  };
  readonly ref: ContentRef;
}

/** Contents that go into the transaction of the facts that refer to them. */
export interface Contents {
  readonly placed: readonly Placed[];
  /** Writes contents of one segment. Rejects with `SegmentLost`. */
  readonly insert: (db: Queries, placed: readonly Placed[]) => Promise<void>;
}

/** What a store can do whose contents lie in the same database. */
export interface TakesContents {
  /** `Store.accept`, and the contents that the records refer to, in one transaction. Rejects with `SegmentLost` as well. */
  acceptWith(
    contents: Contents,
    batch: readonly AcceptRecord[],
    at: Stamp,
    limits: QueueLimits,
  ): Promise<AcceptAnswer[]>;
}

/** Others have sealed the segment, since they took this process for dead: nothing may be written to it any more. */
export class SegmentLost extends StoreError {
  readonly segment: number;

  constructor(segment: number) {
    super('store_busy', `others have sealed segment ${segment}`);
    this.segment = segment;
  }
}

/** Bytes of contents that add as much to the size of a transaction as one delivery does. */
const BYTES_A_DELIVERY = 4096;

/** What contents add to the size of a transaction, in deliveries. */
export function weightOf({ placed }: Contents): number {
  const bytes = placed.reduce((sum, { record }) => sum + record.bodyBytes, 0);
  return Math.floor(bytes / BYTES_A_DELIVERY);
}

/** Writes contents of several callers together, each segment's by itself. */
export async function writeContents(db: Queries, all: readonly Contents[]): Promise<void> {
  const placed = all.flatMap((contents) => contents.placed);
  const [first] = all;
  if (first === undefined) return;
  const bySegment = Map.groupBy(placed, ({ ref }) => ref.segment);
  await Promise.all([...bySegment.values()].map((together) => first.insert(db, together)));
}
