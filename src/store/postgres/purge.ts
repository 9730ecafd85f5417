import { FINAL_STATUSES } from '../../domain/delivery.ts';
import { messageIdFloor } from '../../lib/id.ts';
import { indexable } from '../../postgres/text.ts';
import { IDEMPOTENCY_MS } from '../accepting.ts';
import { fromJson } from '../columns.ts';
import {
  BYTES_GAUGE,
  dayOf,
  hourOfMinute,
  KEEP_DAYS,
  KEEP_HOURS,
  KEEP_MINUTES,
  KEEP_QUOTA_DAYS,
  KEEP_RELAY_MINUTES,
  minuteOf,
} from '../counting.ts';
import { LINK_COLUMNS } from '../plain/unsubscribe-links.ts';
import type { PurgeAnswer, PurgePolicy } from '../upkeep.ts';
import { pruneQuotas } from './quotas.ts';
import { among, MESSAGES, type MessageRow, spanned } from './tables.ts';
import type { Work } from './work.ts';

/**
 * The verb `purge`, except for dropping whole days (`partitions.ts`) and for {@link purgeFigures}. It searches only
 * final messages, so that it can find no other. It skips what others are working on until the next time.
 */
export async function purge(work: Work, policy: PurgePolicy, limit: number): Promise<PurgeAnswer> {
  const { now } = work.at;
  const ages = { sent: policy.contentAgeMs, captured: policy.capturedAgeMs };
  const sizes = { sent: policy.contentMaxBytes, captured: policy.capturedMaxBytes };
  let contents = 0;
  for (const rule of ['sent', 'captured'] as const) {
    const aged = await purgeByAge(work, rule, ages[rule], limit - contents);
    contents += aged.count;
    contents += await purgeBySize(work, rule, sizes[rule] + aged.bytes, limit - contents);
  }
  const records = await purgeRecords(work, now - policy.recordAgeMs, limit - contents);
  return { contents, records, more: contents + records >= limit };
}

/**
 * Removes figures that are no longer needed, among them at most `limit` quotas and `limit` idempotency keys. It runs in
 * a transaction of its own and must wait for nothing, since it holds what others lock late. True: there may be more
 * keys.
 */
export async function purgeFigures({ db, lanes, at: { now } }: Work, limit: number): Promise<boolean> {
  const repeats = await db.run(DELETE_REPEATS, [now - IDEMPOTENCY_MS, limit]);
  await db.run(DELETE_COUNTS, ['minute', minuteOf(now) - KEEP_MINUTES]);
  await db.run(DELETE_RELAY_MINUTES, [minuteOf(now) - KEEP_RELAY_MINUTES]);
  await db.run(DELETE_COUNTS, ['hour', hourOfMinute(minuteOf(now)) - KEEP_HOURS]);
  await db.run(DELETE_COUNTS, ['day', dayOf(now) - KEEP_DAYS]);
  await pruneQuotas(db, dayOf(now) - KEEP_QUOTA_DAYS, limit);
  await db.run(DELETE_QUEUES);
  await lanes.prune(now);
  return repeats >= limit;
}

/** Visits every key with kept contents once: the number of messages kept longer makes no difference. */
async function purgeByAge(
  work: Work,
  rule: KeptRule,
  ageMs: number,
  limit: number,
): Promise<{ readonly count: number; readonly bytes: number }> {
  const { db, at } = work;
  let count = 0;
  let bytes = 0;
  let keyId: string | null | undefined = null;
  while (keyId !== undefined && count < limit) {
    const [key]: { days: number | null }[] = keyId === null ? [] : await db.rows(CONTENT_DAYS, [keyId]);
    const days = key?.days ?? null;
    const finalBefore = at.now - (days === null ? ageMs : days * DAY_MS);
    const rest = limit - count;
    const rows: MessageRow[] =
      keyId === null
        ? await db.rows(OF_NO_KEY, [rule, finalBefore, rest])
        : await db.rows(OF_KEY, [rule, finalBefore, rest, keyId]);
    await removeContents(work, rows);
    count += rows.length;
    for (const { length } of rows) bytes += length ?? 0;
    const [next]: { keyId: string }[] = await db.rows(NEXT_KEY, [rule, keyId ?? '']);
    keyId = next?.keyId;
  }
  return { count, bytes };
}

async function purgeBySize(work: Work, rule: KeptRule, maxBytes: number, limit: number): Promise<number> {
  const [gauge] = await work.db.rows<{ value: number }>(READ_GAUGE, [BYTES_GAUGE[rule]]);
  let excess = (gauge?.value ?? 0) - maxBytes;
  if (excess <= 0) return 0;
  const rows: MessageRow[] = [];
  for (const row of await work.db.rows<MessageRow>(OLDEST, [rule, limit])) {
    if (excess <= 0) break;
    rows.push(row);
    excess -= row.length ?? 0;
  }
  await removeContents(work, rows);
  return rows.length;
}

