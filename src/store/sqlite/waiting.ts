import { fromJson, groupOf, priorityOf } from '../columns.ts';
import {
  MAX_WAITING_CHARACTERS,
  type WaitingDelivery,
  type WaitingPage,
  type WaitingQuery,
} from '../views.ts';
import type { InSnapshot } from './connection.ts';
import type { Driver } from './driver.ts';
import { textLength } from './paging.ts';

/** A delivery's position in the order of pages, as numbers: the columns of the index that is walked. */
type Place = readonly number[];

/** Before every position. */
const START = -1;

/**
 * Builds the view `waiting`. It walks an index from the end of the last page, and reads only what is on the page. Over
 * all lanes the order is one that only the verbs `requeue` and `reschedule` change.
 */
export function waitingView(db: Driver, inSnapshot: InSnapshot) {
  const sql = prepareWaiting(db);
  return ({ lane, after, limit }: WaitingQuery): WaitingPage =>
    inSnapshot(() => {
      const start = after === null ? null : placeOf(after);
      const deliveries: WaitingDelivery[] = [];
      let characters = 0;
      let last: Place | null = null;
      const keyNames = new Map<string, string | null>();
      const nameOfKey = (keyId: string) => {
        const known = keyNames.get(keyId);
        if (known !== undefined) return known;
        const name = sql.key.get(keyId)?.[0] ?? null;
        keyNames.set(keyId, name);
        return name;
      };
      for (const place of lane === 'all' ? all(start, limit + 1) : ofLane(nameOf(lane), start, limit + 1)) {
        if (deliveries.length === limit || characters >= MAX_WAITING_CHARACTERS)
          return { deliveries, next: last === null ? null : last.join(' ') };
        const [seq, index] = place.slice(-2);
        const delivery = sql.delivery.get(seq ?? START, index ?? START);
        const message = sql.message.get(seq ?? START);
        last = place;
        if (delivery === undefined || message === undefined) continue;
        characters += textLength(delivery) + textLength(message);
        deliveries.push(waitingOf(delivery, message, nameOfKey));
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

/** Reads a page's `next`. An invalid one starts anew. */
function placeOf(text: string): Place | null {
  const place = text.split(' ').map(Number);
  return place.every(Number.isSafeInteger) ? place : null;
}

type DeliveryRow = [
  index: number,
  lane: string | null,
  relay: string | null,
  rule: string | null,
  group: string | null,
  rank: number,
  dueAt: number,
  recipient: string,
];

type MessageRow = [
  messageId: string,
  routeTable: number,
  reversePath: string,
  tags: string,
  keyId: string | null,
  sourceAddress: string | null,
  sizeBytes: number,
  test: number,
  createdAt: number,
];

function waitingOf(
  [index, lane, relay, rule, group, rank, dueAt, recipient]: DeliveryRow,
  [messageId, routeTable, reversePath, tags, keyId, sourceAddress, sizeBytes, test, createdAt]: MessageRow,
  nameOfKey: (keyId: string) => string | null,
): WaitingDelivery {
  return {
    messageId,
    index,
    lane,
    relay,
    rule,
    group: groupOf(group),
    priority: priorityOf(rank),
    dueAt,
    routeTable,
    recipient,
    reversePath,
    tags: fromJson<string[]>(tags),
    keyId,
    keyName: keyId === null ? null : nameOfKey(keyId),
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
       WHERE state IN ('queued', 'retrying') AND (expires_at, message, idx) > ((SELECT ?), (SELECT ?), (SELECT ?))
       ORDER BY expires_at, message, idx LIMIT (SELECT ?)`,
    ),
    ofLane: db.prepare<
      [lane: string | null, rank: number, dueAt: number, seq: number, index: number, limit: number],
      [rank: number, dueAt: number, seq: number, index: number]
    >(
      `SELECT priority, due_at, message, idx FROM deliveries INDEXED BY deliveries_waiting
       WHERE due_at IS NOT NULL AND lane IS (SELECT ?) AND (priority, due_at, message, idx) > ((SELECT ?), (SELECT ?), (SELECT ?), (SELECT ?))
       ORDER BY priority, due_at, message, idx LIMIT (SELECT ?)`,
    ),
    delivery: db.prepare<[seq: number, index: number], DeliveryRow>(
      `SELECT idx, lane, relay, route_rule, route_group, priority, due_at, address FROM deliveries
       WHERE message = ? AND idx = ?`,
    ),
    message: db.prepare<[seq: number], MessageRow>(
      `SELECT id, route_table, reverse_path, tags, key_id, source_address, size_bytes, test, created_at
       FROM messages WHERE seq = ?`,
    ),
    key: db.prepare<[id: string], [name: string]>('SELECT name FROM keys WHERE id = ?'),
  };
}
