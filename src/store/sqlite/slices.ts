import type { MessageRecord } from '../../domain/message.ts';
import { searchOf } from '../matching.ts';
import type { ListQuery, RecipientRecord, SearchQuery } from '../views.ts';
import type { InSnapshot } from './connection.ts';
import type { Driver } from './driver.ts';
import { SLICE_RECORDS, type SliceEnd, sliceFinder } from './pages.ts';
import { type ListSlice, type SliceRequest, textLength } from './paging.ts';
import {
  MESSAGE_COLUMNS,
  type MessageRow,
  messageOf,
  RECIPIENT_COLUMNS,
  type RecipientRow,
  recipientOf,
} from './records.ts';
import { foundFinder } from './search.ts';
import { behindFigure } from './word-search.ts';

/** The result of one slice of a search. */
export interface FoundSlice extends ListSlice {
  /** See `FoundPage.behind`. */
  readonly behind: number;
}

/** The limits of a slice. */
export interface SliceLimits {
  /** Records for a slice; default `SLICE_RECORDS`. */
  readonly sliceRecords?: number;
  /** Called when a slice begins; the returned function says whether the slice has taken long enough. */
  readonly startSlice?: () => () => boolean;
}

/** For slices limited by the number of records alone. */
export const UNTIMED = () => () => false;

/** Looks for messages, and passes each to `found`. */
type Find<Query> = (
  query: Query,
  maxExamined: number,
  found: (seq: number) => void,
  isOver: () => boolean,
) => SliceEnd;

/** Builds the slices of lists and searches: each sees one state of the database. */
export function sliceViews(db: Driver, inSnapshot: InSnapshot, limits: SliceLimits) {
  const { sliceRecords = SLICE_RECORDS, startSlice = UNTIMED } = limits;
  const recipientsOf = recipientReader(db);
  const bySeq = db.prepare<[seq: number], MessageRow>(
    `SELECT ${MESSAGE_COLUMNS} FROM messages WHERE seq = ?`,
  );
  const findListed = sliceFinder(db);
  const findFound = foundFinder(db);
  const behind = behindFigure(db);
  return {
    listSlice: (request: SliceRequest): ListSlice =>
      inSnapshot(() => {
        const query = searchOf(request.query);
        return query === null ? sliceOf(request, findListed) : sliceOf({ ...request, query }, findFound);
      }),
    searchSlice: (request: SliceRequest<SearchQuery>): FoundSlice =>
      inSnapshot(() => ({ ...sliceOf(request, findFound), behind: behind(request.query.query) })),
  };

  function sliceOf<Query extends ListQuery | SearchQuery>(
    request: SliceRequest<Query>,
    find: Find<Query>,
  ): ListSlice {
    const messages: MessageRecord[] = [];
    let characters = 0;
    const found = (seq: number) => {
      const row = bySeq.get(seq);
      if (row === undefined) return;
      const recipients = recipientsOf(seq);
      messages.push(messageOf(row, recipients));
      characters += textLength(row);
      for (const { address } of recipients) characters += address.length;
    };
    const isLate = startSlice();
    const isOver = () => characters >= request.maxCharacters || isLate();
    const end = find(request.query, Math.min(sliceRecords, request.maxExamined), found, isOver);
    return { ...end, messages, characters };
  }
}

/** Builds the reader of a message's recipients, in envelope order. */
export function recipientReader(db: Driver): (seq: number) => RecipientRecord[] {
  const recipients = db.prepare<[seq: number], RecipientRow>(
    `SELECT ${RECIPIENT_COLUMNS} FROM deliveries WHERE message = (SELECT ?) ORDER BY idx`,
  );
  return (seq) => recipients.all(seq).map(recipientOf);
}
