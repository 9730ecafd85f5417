import type { AcceptAnswer, AcceptRecord } from '../../store/accepting.ts';
import {
  type Contents,
  type Placed,
  SegmentLost,
  type TakesContents,
} from '../../store/postgres/contents.ts';
import type { Store } from '../../store/store.ts';
import { recordsAt, type Taken, type Taking, type TakingTerms, takingApart } from '../../store/taking.ts';
import { encodeRecord } from '../record.ts';
import { type Spool, SpoolError, WHOLE_READ_BYTES } from '../spool.ts';
import type { OwnSegments } from './active-segment.ts';
import { type ActiveSegment, refsOf } from './active-segment.ts';
import { insertContents } from './insert.ts';

/** What takes facts, alone and with the contents that they refer to. */
export type FactsStore = Pick<Store, 'accept'> & TakesContents;

/** What taking messages goes by. */
export interface TakingOptions {
  readonly spool: Pick<Spool, 'append' | 'decided'>;
  readonly store: FactsStore;
  /** Where contents go that are taken so: nobody else writes there. */
  readonly segments: ActiveSegment;
  readonly own: OwnSegments;
  readonly isClosed: () => boolean;
}

/**
 * Takes messages in one transaction, contents and facts: one commit, one flush, and nothing that refers to nothing where a
 * process dies in between. What is large goes before its facts, in a transaction of its own, so that letters, whose facts
 * lock what all move, do not wait for it.
 */
export function takingTogether(options: TakingOptions): Taking {
  const apart = takingApart(options.spool, options.store);
  return {
    take: (messages, terms) => {
      const bytes = messages.reduce((sum, { content }) => sum + content.sizeBytes, 0);
      return bytes > WHOLE_READ_BYTES ? apart.take(messages, terms) : takeLetters(messages, terms, options);
    },
  };
}

async function takeLetters(
  messages: readonly Taken[],
  { at, limits, counted }: TakingTerms,
  { store, segments, own, isClosed }: TakingOptions,
): Promise<AcceptAnswer[]> {
  if (isClosed()) throw new SpoolError('spool_closed', 'the spool is closed');
  const encoded = await Promise.all(messages.map(encodeRecord));
  const write = async <T>(accept: (placed: readonly Placed[]) => Promise<T>): Promise<T> => {
    const placed = await segments.place(encoded);
    try {
      return await accept(placed);
    } finally {
      own.decided(refsOf(placed));
      segments.written(placed);
    }
  };
  const contentsAt = (placed: readonly Placed[]): Contents => ({ placed, insert: insertContents });
  let records: AcceptRecord[] = [];
  try {
    return await write((placed) => {
      records = recordsAt(messages, refsOf(placed));
      counted();
      return store.acceptWith(contentsAt(placed), records, at(), limits);
    });
  } catch (error) {
    if (!(error instanceof SegmentLost)) throw error;
    // Once more, in another segment.
    segments.lose(error.segment);
    return await write((placed) => {
      const moved = records.map((record, place) => ({
        ...record,
        content: placed[place]?.ref ?? record.content,
      }));
      return store.acceptWith(contentsAt(placed), moved, at(), limits);
    });
  }
}
