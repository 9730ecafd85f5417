import type { DeliveryState } from '../../domain/delivery.ts';
import type { RecipientKind } from '../../domain/envelope.ts';
import type { ClaimAnswer, ClaimRequest, Stamp, Unit, UnitDelivery } from '../store.ts';
import type { Books } from './books.ts';
import type { Deliveries } from './deliveries.ts';
import type { Driver } from './driver.ts';
import { priorityOf } from './rows.ts';

/** The ranks of the priorities, first to last. */
const RANKS = [0, 1, 2] as const;

/** Builds the verb `claim`. It reads the waiting index only, and stops at the limit however deep the queue is. */
export function claimVerb(books: Books, deliveries: Deliveries) {
  const sql = prepareClaim(books.db);
  return (requests: readonly ClaimRequest[], at: Stamp): ClaimAnswer[] => {
    const answers = requests.map((request) => claimLane(request, at));
    books.ledger.flush(at);
    return answers;
  };

  function claimLane(request: ClaimRequest, at: Stamp): ClaimAnswer {
    if (!books.leases.holds(request, at)) return { units: [], nextDueAt: null };
    const units: Unit[] = [];
    for (const rank of RANKS) claimRank(request, rank, units, at);
    return { units, nextDueAt: nextDueAt(request.lane) };
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
    const siblings = sql.siblings.all(seq, lane, at.now, maxRecipients);
    // An earlier head may have taken this one along.
    if (siblings.length === 0) return null;
    const message = books.ledger.openSeq(seq);
    for (const [index, state] of siblings) deliveries.lease(message, index, state, lane, fence);
    return unitOf(message.id, lane, fence, sql.message.get(seq), siblings);
  }

  function nextDueAt(lane: string): number | null {
    const times = RANKS.map((rank) => sql.nextDue.get(lane, rank)?.[0] ?? Number.POSITIVE_INFINITY);
    const next = Math.min(...times);
    return Number.isFinite(next) ? next : null;
  }
}

function unitOf(
  messageId: string,
  lane: string,
  fence: number,
  row: MessageRow | undefined,
  siblings: readonly SiblingRow[],
): Unit {
  if (row === undefined) throw new Error(`message ${messageId} has deliveries but no row`);
  const [reversePath, ret, envid, segment, offset, length, sizeBytes, eightBit, utf8, dotStuffing] = row;
  const [, , , , , , , , , , rank, test] = row;
  return {
    messageId,
    lane,
    fence,
    relay: siblings[0]?.[2] ?? '',
    reversePath,
    ret,
    envid,
    content: { segment, offset, length },
    sizeBytes,
    flags: { eightBit: eightBit === 1, utf8: utf8 === 1, dotStuffing: dotStuffing === 1 },
    priority: priorityOf(rank),
    test: test === 1,
    deliveries: siblings.map(unitDelivery),
  };
}

function unitDelivery(row: SiblingRow): UnitDelivery {
  const [index, , , attempts, expiresAt, address, kind, notify, orcpt] = row;
  return { index, attempts, expiresAt, recipient: { address, kind, notify, orcpt } };
}

type SiblingRow = [
  index: number,
  state: DeliveryState,
  relay: string,
  attempts: number,
  expiresAt: number,
  address: string,
  kind: RecipientKind,
  notify: string | null,
  orcpt: string | null,
];

type MessageRow = [
  reversePath: string,
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
];

function prepareClaim(db: Driver) {
  return {
    heads: db.prepare<[lane: string, rank: number, now: number, limit: number], [seq: number]>(
      `SELECT message FROM deliveries INDEXED BY deliveries_waiting
       WHERE lane = ? AND priority = ? AND state IN ('queued', 'retrying') AND due_at <= ?
       ORDER BY due_at, message, idx LIMIT ?`,
    ),
    siblings: db.prepare<[seq: number, lane: string, now: number, limit: number], SiblingRow>(
      `SELECT idx, state, relay, attempts - attempts_before, expires_at, address, kind, notify, orcpt
       FROM deliveries NOT INDEXED
       WHERE message = ? AND lane = ? AND state IN ('queued', 'retrying') AND due_at <= ?
       ORDER BY idx LIMIT ?`,
    ),
    message: db.prepare<[seq: number], MessageRow>(
      `SELECT reverse_path, ret, envid, segment, offset, length, size_bytes, eight_bit, utf8, dot_stuffing,
         priority, test FROM messages WHERE seq = ?`,
    ),
    nextDue: db.prepare<[lane: string, rank: number], [dueAt: number]>(
      `SELECT due_at FROM deliveries INDEXED BY deliveries_waiting
       WHERE lane = ? AND priority = ? AND state IN ('queued', 'retrying') ORDER BY due_at LIMIT 1`,
    ),
  };
}
