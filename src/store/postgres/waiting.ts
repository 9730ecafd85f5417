import type { Queries } from '../../postgres/database.ts';
import { fromJson, groupOf, priorityOf } from '../columns.ts';
import {
  MAX_WAITING_CHARACTERS,
  type WaitingDelivery,
  type WaitingPage,
  type WaitingQuery,
} from '../views.ts';
import { textLength } from './records.ts';

/** A waiting delivery as it is read, and its place in the order of the pages. */
interface WaitingRow extends Omit<WaitingDelivery, 'group' | 'tags' | 'priority'> {
  readonly group: string | null;
  readonly tags: string;
  readonly expiresAt: number;
  readonly priority: number;
}

/** Deliveries that are read at once: the page ends when it is large, and what was read beyond it was for nothing. */
const PORTION = 100;

/**
 * The view `waiting`. It walks an index from where the last page ended, and reads little but what is on the page. What
 * is in all lanes stands in an order that no verb but `requeue` changes.
 */
export async function waiting(db: Queries, { lane, after, limit }: WaitingQuery): Promise<WaitingPage> {
  const deliveries: WaitingDelivery[] = [];
  let characters = 0;
  let place = after;
  for (;;) {
    const rows = await readAfter(db, lane, place, PORTION);
    for (const row of rows) {
      if (deliveries.length === limit || characters >= MAX_WAITING_CHARACTERS)
        return { deliveries, next: place };
      characters += textLength(row);
      deliveries.push(deliveryOf(row));
      place = placeOf(row, lane);
    }
    if (rows.length < PORTION) return { deliveries, next: null };
  }
}

function readAfter(
  db: Queries,
  lane: WaitingQuery['lane'],
  after: string | null,
  limit: number,
): Promise<WaitingRow[]> {
  const [first, second, message, index] = partsOf(after);
  if (lane === 'all') return db.rows<WaitingRow>(ALL, [limit, first, message, index]);
  const parameters = [limit, first, second, message, index];
  return lane === 'none'
    ? db.rows<WaitingRow>(OF_NONE, parameters)
    : db.rows<WaitingRow>(OF_LANE, [...parameters, lane.name]);
}

/** A place is the columns of the index that is walked: two numbers, the message and the delivery's place in it. */
function placeOf(
  { expiresAt, priority, dueAt, messageId, index }: WaitingRow,
  lane: WaitingQuery['lane'],
): string {
  return lane === 'all'
    ? `${expiresAt} 0 ${messageId} ${index}`
    : `${priority} ${dueAt} ${messageId} ${index}`;
}

/** Reads a page's `next`; what is none starts anew. */
function partsOf(place: string | null): [first: number, second: number, message: string, index: number] {
  const [first, second, message, index] = (place ?? '').split(' ');
  const numbers = [first, second, index].map(Number);
  if (message === undefined || !numbers.every(Number.isSafeInteger)) return [-1, -1, '', -1];
  return [Number(first), Number(second), message, Number(index)];
}

function deliveryOf({ expiresAt: _, priority, ...row }: WaitingRow): WaitingDelivery {
  const { group, tags } = row;
  return { ...row, priority: priorityOf(priority), group: groupOf(group), tags: fromJson<string[]>(tags) };
}

const SELECT = `SELECT m.id AS "messageId", d.index, d.lane, d.relay, d.route_rule AS rule, d.route_group AS "group",
    d.due_at AS "dueAt", m.route_table AS "routeTable", d.address AS recipient, m.reverse_path AS "reversePath", m.tags,
    m.key_id AS "keyId", keys.name AS "keyName", m.source_address AS "sourceAddress", m.size_bytes AS "sizeBytes",
    m.test, m.created_at AS "createdAt", d.expires_at AS "expiresAt", d.priority
  FROM deliveries AS d JOIN messages AS m ON m.id = d.message LEFT JOIN keys ON keys.id = m.key_id
  WHERE d.state IN ('queued', 'retrying') AND m.kept IS NULL`;
const ALL = `${SELECT} AND (d.expires_at, d.message, d.index) > ($2, $3, $4)
  ORDER BY d.expires_at, d.message, d.index LIMIT $1`;
const IN_LANE = `AND (d.priority, d.due_at, d.message, d.index) > ($2, $3, $4, $5)
  ORDER BY d.priority, d.due_at, d.message, d.index LIMIT $1`;
const OF_NONE = `${SELECT} AND d.lane IS NULL ${IN_LANE}`;
const OF_LANE = `${SELECT} AND d.lane = $6 ${IN_LANE}`;
