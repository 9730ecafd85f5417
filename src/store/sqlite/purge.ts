import type { MessageStatus } from '../../domain/delivery.ts';
import { IDEMPOTENCY_MS } from '../accepting.ts';
import { fromJson } from '../columns.ts';
import { BYTES_GAUGE, dayOf, KEEP_QUOTA_DAYS, type Kept } from '../counting.ts';
import type { Stamp } from '../store.ts';
import type { PurgeAnswer, PurgePolicy } from '../upkeep.ts';
import type { Books } from './books.ts';
import type { Driver } from './driver.ts';

/** Which retention rule holds contents that are still kept. */
type KeptRule = Exclude<Kept, 'gone'>;

/**
 * Builds the verb `purge`. Every search starts from the index of final messages, so that nothing that is not
 * final can be found.
 */
export function purgeVerb(books: Books) {
  const sql = preparePurge(books.db);
  return (policy: PurgePolicy, limit: number, at: Stamp): PurgeAnswer => {
    books.tallies.flush();
    let contents = purgeContents('sent', at.now - policy.contentAgeMs, policy.contentMaxBytes, limit);
    const room = limit - contents;
    contents += purgeContents('captured', at.now - policy.capturedAgeMs, policy.capturedMaxBytes, room);
    const records = purgeRecords(at.now - policy.recordAgeMs, limit - contents);
    sql.idempotency.run(at.now - IDEMPOTENCY_MS);
    books.closeOff();
    books.quotas.prune(dayOf(at.now) - KEEP_QUOTA_DAYS, limit);
    const more = contents + records >= limit;
    if (!more) sql.emptyQueues.run();
    books.leases.prune(at.now);
    return { contents, records, more };
  };

  function purgeContents(rule: KeptRule, finalBefore: number, maxBytes: number, limit: number): number {
    let excess = books.tallies.gaugeNow(BYTES_GAUGE[rule]) - maxBytes;
    let removed = 0;
    for (const row of sql.oldest.all(rule, limit)) {
      const [, finalAt, , , , length] = row;
      if (finalAt > finalBefore && excess <= 0) break;
      removeContents(rule, row);
      excess -= length ?? 0;
      removed++;
    }
    return removed;
  }

  function removeContents(rule: KeptRule, [seq, , , status, segment, length]: FinalRow): void {
    sql.dropContents.run(seq);
    giveUpContents(rule, status, segment, length);
  }

  function purgeRecords(finalBefore: number, limit: number): number {
    let removed = 0;
    for (const rule of ['gone', 'sent', 'captured'] as const)
      for (const row of sql.finalBefore.all(rule, finalBefore, limit - removed)) {
        const [seq, , id, status, segment, length, keyId, tags] = row;
        if (rule !== 'gone') giveUpContents(rule, status, segment, length);
        for (const tag of fromJson<string[]>(tags)) sql.deleteTag.run(keyId ?? '', tag, id);
        sql.deleteAttempts.run(seq);
        sql.deleteDeliveries.run(seq);
        sql.deleteMessage.run(seq);
        removed++;
      }
    return removed;
  }

  function giveUpContents(
    rule: KeptRule,
    status: MessageStatus,
    segment: number | null,
    length: number | null,
  ): void {
    if (segment === null || length === null) return;
    books.tallies.segment(segment, -1, -length);
    books.tallies.gauge(BYTES_GAUGE[rule], -length);
    if (status === 'failed') books.tallies.gauge('failed_kept', -1);
  }
}

type FinalRow = [
  seq: number,
  finalAt: number,
  id: string,
  status: MessageStatus,
  segment: number | null,
  length: number | null,
  keyId: string | null,
  tags: string,
];

const COLUMNS = 'seq, final_at, id, status, segment, length, key_id, tags';

function preparePurge(db: Driver) {
  return {
    oldest: db.prepare<[rule: string, limit: number], FinalRow>(
      `SELECT ${COLUMNS} FROM messages INDEXED BY messages_by_final
       WHERE kept = ? ORDER BY final_at LIMIT ?`,
    ),
    finalBefore: db.prepare<[rule: string, finalBefore: number, limit: number], FinalRow>(
      `SELECT ${COLUMNS} FROM messages INDEXED BY messages_by_final
       WHERE kept = ? AND final_at <= ? ORDER BY final_at LIMIT ?`,
    ),
    dropContents: db.prepare<[seq: number]>(
      `UPDATE messages SET kept = 'gone', segment = NULL, offset = NULL, length = NULL WHERE seq = ?`,
    ),
    deleteTag: db.prepare<[keyId: string, tag: string, id: string]>(
      'DELETE FROM message_tags WHERE key_id = ? AND tag = ? AND id = ?',
    ),
    deleteAttempts: db.prepare<[seq: number]>('DELETE FROM attempts WHERE message = ?'),
    deleteDeliveries: db.prepare<[seq: number]>('DELETE FROM deliveries WHERE message = ?'),
    deleteMessage: db.prepare<[seq: number]>('DELETE FROM messages WHERE seq = ?'),
    emptyQueues: db.prepare('DELETE FROM key_queues WHERE messages = 0'),
    idempotency: db.prepare<[before: number]>('DELETE FROM idempotency WHERE created_at <= ?'),
  };
}
