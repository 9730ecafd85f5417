import { copiesOf, fromJson, groupOf, priorityOf, ranksOf } from '../columns.ts';
import { NOBODY, stopsOf } from '../stops.ts';
import { type ClaimAnswer, type ClaimRequest, StoreError, type Unit, type UnitDelivery } from '../store.ts';
import { lease } from './changes.ts';
import { FIRST_DUE } from './lanes.ts';
import type { OpenDelivery } from './ledger.ts';
import { DELIVERIES, type DeliveryRow, type MessageRow, OPEN_DELIVERY } from './tables.ts';
import type { Work } from './work.ts';

/**
 * The verb `claim`. One transaction at a time claims from a lane. It never waits for a message: one that another verb
 * works on is skipped until the next time.
 */
export async function claim(work: Work, requests: readonly ClaimRequest[]): Promise<ClaimAnswer[]> {
  await work.lanes.lock(
    requests.map(({ lane }) => lane),
    'UPDATE',
  );
  const answers: ClaimAnswer[] = [];
  for (const request of requests) answers.push(await claimLane(work, request));
  return answers;
}

async function claimLane(work: Work, request: ClaimRequest): Promise<ClaimAnswer> {
  if (!work.lanes.holds(request, work.at)) return { units: [], nextDueAt: null };
  const units: Unit[] = [];
  const passedOver: string[] = [];
  while (units.length < request.limit) {
    const heads = await findHeads(work, request, request.limit - units.length, passedOver);
    if (heads.length === 0) break;
    const free = new Map((await work.ledger.openFree(heads)).map((row) => [row.id, row]));
    passedOver.push(...heads.filter((id) => !free.has(id)));
    const found = await siblingsOf(
      work,
      request,
      heads.flatMap((id) => free.get(id) ?? []),
      request.limit - units.length,
    );
    units.push(...found);
    // Keeps them from being found again, in this lane or when a later request names it once more.
    work.ledger.writeDeliveries();
  }
  const [first] = await work.db.rows<{ dueAt: number | null }>(NEXT_DUE, [request.lane]);
  return { units: await withStops(work, units), nextDueAt: first?.dueAt ?? null };
}

/** Whom the suppression list stops by now: nobody should say a word of them to the hop. */
async function withStops({ list, ledger, at }: Work, units: readonly Unit[]): Promise<Unit[]> {
  await list.look(units.flatMap(({ deliveries }) => deliveries.map(({ recipient }) => recipient.address)));
  return units.map((unit) => {
    const message = ledger.message(unit.messageId);
    const places = unit.deliveries.map(({ index, recipient }) => ({ index, address: recipient.address }));
    const stopped = message === null ? NOBODY : list.ofDeliveries(message, places, at.now);
    return stopped.size === 0 ? unit : { ...unit, stopped: stopsOf(stopped) };
  });
}

/** Messages whose deliveries are the first due, in order. */
async function findHeads(
  { db, at }: Work,
  { lane, order }: ClaimRequest,
  limit: number,
  passedOver: readonly string[],
): Promise<string[]> {
  const rows = await db.rows<{ message: string }>(HEADS, [lane, at.now, limit, passedOver, ranksOf(order)]);
  return [...new Set(rows.map(({ message }) => message))];
}

/**
 * Leases the due deliveries of locked messages, one unit per message; where each recipient has its own copy, as many
 * units as there is room for.
 */
