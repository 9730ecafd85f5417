import { EVENT_TYPES } from '../../domain/event.ts';
import { localReply } from '../../domain/outcome.ts';
import type { Transition } from '../../domain/settle.ts';
import { CANCELLED } from '../columns.ts';
import type { Stamp } from '../store.ts';
import type { RestoredAct, RestoredAnswer } from '../upkeep.ts';
import type { Books } from './books.ts';
import type { Deliveries } from './deliveries.ts';
import type { Driver } from './driver.ts';
import { leapSequences } from './events.ts';
import type { OpenMessage } from './ledger.ts';

const CANCELLED_AFTER: Transition = {
  ...CANCELLED,
  reply: localReply('cancelled', '5.7.0', 'cancelled after a restore'),
};

/** Builds the verb `decideRestored`. */
export function decideRestoredVerb(books: Books, deliveries: Deliveries) {
  const sql = prepareRestored(books.db);
  return (act: RestoredAct, expiresAt: number, limit: number, at: Stamp): RestoredAnswer => {
    const rows = sql.undecided.all(limit);
    const lanes = new Set<string>();
    const messages = new Set<OpenMessage>();
    let count = 0;
    for (const [seq, index, isHeld] of rows) {
      sql.forget.run(seq, index);
      if (isHeld !== 1) continue;
      const message = books.ledger.openSeq(seq);
      messages.add(message);
      if (act === 'cancel') cancel(message, index, at);
      else resume(message, index, expiresAt, lanes, at);
      count++;
    }
    for (const message of messages) message.undecided = sql.more.get(message.seq) !== undefined;
    books.tallies.gauge('restored', -rows.length);
    books.ledger.flush(at);
    return { count, lanes: [...lanes], more: rows.length === limit };
  };

  function resume(
    message: OpenMessage,
    index: number,
    expiresAt: number,
    lanes: Set<string>,
    at: Stamp,
  ): void {
    const delivery = deliveries.find(message, index);
    if (delivery === null) return;
    // Mail with a later send time keeps it, and its full lifetime from then on.
    const dueAt = Math.max(at.now, message.notBefore ?? 0);
    const endsAt = expiresAt + dueAt - at.now;
    deliveries.requeue(delivery, 'queued', dueAt, endsAt);
    // It may have been sent after the backup was taken.
    deliveries.flagDuplicate(message);
    message.expiresAt = Math.max(message.expiresAt, endsAt);
    if (delivery.lane !== null) lanes.add(delivery.lane);
  }

  function cancel(message: OpenMessage, index: number, at: Stamp): void {
    message.touched = true;
    const relay = deliveries.find(message, index)?.relay ?? null;
    books.events.moved(message.seq, index, null, CANCELLED_AFTER, relay, at.now);
    const { enhanced, text } = CANCELLED_AFTER.reply;
    sql.cancel.run(enhanced, text, message.seq, index);
  }
}

function prepareRestored(db: Driver) {
  return {
    undecided: db.prepare<[limit: number], [seq: number, index: number, isHeld: number | null]>(
      `SELECT message, idx, (SELECT state = 'failed' AND outcome = 'unknown' FROM deliveries
         WHERE deliveries.message = restored.message AND deliveries.idx = restored.idx)
       FROM restored ORDER BY message, idx LIMIT ?`,
    ),
    forget: db.prepare<[seq: number, index: number]>('DELETE FROM restored WHERE message = ? AND idx = ?'),
    more: db.prepare<[seq: number], [1]>('SELECT 1 FROM restored WHERE message = ? LIMIT 1'),
    cancel: db.prepare<[enhanced: string | null, text: string, seq: number, index: number]>(
      `UPDATE deliveries SET outcome = 'cancelled', last_code = NULL, last_enhanced = ?, last_reply = ?
       WHERE message = ? AND idx = ?`,
    ),
  };
}

/**
 * Holds every delivery that is not final in a database restored from a backup: its hop may have got it since. Nobody
 * else may have the database open. Returns how many deliveries are held.
 */
export function holdRestored(db: Driver, now: number): number {
  db.exec('BEGIN IMMEDIATE');
  try {
    const held = db
      .prepare(
        `INSERT OR IGNORE INTO restored SELECT message, idx FROM deliveries
         WHERE state IN ('queued', 'retrying', 'processing')`,
      )
      .run();
    // Deliveries held by an earlier restore are counted already.
    db.prepare<[held: number]>(
      `INSERT INTO gauges VALUES ('restored', ?) ON CONFLICT DO UPDATE SET value = value + excluded.value`,
    ).run(held);
    const tell = db.prepare<[now: number]>(TELL_HELD);
    const stamp = db.prepare<[now: number, now: number, now: number]>(HOLD_MESSAGES);
    db.exec(COUNT_FAILED);
    stamp.run(now, now, now);
    leapSequences(db, now);
    tell.run(now);
    db.exec(HOLD_DELIVERIES);
    db.exec(HOLD_WEBHOOKS);
    db.exec(FORGET_ALERTS);
    db.exec(FORGET_WORK);
    db.exec('COMMIT');
    return held;
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}

const NOT_FINAL = `status IN ('queued', 'retrying', 'processing')`;

const COUNT_FAILED = `INSERT INTO gauges
  SELECT 'failed_kept', count(*) FROM messages WHERE ${NOT_FINAL} AND length IS NOT NULL
  ON CONFLICT DO UPDATE SET value = value + excluded.value`;

const HELD = `'held: it came back with a backup, and may have been sent since'`;

const HOLD_MESSAGES = `UPDATE messages SET
    failed = failed + queued + retrying + processing, queued = 0, retrying = 0, processing = 0,
    status = 'failed', kept = iif(length IS NULL, 'gone', 'held'), updated_at = ?, status_at = ?, final_at = ?
  WHERE ${NOT_FINAL}`;

const TELL_HELD = `INSERT INTO events (at, type, message, idx, facts)
  SELECT ?, ${EVENT_TYPES['message.failed'].code}, message, idx,
    json_patch(json_object('outcome', 'unknown', 'text', ${HELD}), json_object('relay', relay))
  FROM deliveries WHERE state IN ('queued', 'retrying', 'processing') ORDER BY message, idx`;

const HOLD_DELIVERIES = `UPDATE deliveries SET state = 'failed', outcome = 'unknown', due_at = NULL, fence = NULL,
    begun_at = NULL, cancel_requested = 0, last_code = NULL, last_enhanced = NULL,
    last_reply = ${HELD}
  WHERE state IN ('queued', 'retrying', 'processing')`;

/** What they were told since is not known: who has the receivers enables them again. */
const HOLD_WEBHOOKS = `UPDATE webhook_endpoints SET health = json_set(health, '$.state', 'disabled',
    '$.reason', 'It came back with a backup; enable it to go on.')`;

/** They were of the server from which the backup came, as it was then. */
const FORGET_ALERTS = 'DELETE FROM alerts WHERE is_open = 1';

/** The process that worked on it is gone. Fences keep rising. */
const FORGET_WORK = `
  DELETE FROM lanes;
  DELETE FROM key_queues;
  UPDATE gauges SET value = 0 WHERE name IN ('incoming', 'processing', 'queued_bytes');`;

/** Ends all access to the dashboard, and to stories, from when the backup was taken: it may have been revoked since. */
export function forgetSessions(db: Driver): void {
  db.exec('DELETE FROM sessions; DELETE FROM setup_links; DELETE FROM story_links;');
}

/** Keeps the log from being read after a restore: what segments hold after the backup is not part of it. */
export function forgetLog(db: Driver): void {
  db.exec('DELETE FROM log_mark');
}
