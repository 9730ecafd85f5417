import { relayOfLane } from '../domain/lane.ts';
import { mostAtOnce } from '../domain/quota.ts';
import type { AcceptRecord } from '../store/accepting.ts';
import type { Unit, UnitDelivery } from '../store/store.ts';
import type { Lane } from './lanes.ts';
import type { Relays } from './relays.ts';

/**
 * The units of a freshly accepted message on one lane whose leases were granted in the transaction that
 * accepted it: what `claim` would give for the same deliveries.
 */
export function unitsOf(
  record: AcceptRecord,
  leased: readonly boolean[],
  lane: Lane,
  relays: Relays,
): Unit[] {
  const deliveries: UnitDelivery[] = [];
  const { expiresAt } = record;
  for (const [index, delivery] of record.deliveries.entries())
    if (leased[index] && delivery.lane === lane.name)
      deliveries.push({
        index,
        recipient: delivery.recipient,
        attempts: 0,
        expiresAt,
        dueAt: delivery.dueAt,
        group: delivery.group,
        delayReported: false,
      });
  const relay = relays.get(relayOfLane(lane.name));
  const left = record.priority === 'high' ? relay?.leftForHigh : relay?.left;
  const most = relay === undefined ? deliveries.length : mostAtOnce(relay, left ?? deliveries.length);
  return slices(deliveries, Math.max(1, most)).map((slice) => unitOf(record, lane, slice));
}

function slices<T>(items: readonly T[], most: number): T[][] {
  const found: T[][] = [];
  for (let start = 0; start < items.length; start += most) found.push(items.slice(start, start + most));
  return found;
}

function unitOf(record: AcceptRecord, lane: Lane, deliveries: readonly UnitDelivery[]): Unit {
  const { id, reversePath, ret, envid, content, sizeBytes, flags, priority, test, reportable } = record;
  const facts = { reversePath, ret, envid, content, sizeBytes, flags, priority, test, reportable };
  const createdAt = Math.max(record.createdAt, record.sendAt ?? 0);
  return {
    ...facts,
    messageId: id,
    createdAt,
    lane: lane.name,
    fence: lane.fence,
    relay: relayOfLane(lane.name),
    deliveries,
  };
}
