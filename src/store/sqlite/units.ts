import type { RecipientKind } from '../../domain/envelope.ts';
import { groupOf, priorityOf } from '../columns.ts';
import type { Unit, UnitDelivery } from '../store.ts';

/** What an attempt or a report is made from, as rows. */

/** Everything of a unit but where it goes and its deliveries. */
type UnitHead = Omit<Unit, 'lane' | 'fence' | 'relay' | 'deliveries'>;

/** A message as a row, in the order of {@link UNIT_HEAD_COLUMNS}. */
export type UnitHeadRow = [
  id: string,
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
  reportable: number,
  createdAt: number,
];

export const UNIT_HEAD_COLUMNS = `id, reverse_path, ret, envid, segment, offset, length, size_bytes, eight_bit, utf8,
  dot_stuffing, priority, test, reportable, max(created_at, coalesce(not_before, 0))`;

/** Reads the message of a unit. */
export function unitHeadOf(row: UnitHeadRow): UnitHead {
  const [messageId, reversePath, ret, envid, segment, offset, length, sizeBytes, ...rest] = row;
  const [eightBit, utf8, dotStuffing, rank, test, reportable, createdAt] = rest;
  return {
    messageId,
    reversePath,
    ret,
    envid,
    content: { segment, offset, length },
    sizeBytes,
    flags: { eightBit: eightBit === 1, utf8: utf8 === 1, dotStuffing: dotStuffing === 1 },
    priority: priorityOf(rank),
    test: test === 1,
    reportable: reportable === 1,
    createdAt,
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
