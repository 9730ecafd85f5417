import {
  MAX_WAITING_CHARACTERS,
  type WaitingDelivery,
  type WaitingPage,
  type WaitingQuery,
} from '../views.ts';
import type { Driver } from './driver.ts';
import { fromJson, groupOf } from './rows.ts';
import type { InSnapshot } from './snapshot.ts';

/** Where a delivery stands in the order of its pages, as numbers: the columns of the index that is walked. */
type Place = readonly number[];

/** Before every place. */
const START = -1;

/**
 * Builds the view `waiting`. It walks an index from where the last page ended, and reads nothing but what is on the
 * page. What is in all lanes stands in an order that no verb but `requeue` changes.
 */
export function waitingView(db: Driver, inSnapshot: InSnapshot) {
  const sql = prepareWaiting(db);
  return ({ lane, after, limit }: WaitingQuery): WaitingPage =>
    inSnapshot(() => {
      const start = after === null ? null : placeOf(after);
      const deliveries: WaitingDelivery[] = [];
      let characters = 0;
      let last: Place | null = null;
      for (const place of lane === 'all' ? all(start, limit + 1) : ofLane(nameOf(lane), start, limit + 1)) {
        if (deliveries.length === limit || characters >= MAX_WAITING_CHARACTERS)
          return { deliveries, next: last === null ? null : last.join(' ') };
        const [seq, index] = place.slice(-2);
        const row = sql.delivery.get(seq ?? START, index ?? START);
        last = place;
        if (row === undefined) continue;
        for (const value of row) if (typeof value === 'string') characters += value.length;
        deliveries.push(deliveryOf(row));
      }
      return { deliveries, next: null };
    });

  function all(start: Place | null, limit: number): Place[] {
    const [expiresAt = START, seq = START, index = START] = start ?? [];
    return sql.all.all(expiresAt, seq, index, limit);
  }

  function ofLane(lane: string | null, start: Place | null, limit: number): Place[] {
    const [rank = START, dueAt = START, seq = START, index = START] = start ?? [];
    return sql.ofLane.all(lane, rank, dueAt, seq, index, limit);
  }
}

function nameOf(lane: { readonly name: string } | 'none'): string | null {
  return lane === 'none' ? null : lane.name;
}

/** Reads a page's `next`. What is none starts anew. */
function placeOf(text: string): Place | null {
  const place = text.split(' ').map(Number);
  return place.every(Number.isSafeInteger) ? place : null;
}

type WaitingRow = [
  messageId: string,
  index: number,
  lane: string | null,
  relay: string | null,
  rule: string | null,
  group: string | null,
  dueAt: number,
  routeTable: number,
  recipient: string,
  reversePath: string,
  tags: string,
  keyId: string | null,
  keyName: string | null,
  sourceAddress: string | null,
  sizeBytes: number,
  test: number,
  createdAt: number,
];

function deliveryOf(row: WaitingRow): WaitingDelivery {
  const [messageId, index, lane, relay, rule, group, dueAt, routeTable, recipient, ...rest] = row;
  const [reversePath, tags, keyId, keyName, sourceAddress, sizeBytes, test, createdAt] = rest;
  return {
    messageId,
    index,
    lane,
    relay,
    rule,
    group: groupOf(group),
    dueAt,
    routeTable,
    recipient,
    reversePath,
    tags: fromJson<string[]>(tags),
    keyId,
    keyName,
    sourceAddress,
    sizeBytes,
    test: test === 1,
    createdAt,
  };
}

function prepareWaiting(db: Driver) {
  return {
    all: db.prepare<
      [expiresAt: number, seq: number, index: number, limit: number],
      [expiresAt: number, seq: number, index: number]
    >(
      `SELECT expires_at, message, idx FROM deliveries INDEXED BY deliveries_expiring
       WHERE state IN ('queued', 'retrying') AND (expires_at, message, idx) > (?, ?, ?)
       ORDER BY expires_at, message, idx LIMIT ?`,
    ),
    ofLane: db.prepare<
      [lane: string | null, rank: number, dueAt: number, seq: number, index: number, limit: number],
      [rank: number, dueAt: number, seq: number, index: number]
    >(
      `SELECT priority, due_at, message, idx FROM deliveries INDEXED BY deliveries_waiting
       WHERE due_at IS NOT NULL AND lane IS ? AND (priority, due_at, message, idx) > (?, ?, ?, ?)
       ORDER BY priority, due_at, message, idx LIMIT ?`,
    ),
    delivery: db.prepare<[seq: number, index: number], WaitingRow>(
      `SELECT m.id, d.idx, d.lane, d.relay, d.route_rule, d.route_group, d.due_at, m.route_table, d.address,
         m.reverse_path, m.tags, m.key_id, k.name, m.source_address, m.size_bytes, m.test, m.created_at
       FROM deliveries d NOT INDEXED CROSS JOIN messages m ON m.seq = d.message LEFT JOIN keys k ON k.id = m.key_id
       WHERE d.message = ? AND d.idx = ?`,
    ),
  };
}
