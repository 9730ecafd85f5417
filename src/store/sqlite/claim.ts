import type { DeliveryState } from '../../domain/delivery.ts';
import type { RecipientKind, TlsDemand } from '../../domain/message.ts';
import { copiesOf, fromJson, groupOf, priorityOf, ranksOf } from '../columns.ts';
import { stopsOf } from '../stops.ts';
import type { ClaimAnswer, ClaimRequest, Stamp, Unit, UnitDelivery } from '../store.ts';
import type { Books } from './books.ts';
import type { Deliveries } from './deliveries.ts';
import type { Driver } from './driver.ts';
import { firstDueOf } from './leases.ts';

/** Builds the verb `claim`. It reads only the waiting index, and stops at the limit however deep the queue is. */
export function claimVerb(books: Books, deliveries: Deliveries) {
  const sql = prepareClaim(books.db);
  const firstDue = firstDueOf(books.db);
  return (requests: readonly ClaimRequest[], at: Stamp): ClaimAnswer[] => {
    const answers = requests.map((request) => claimLane(request, at));
    books.ledger.flush(at);
    return answers;
  };

  function claimLane(request: ClaimRequest, at: Stamp): ClaimAnswer {
    if (!books.leases.holds(request, at)) return { units: [], nextDueAt: null };
    const units: Unit[] = [];
    for (const rank of ranksOf(request.order)) claimRank(request, rank, units, at);
    const nextDueAt = firstDue(request.lane);
    if (units.length > 0) books.depths.seen(request.lane, nextDueAt);
    const stoppable = units.length > 0 && !books.stopping.isEmpty;
    return { units: stoppable ? units.map((unit) => withStops(unit, at)) : units, nextDueAt };
  }

  function claimRank(request: ClaimRequest, rank: number, units: Unit[], at: Stamp): void {
    while (units.length < request.limit) {
      const room = request.limit - units.length;
      const heads = sql.heads.all(request.lane, rank, at.now, room);
      for (const [seq] of heads) {
        const unit = claimUnit(seq, request, at);
        if (unit !== null) units.push(unit);
      }
      if (heads.length < room) return;
    }
  }

  function claimUnit(seq: number, request: ClaimRequest, at: Stamp): Unit | null {
    const { lane, fence, maxRecipients } = request;
    const found = sql.siblings.all(seq, lane, at.now, maxRecipients);
    const [first] = found;
    // An earlier head may have taken this delivery along.
    if (first === undefined) return null;
    const message = books.ledger.openSeq(seq);
    const row = sql.message.get(seq);
    if (row === undefined) throw new Error(`message ${message.id} has deliveries but no row`);
    const head = unitHeadOf(row, first[0]);
    const siblings = head.part === null ? found : [first];
    let relay = '';
    for (const [index, , , , , , , , , , state, ofSibling] of siblings) {
      deliveries.lease(message, index, state, lane, fence);
      relay = ofSibling;
    }
    return { ...head, lane, fence, relay, deliveries: siblings.map(unitDeliveryOf) };
  }

  /** Whom the suppression list stops by now: nobody should say a word of them to the hop. */
  function withStops(unit: Unit, at: Stamp): Unit {
    const indexes = unit.deliveries.map(({ index }) => index);
    const stopped = books.stopping.ofUnit(unit.messageId, indexes, at.now);
    return stopped.size === 0 ? unit : { ...unit, stopped: stopsOf(stopped) };
  }
}

/** A waiting delivery of a unit; its state and relay come last. */
type SiblingRow = [...UnitDeliveryRow, state: DeliveryState, relay: string];

function prepareClaim(db: Driver) {
  return {
    heads: db.prepare<[lane: string, rank: number, now: number, limit: number], [seq: number]>(
      `SELECT message FROM deliveries INDEXED BY deliveries_waiting
       WHERE lane = (SELECT ?) AND priority = (SELECT ?) AND due_at <= (SELECT ?)
       ORDER BY due_at, message, idx LIMIT (SELECT ?)`,
    ),
    siblings: db.prepare<[seq: number, lane: string, now: number, limit: number], SiblingRow>(
      `SELECT ${UNIT_DELIVERY_COLUMNS}, state, relay FROM deliveries NOT INDEXED
       WHERE message = (SELECT ?) AND lane = (SELECT ?) AND due_at <= (SELECT ?)
       ORDER BY idx LIMIT (SELECT ?)`,
    ),
    message: db.prepare<[seq: number], UnitHeadRow>(
      `SELECT ${UNIT_HEAD_COLUMNS} FROM messages WHERE seq = ?`,
    ),
  };
}

/** A unit without its route and its deliveries. */
type UnitHead = Omit<Unit, 'lane' | 'fence' | 'relay' | 'deliveries'>;

/** A message as a row, in the order of {@link UNIT_HEAD_COLUMNS}. */
export type UnitHeadRow = [
  id: string,
  reversePath: string,
  headerFrom: string,
  ret: 'FULL' | 'HDRS' | null,
  envid: string | null,
  segment: number,
  offset: number,
  length: number,
  sizeBytes: number,
  eightBit: number,
  utf8: number,
  dotStuffing: number,
  rank: number,
  test: number,
  reportable: number,
  createdAt: number,
  copies: string | null,
  tls: TlsDemand | null,
  keyId: string | null,
  tags: string,
];

export const UNIT_HEAD_COLUMNS = `id, reverse_path, header_from, ret, envid, segment, offset, length, size_bytes, eight_bit,
  utf8, dot_stuffing, priority, test, reportable, max(created_at, coalesce(not_before, 0)), copies, tls, key_id, tags`;

/** Reads the message of a unit whose first delivery has this place in the envelope. */
export function unitHeadOf(row: UnitHeadRow, index: number): UnitHead {
  const [messageId, reversePath, headerFrom, ret, envid, segment, offset, length, sizeBytes, ...rest] = row;
  const [eightBit, utf8, dotStuffing, rank, test, reportable, createdAt, copies, tls, keyId, tags] = rest;
  const part = copiesOf(copies)?.[index] ?? null;
  return {
    messageId,
    reversePath,
    headerFrom,
    ret,
    envid,
    content: { segment, offset, length },
    part,
    sizeBytes: part?.length ?? sizeBytes,
    flags: { eightBit: eightBit === 1, utf8: utf8 === 1, dotStuffing: dotStuffing === 1 },
    ...(tls !== null && { tls }),
    priority: priorityOf(rank),
    test: test === 1,
    reportable: reportable === 1,
    createdAt,
    keyId,
    tags: fromJson<readonly string[]>(tags),
  };
}

/** A waiting delivery as a row, in the order of {@link UNIT_DELIVERY_COLUMNS}. */
export type UnitDeliveryRow = [
  index: number,
  attempts: number,
  expiresAt: number,
  dueAt: number,
  group: string | null,
  delayReported: number,
  address: string,
  kind: RecipientKind,
  notify: string | null,
  orcpt: string | null,
];

export const UNIT_DELIVERY_COLUMNS = `idx, attempts - attempts_before, expires_at, due_at, route_group, delay_reported,
  address, kind, notify, orcpt`;

/** Reads a delivery of a unit. */
export function unitDeliveryOf(row: readonly [...UnitDeliveryRow, ...unknown[]]): UnitDelivery {
  const [index, attempts, expiresAt, dueAt, group, delayReported, address, kind, notify, orcpt] = row;
  return {
    index,
    attempts,
    expiresAt,
    dueAt,
    group: groupOf(group),
    delayReported: delayReported === 1,
    recipient: { address, kind, notify, orcpt },
  };
}
