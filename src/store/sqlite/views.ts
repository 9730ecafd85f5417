import type { Attempt } from '../../domain/attempt.ts';
import type { LaneDepth, ListPage, ListQuery, MessageDetail, RecipientRecord, Views } from '../views.ts';
import { type AttemptRow, attemptOf } from './attempts.ts';
import type { Driver } from './driver.ts';
import { figuresView } from './figures.ts';
import { pageFinder } from './pages.ts';
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

/** The views but for `close`, answered at once. */
export type ViewVerbs = Synchronous<Omit<Views, 'close'>>;

/** Builds the views over a connection. */
export function createViews(db: Driver, maxExamined?: number): ViewVerbs {
  const sql = prepareViews(db);
  const findPage = pageFinder(db, maxExamined);
  const inSnapshot = snapshots(db);
  return {
    message: (id: string): MessageDetail | null =>
      inSnapshot(() => {
        const row = sql.byId.get(id);
        if (row === undefined) return null;
        const recipients = recipientsOf(row[0]);
        return { message: messageOf(row, recipients), recipients };
      }),
    list: (query: ListQuery): ListPage =>
      inSnapshot(() => {
        const { seqs, next } = findPage(query);
        const messages = seqs.flatMap((seq) => {
          const row = sql.bySeq.get(seq);
          return row === undefined ? [] : [messageOf(row, recipientsOf(seq))];
        });
        return { messages, next };
      }),
    attempts: (id: string): Attempt[] => sql.attempts.all(id).map(attemptOf),
    figures: figuresView(db, inSnapshot),
    lanes: (limit: number): LaneDepth[] =>
      sql.lanes.all(limit).map(([lane, waiting, processing]) => ({ lane, waiting, processing })),
  };

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
    attempts: db.prepare<[id: string], AttemptRow>(
      `SELECT started_at, relay, evidence, results FROM attempts
       WHERE message = (SELECT seq FROM messages WHERE id = ?) ORDER BY number`,
    ),
    lanes: db.prepare<[limit: number], [lane: string, waiting: number, processing: number]>(
      `SELECT lane, waiting, processing FROM lanes WHERE waiting + processing > 0
       ORDER BY waiting + processing DESC, lane LIMIT ?`,
    ),
  };
}