async function removeContents(work: Work, rows: readonly MessageRow[]): Promise<void> {
  if (rows.length === 0) return;
  await keepLinks(work, rows);
  for (const row of rows) giveUpContents(work, row);
  await work.db.run(DROP_CONTENTS, [rows.map(({ id }) => id)]);
}

/**
 * Removes the contents of a final message, and their bytes: here they are rows, so that nobody need rewrite a segment.
 * Returns the segment that held them; null: none did.
 */
export async function forgetContents(work: Work, id: string): Promise<number | null> {
  const [row] = await work.db.rows<MessageRow>(OF_MESSAGE, [id]);
  if (row === undefined || row.segment === null) return null;
  await work.db.run(DELETE_CONTENTS, [row.segment, row.offset]);
  await removeContents(work, [row]);
  return row.segment;
}

/**
 * Removes records one by one: those whose contents are kept as long as they are, those of days without a partition, and
 * those of days that should have been dropped long ago but still hold something live.
 */
async function purgeRecords(work: Work, finalBefore: number, limit: number): Promise<number> {
  const { db } = work;
  const rows: MessageRow[] = [];
  for (const rule of ['sent', 'captured'] as const)
    rows.push(...(await db.rows<MessageRow>(KEPT_BEFORE, [rule, finalBefore, limit - rows.length])));
  rows.push(...(await db.rows<MessageRow>(REST_BEFORE, [finalBefore, limit - rows.length])));
  const overdue = messageIdFloor(finalBefore - OVERDUE_MS);
  rows.push(...(await db.rows<MessageRow>(OVERDUE, [finalBefore, limit - rows.length, overdue])));
  rows.push(...(await ofKeysBefore(work, limit - rows.length)));
  // One of the remaining may be overdue as well.
  const found = new Map(rows.map((row) => [row.id, row]));
  await keepLinks(work, rows);
  for (const row of found.values()) giveUpContents(work, row);
  const ids = [...found.keys()];
  if (ids.length === 0) return 0;
  await deleteTags(work, [...found.values()]);
  for (const sql of DELETE_RECORDS) await work.db.run(sql, spanned(ids));
  return ids.length;
}