async function siblingsOf(
  work: Work,
  request: ClaimRequest,
  messages: readonly MessageRow[],
  room: number,
): Promise<Unit[]> {
  const { lane, fence, maxRecipients } = request;
  const ids = messages.map(({ id }) => id);
  const rows = await work.db.rows<DeliveryRow>(SIBLINGS, [ids, lane, work.at.now, maxRecipients]);
  const byMessage = Map.groupBy(work.ledger.add(rows), ({ row }) => row.message);
  const unitOf = (message: MessageRow, siblings: readonly OpenDelivery[]): Unit[] => {
    const [first] = siblings;
    // Another verb may have taken it before its message was locked.
    if (first === undefined) return [];
    const deliveries = siblings.map(({ row }) => unitDeliveryOf(row));
    for (const delivery of siblings) lease(work, delivery, fence);
    const head = unitHeadOf(message, first.row.index);
    return [{ ...head, lane, fence, relay: first.row.relay ?? '', deliveries }];
  };
  let left = room - messages.length;
  return messages.flatMap((message) => {
    const siblings = byMessage.get(message.id) ?? [];
    if (message.copies === null) return unitOf(message, siblings);
    const taken = siblings.slice(0, 1 + Math.max(0, left));
    left -= taken.length - 1;
    return taken.flatMap((delivery) => unitOf(message, [delivery]));
  });
}

const WAITS = `state IN ('queued', 'retrying')`;

// The index is by lane, priority and due time: each priority is looked up separately, so that later deliveries are not
// read.
const HEADS = `SELECT message FROM unnest($5::integer[]) WITH ORDINALITY AS ranks (rank, place), LATERAL (
    SELECT message, index, due_at FROM deliveries
    WHERE lane = $1 AND priority = rank AND ${WAITS} AND due_at <= $2 AND message <> ALL($4::text[])
    ORDER BY due_at, message, index LIMIT $3) AS heads
  ORDER BY place, due_at, message, index LIMIT $3`;

// Selected by message first, apart from the other conditions: otherwise the planner may search all that waits for each.
const SIBLINGS = `WITH found AS MATERIALIZED (
    SELECT ${DELIVERIES.columns} FROM unnest($1::text[]) AS wanted (id) JOIN deliveries ON message = wanted.id
    WHERE ${OPEN_DELIVERY}),
  due AS (
    SELECT *, row_number() OVER (PARTITION BY message ORDER BY index) AS place FROM found
    WHERE lane = $2 AND ${WAITS} AND "dueAt" <= $3)
  SELECT * FROM due WHERE place <= $4 ORDER BY message, index`;

const NEXT_DUE = `SELECT ${FIRST_DUE} AS "dueAt" FROM (SELECT $1::text COLLATE "C" AS lane) AS depths`;

/** Reads a unit without its route and its deliveries, of which the first has this place in the envelope. */
export function unitHeadOf(
  row: MessageRow,
  index: number,
): Omit<Unit, 'lane' | 'fence' | 'relay' | 'deliveries'> {
  const { reversePath, headerFrom, ret, envid, eightBit, utf8, dotStuffing, test, reportable } = row;
  const { segment, offset, length } = row;
  if (segment === null || offset === null || length === null)
    throw new StoreError('store_bug', `message ${row.id} waits without contents`);
  const part = copiesOf(row.copies)?.[index] ?? null;
  return {
    reversePath,
    headerFrom,
    ret,
    envid,
    part,
    sizeBytes: part?.length ?? row.sizeBytes,
    test,
    reportable,
    messageId: row.id,
    content: { segment, offset, length },
    flags: { eightBit, utf8, dotStuffing },
    ...(row.tls !== null && { tls: row.tls }),
    priority: priorityOf(row.priority),
    createdAt: Math.max(row.createdAt, row.notBefore ?? 0),
    keyId: row.keyId,
    tags: fromJson<readonly string[]>(row.tags),
  };
}

/** Reads a waiting delivery. */
export function unitDeliveryOf(row: DeliveryRow): UnitDelivery {
  const { index, expiresAt, delayReported, address, kind, notify, orcpt } = row;
  return {
    index,
    expiresAt,
    delayReported,
    attempts: row.attempts - row.attemptsBefore,
    dueAt: row.dueAt ?? 0,
    group: groupOf(row.routeGroup),
    recipient: { address, kind, notify, orcpt },
  };
}
