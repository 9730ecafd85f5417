import type { MessageRecord } from '../../domain/message.ts';
import { IDEMPOTENCY_MS } from '../accepting.ts';
import type { ListPage, ListQuery, MessageDetail, RecipientRecord, Remembered, Views } from '../views.ts';
import { prepareFindIdempotency } from './accept.ts';
import { attemptsView } from './attempts.ts';
import type { Driver } from './driver.ts';
import { figuresView } from './figures.ts';
import { lanesView } from './lanes.ts';
import { SLICE_RECORDS, sliceFinder } from './pages.ts';
import { type ListSlice, Paging, type SliceRequest, textLength } from './paging.ts';
import { quotaUsedView } from './quotas.ts';
import {
  MESSAGE_COLUMNS,
  type MessageRow,
  messageOf,
  RECIPIENT_COLUMNS,
  type RecipientRow,
  recipientOf,
} from './records.ts';
import { snapshots } from './snapshot.ts';
import type { Synchronous } from './verbs.ts';
import { waitingView } from './waiting.ts';

/** The views but for `close`, answered at once, and `list` in slices. */
export interface ViewVerbs extends Synchronous<Omit<Views, 'close'>> {
  listSlice(request: SliceRequest): ListSlice;
}

/** How much a list may look at. */
export interface ViewLimits {
  /** Records for a page; default `MAX_EXAMINED`. */
  readonly maxExamined?: number;
  /** Records for a slice; default `SLICE_RECORDS`. */
  readonly sliceRecords?: number;
  /** Called when a slice begins; what it returns says whether the slice has taken long enough. */
  readonly startSlice?: () => () => boolean;
}

/** For slices that end by the number of records alone. */
const UNTIMED = () => () => false;

/** Builds the views over a connection. */
export function createViews(db: Driver, limits: ViewLimits = {}): ViewVerbs {
  const { maxExamined, sliceRecords = SLICE_RECORDS, startSlice = UNTIMED } = limits;
  const sql = prepareViews(db);
  const findIdempotency = prepareFindIdempotency(db);
  const findSlice = sliceFinder(db);
  const inSnapshot = snapshots(db);
  return {
    message: (id: string): MessageDetail | null =>
      inSnapshot(() => {
        const row = sql.byId.get(id);
        if (row === undefined) return null;
        const recipients = recipientsOf(row[0]);
        return { message: messageOf(row, recipients), recipients };
      }),
    list: (query: ListQuery): ListPage => {
      const paging = new Paging(query, maxExamined);
      while (paging.page === null) paging.add(listSlice(paging.rest));
      return paging.page;
    },
    listSlice,
    attempts: attemptsView(db, inSnapshot),
    remembered: (keyId: string, key: string, now: number): Remembered | null => {
      const [hash, id] = findIdempotency.get(keyId, key, now - IDEMPOTENCY_MS) ?? [];
      return id === undefined || hash === undefined ? null : { id, hash };
    },
    figures: figuresView(db, inSnapshot),
    lanes: lanesView(db),
    quotaUsed: quotaUsedView(db),
    waiting: waitingView(db, inSnapshot),
  };

  function listSlice(request: SliceRequest): ListSlice {
    return inSnapshot(() => {
      const messages: MessageRecord[] = [];
      let characters = 0;
      const found = (seq: number) => {
        const row = sql.bySeq.get(seq);
        if (row === undefined) return;
        const recipients = recipientsOf(seq);
        messages.push(messageOf(row, recipients));
        characters += textLength(row);
        for (const { address } of recipients) characters += address.length;
      };
      const isLate = startSlice();
      const isOver = () => characters >= request.maxCharacters || isLate();
      const records = Math.min(sliceRecords, request.maxExamined);
      const end = findSlice(request.query, records, found, isOver);
      return { ...end, messages, characters };
    });
  }

  function recipientsOf(seq: number): RecipientRecord[] {
    return sql.recipients.all(seq).map(recipientOf);
  }
}

function prepareViews(db: Driver) {
  return {
    byId: db.prepare<[id: string], MessageRow>(`SELECT ${MESSAGE_COLUMNS} FROM messages WHERE id = ?`),
    bySeq: db.prepare<[seq: number], MessageRow>(`SELECT ${MESSAGE_COLUMNS} FROM messages WHERE seq = ?`),
    recipients: db.prepare<[seq: number], RecipientRow>(
      `SELECT ${RECIPIENT_COLUMNS} FROM deliveries WHERE message = ? ORDER BY idx`,
    ),
  };
}