/** Records of keys whose own days are over. */
async function ofKeysBefore({ db, at: { now } }: Work, limit: number): Promise<MessageRow[]> {
  const found: MessageRow[] = [];
  for (const { keyId, days } of await db.rows<{ keyId: string; days: number }>(RECORD_DAYS)) {
    const finalBefore = now - days * DAY_MS;
    const below = messageIdFloor(finalBefore + 1);
    for (const status of FINAL_STATUSES) {
      const rest = limit - found.length;
      found.push(...(await db.rows<MessageRow>(OF_KEY_BEFORE, [keyId, status, below, finalBefore, rest])));
    }
  }
  return found;
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

/** Keeps the links to unsubscribe of those who got a copy. Captured mail has reached nobody. */
async function keepLinks({ db }: Work, rows: readonly MessageRow[]): Promise<void> {
  const ids = rows.flatMap(({ id, kept, copies }) => (copies !== null && kept === 'sent' ? [id] : []));
  if (ids.length > 0) await db.run(KEEP_LINKS, spanned(ids));
}

function giveUpContents({ tallies }: Work, { segment, length, kept, status }: MessageRow): void {
  if (segment === null || length === null || kept === null) return;
  if (kept !== 'sent' && kept !== 'captured') return;
  tallies.segment(segment, -1, -length);
  tallies.gauge(BYTES_GAUGE[kept], -length);
  if (status === 'failed') tallies.gauge('failed_kept', -1);
}

/** The retention rule that keeps contents. */
type KeptRule = keyof typeof BYTES_GAUGE;

const DAY_MS = 86_400_000;
/** How long a day may take to become droppable after its first record could go. */
const OVERDUE_MS = 7 * DAY_MS;
const CONTENT_DAYS = 'SELECT content_days AS days FROM keys WHERE id = $1';
const NEXT_KEY = `SELECT key_id AS "keyId" FROM messages_kept
  WHERE kept = $1 AND key_id > $2 ORDER BY key_id LIMIT 1`;
const OF_NO_KEY = `SELECT ${MESSAGES.columns} FROM messages_kept AS messages
  WHERE kept = $1 AND final_at <= $2 AND key_id IS NULL
  ORDER BY final_at, id LIMIT $3 FOR UPDATE SKIP LOCKED`;
const OF_KEY = `SELECT ${MESSAGES.columns} FROM messages_kept AS messages
  WHERE kept = $1 AND final_at <= $2 AND key_id = $4
  ORDER BY final_at, id LIMIT $3 FOR UPDATE SKIP LOCKED`;
const READ_GAUGE = 'SELECT value FROM gauges WHERE name = $1';
const OLDEST = `SELECT ${MESSAGES.columns} FROM messages_kept AS messages WHERE kept = $1
  ORDER BY final_at, id LIMIT $2 FOR UPDATE SKIP LOCKED`;
const KEPT_BEFORE = `SELECT ${MESSAGES.columns} FROM messages_kept AS messages WHERE kept = $1 AND final_at <= $2
  ORDER BY final_at, id LIMIT $3 FOR UPDATE SKIP LOCKED`;
const REST_BEFORE = `SELECT ${MESSAGES.columns} FROM messages_gone_rest AS messages WHERE final_at <= $1
  ORDER BY final_at, id LIMIT $2 FOR UPDATE SKIP LOCKED`;
const OVERDUE = `SELECT ${MESSAGES.columns} FROM messages_gone AS messages WHERE final_at <= $1 AND id < $3
  ORDER BY final_at, id LIMIT $2 FOR UPDATE SKIP LOCKED`;
const RECORD_DAYS = 'SELECT id AS "keyId", record_days AS days FROM keys WHERE record_days IS NOT NULL';
// In order of acceptance: what is passed over took longer than others until it was final.
const OF_KEY_BEFORE = `SELECT ${MESSAGES.columns} FROM messages WHERE key_id = $1 AND status = $2 AND id < $3
  AND final_at <= $4 AND kept IN ('sent', 'captured', 'gone') ORDER BY id LIMIT $5 FOR UPDATE SKIP LOCKED`;
const OF_MESSAGE = `SELECT ${MESSAGES.columns} FROM messages WHERE id = $1 AND kept IN ('sent', 'captured') FOR UPDATE`;
const DELETE_CONTENTS = 'DELETE FROM contents WHERE segment = $1 AND "offset" = $2';
// Its rows move, so it must name the table that they move within.
const DROP_CONTENTS = `UPDATE messages SET kept = 'gone', segment = NULL, "offset" = NULL, length = NULL, copies = NULL
  WHERE id = ANY($1::text[]) AND kept IN ('sent', 'captured')`;

// An attempt whose end nobody knows may have delivered, too.
const KEEP_LINKS = `INSERT INTO unsubscribe_links (${LINK_COLUMNS})
  SELECT messages.id, deliveries.index, deliveries.address, messages.key_id, messages.header_from, messages.stream
  FROM messages JOIN deliveries ON deliveries.message = messages.id
  WHERE ${among('messages.id')} AND ${among('deliveries.message')} AND messages.stream IS NOT NULL
    AND (deliveries.state = 'delivered' OR deliveries.outcome = 'unknown')
  ORDER BY messages.id, deliveries.index ON CONFLICT DO NOTHING`;

const DELETE_TAGS = `DELETE FROM message_tags USING unnest($1::text[], $2::text[], $3::text[]) AS old (key_id, tag, id)
  WHERE message_tags.key_id = old.key_id AND message_tags.tag = old.tag AND message_tags.id = old.id`;

/** Records and their dependent rows. */
const DELETE_RECORDS = [
  `DELETE FROM attempts WHERE ${among('message')}`,
  `DELETE FROM deliveries WHERE ${among('message')}`,
  `DELETE FROM events WHERE ${among('message')}`,
  // A node that is indexing its words holds it here until it is done.
  `DELETE FROM pending_words WHERE ${among('id')}`,
  `DELETE FROM message_words WHERE ${among('id')}`,
  `DELETE FROM story_links WHERE ${among('message')}`,
  `DELETE FROM messages WHERE ${among('id')}`,
];

const DELETE_REPEATS = `DELETE FROM idempotency WHERE (key_id, idem_key) IN (
  SELECT key_id, idem_key FROM idempotency WHERE created_at <= $1
  ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED)`;
const DELETE_COUNTS = `DELETE FROM counters WHERE (period, start, node, event, relay) IN (
  SELECT period, start, node, event, relay FROM counters WHERE period = $1 AND start < $2 FOR UPDATE SKIP LOCKED)`;
// Few of all minutes: written like this, the index finds them without reading the others' rows.
const DELETE_RELAY_MINUTES = `DELETE FROM counters WHERE (period, start, node, event, relay) IN (
  SELECT period, start, node, event, relay FROM counters
  WHERE period = 'minute' AND start < $1 AND relay > '' FOR UPDATE SKIP LOCKED)`;
const DELETE_QUEUES = `DELETE FROM key_queues WHERE key_id IN (
  SELECT key_id FROM key_queues WHERE messages = 0 FOR UPDATE SKIP LOCKED)`;
