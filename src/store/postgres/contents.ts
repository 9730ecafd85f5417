import type { ContentRef } from '../../domain/message.ts';
import type { Queries } from '../../postgres/database.ts';
import type { AcceptAnswer, AcceptRecord, QueueLimits } from '../accepting.ts';
import { type Stamp, StoreError } from '../store.ts';

/** One message's contents, and their place. */
export interface Placed {
  readonly record: {
    readonly header: Uint8Array;
    readonly chunks: readonly Uint8Array[];
    readonly bodyBytes: number;
  };
  readonly ref: ContentRef;
}

/** Contents to write in the transaction of the records that refer to them. */
export interface Contents {
  readonly placed: readonly Placed[];
  /** Writes contents of one segment. Rejects with `SegmentLost`. */
  readonly insert: (db: Queries, placed: readonly Placed[]) => Promise<void>;
}

/** What a store offers if contents are in the same database. */
export interface TakesContents {
  /** `Store.accept`, with the contents of its records, in one transaction. Also rejects with `SegmentLost`. */
  acceptWith(
    contents: Contents,
    batch: readonly AcceptRecord[],
    at: Stamp,
    limits: QueueLimits,
    together?: boolean,
  ): Promise<AcceptAnswer[]>;
}

/** Other nodes took this process for dead and sealed the segment: nothing may be written to it any more. */
export class SegmentLost extends StoreError {
  readonly segment: number;

  constructor(segment: number) {
    super('store_busy', `others have sealed segment ${segment}`);
    this.segment = segment;
  }
}

/** Bytes of contents that count as one delivery in the size of a transaction. */
const BYTES_A_DELIVERY = 4096;

/** What contents add to the size of a transaction, in deliveries. */
export function weightOf({ placed }: Contents): number {
  const bytes = placed.reduce((sum, { record }) => sum + record.bodyBytes, 0);
  return Math.floor(bytes / BYTES_A_DELIVERY);
}

/** Writes contents of several callers together, one segment at a time. */
export async function writeContents(db: Queries, all: readonly Contents[]): Promise<void> {
  const placed = all.flatMap((contents) => contents.placed);
  const [first] = all;
  if (first === undefined) return;
  const bySegment = Map.groupBy(placed, ({ ref }) => ref.segment);
  await Promise.all([...bySegment.values()].map((together) => first.insert(db, together)));
}
