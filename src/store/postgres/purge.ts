import { IDEMPOTENCY_MS } from '../accepting.ts';
import { fromJson } from '../columns.ts';
import {
  BYTES_GAUGE,
  dayOf,
  KEEP_DAYS,
  KEEP_MINUTES,
  KEEP_QUOTA_DAYS,
  type Kept,
  minuteOf,
} from '../counting.ts';
import type { PurgeAnswer, PurgePolicy } from '../upkeep.ts';
import { pruneQuotas } from './quotas.ts';
import { MESSAGES, type MessageRow } from './tables.ts';
import { indexable } from './text.ts';
import type { Work } from './work.ts';

/**
 * The verb `purge`. Every search starts from the index of final messages, so that nothing that is not final can be
 * found. What others are at work on is left for the next time.
 */
export async function purge(work: Work, policy: PurgePolicy, limit: number): Promise<PurgeAnswer> {
  const { now } = work.at;
  let contents = await purgeContents(work, 'sent', now - policy.contentAgeMs, policy.contentMaxBytes, limit);
  const room = limit - contents;
  contents += await purgeContents(
    work,
    'captured',
    now - policy.capturedAgeMs,
    policy.capturedMaxBytes,
    room,
  );
  const records = await purgeRecords(work, now - policy.recordAgeMs, limit - contents);
  await work.db.run(DELETE_REPEATS, [now - IDEMPOTENCY_MS]);
  await work.db.run(DELETE_COUNTS, ['minute', minuteOf(now) - KEEP_MINUTES]);
  await work.db.run(DELETE_COUNTS, ['day', dayOf(now) - KEEP_DAYS]);
  await pruneQuotas(work.db, dayOf(now) - KEEP_QUOTA_DAYS, limit);
  await work.db.run(DELETE_QUEUES);
  await work.lanes.prune(now);
  return { contents, records, more: contents + records >= limit };
}

async function purgeContents(
  work: Work,
  rule: Exclude<Kept, 'gone'>,
  finalBefore: number,
  maxBytes: number,
  limit: number,
): Promise<number> {
  const [gauge] = await work.db.rows<{ value: number }>(READ_GAUGE, [BYTES_GAUGE[rule]]);
  let excess = (gauge?.value ?? 0) - maxBytes;
  const removed: string[] = [];
  for (const row of await work.db.rows<MessageRow>(OLDEST, [rule, limit])) {
    if ((row.finalAt ?? 0) > finalBefore && excess <= 0) break;
    giveUpContents(work, row);
    excess -= row.length ?? 0;
    removed.push(row.id);
  }
  if (removed.length > 0) await work.db.run(DROP_CONTENTS, [removed]);
  return removed.length;
}

async function purgeRecords(work: Work, finalBefore: number, limit: number): Promise<number> {
  const rows: MessageRow[] = [];
  for (const rule of ['gone', 'sent', 'captured'] as const)
    rows.push(...(await work.db.rows<MessageRow>(FINAL_BEFORE, [rule, finalBefore, limit - rows.length])));
  for (const row of rows) giveUpContents(work, row);
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return 0;
  await deleteTags(work, rows);
  for (const sql of DELETE_RECORDS) await work.db.run(sql, [ids]);
  return ids.length;
}

async function deleteTags({ db }: Work, rows: readonly MessageRow[]): Promise<void> {
  const tags = rows.flatMap(({ id, keyId, tags: json }) =>
    fromJson<string[]>(json).map((tag) => ({ keyId: keyId ?? '', tag: indexable(tag), id })),
  );
  if (tags.length > 0)
    await db.run(DELETE_TAGS, [
      tags.map(({ keyId }) => keyId),
      tags.map(({ tag }) => tag),
      tags.map(({ id }) => id),
    ]);
}

function giveUpContents({ tallies }: Work, { segment, length, kept, status }: MessageRow): void {
  if (segment === null || length === null || kept === null || kept === 'gone') return;
  tallies.segment(segment, -1, -length);
  tallies.gauge(BYTES_GAUGE[kept], -length);
  if (status === 'failed') tallies.gauge('failed_kept', -1);
}

const READ_GAUGE = 'SELECT value FROM gauges WHERE name = $1';
const OLDEST = `SELECT ${MESSAGES.columns} FROM messages WHERE kept = $1
  ORDER BY final_at, id LIMIT $2 FOR UPDATE SKIP LOCKED`;
const FINAL_BEFORE = `SELECT ${MESSAGES.columns} FROM messages WHERE kept = $1 AND final_at <= $2
  ORDER BY final_at, id LIMIT $3 FOR UPDATE SKIP LOCKED`;
const DROP_CONTENTS = `UPDATE messages SET kept = 'gone', segment = NULL, "offset" = NULL, length = NULL
  WHERE id = ANY($1::text[])`;

const DELETE_TAGS = `DELETE FROM message_tags USING unnest($1::text[], $2::text[], $3::text[]) AS old (key_id, tag, id)
  WHERE message_tags.key_id = old.key_id AND message_tags.tag = old.tag AND message_tags.id = old.id`;

/** Records with what else belongs to them. */
const DELETE_RECORDS = [
  'DELETE FROM attempts WHERE message = ANY($1::text[])',
  'DELETE FROM deliveries WHERE message = ANY($1::text[])',
  'DELETE FROM messages WHERE id = ANY($1::text[])',
];

const DELETE_REPEATS = `DELETE FROM idempotency WHERE (key_id, idem_key) IN (
  SELECT key_id, idem_key FROM idempotency WHERE created_at <= $1 FOR UPDATE SKIP LOCKED)`;
const DELETE_COUNTS = `DELETE FROM counters WHERE (period, start, node, event, relay) IN (
  SELECT period, start, node, event, relay FROM counters WHERE period = $1 AND start < $2 FOR UPDATE SKIP LOCKED)`;
const DELETE_QUEUES = `DELETE FROM key_queues WHERE key_id IN (
  SELECT key_id FROM key_queues WHERE messages = 0 FOR UPDATE SKIP LOCKED)`;
