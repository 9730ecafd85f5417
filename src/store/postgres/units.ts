import { groupOf, priorityOf } from '../columns.ts';
import { StoreError, type Unit, type UnitDelivery } from '../store.ts';
import type { DeliveryRow, MessageRow } from './tables.ts';

/** What an attempt or a report is made from, read from rows. */

/** Reads the message of a unit: everything but where it goes and its deliveries. */
export function unitHeadOf(row: MessageRow): Omit<Unit, 'lane' | 'fence' | 'relay' | 'deliveries'> {
  const { reversePath, ret, envid, sizeBytes, eightBit, utf8, dotStuffing, test, reportable } = row;
  const { segment, offset, length } = row;
  if (segment === null || offset === null || length === null)
    throw new StoreError('store_bug', `message ${row.id} waits without contents`);
  return {
    ...{ reversePath, ret, envid, sizeBytes, test, reportable },
    messageId: row.id,
    content: { segment, offset, length },
    flags: { eightBit, utf8, dotStuffing },
    priority: priorityOf(row.priority),
    createdAt: Math.max(row.createdAt, row.notBefore ?? 0),
  };
}

/** Reads a waiting delivery. */
export function unitDeliveryOf(row: DeliveryRow): UnitDelivery {
  const { index, expiresAt, delayReported, address, kind, notify, orcpt } = row;
  return {
    ...{ index, expiresAt, delayReported },
    attempts: row.attempts - row.attemptsBefore,
    dueAt: row.dueAt ?? 0,
    group: groupOf(row.routeGroup),
    recipient: { address, kind, notify, orcpt },
  };
}
