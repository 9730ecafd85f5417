import type { ContentRef } from '../domain/message.ts';

/** Contents that lie in the spool: whose they are, and where. */
export interface ContentPlace {
  readonly messageId: string;
  readonly content: ContentRef;
}

/** See `Store.relocate`. */
export interface Relocation extends ContentPlace {
  /** Where a copy of the contents lies, durably. */
  readonly to: ContentRef;
}

/** How much of a segment is referred to. */
export interface SegmentUse {
  readonly live: number;
  /** Of the contents alone, without what the spool writes around them. */
  readonly bytes: number;
}

/** What may become of deliveries that came back with a backup: tried again from the beginning, or cancelled. */
export type RestoredAct = 'resume' | 'cancel';

/** See `Store.decideRestored`. */
export interface RestoredAnswer {
  /** Deliveries that were decided on. */
  readonly count: number;
  /** The lanes in which something waits anew; deliveries without a route wait in none. */
  readonly lanes: readonly string[];
  readonly more: boolean;
}
