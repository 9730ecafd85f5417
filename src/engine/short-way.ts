import { relayOfLane } from '../domain/lane.ts';
import { mostAtOnce } from '../domain/quota.ts';
import type { AcceptRecord } from '../store/accepting.ts';
import type { Unit, UnitDelivery } from '../store/store.ts';
import type { Lane } from './lanes.ts';
import type { Relays } from './relays.ts';

/**
 * The units of a freshly accepted message on one lane whose leases the accepting transaction granted: what `claim`
 * would return for the same deliveries.
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
  return slices(deliveries, record.copies === null ? Math.max(1, most) : 1).map((slice) =>
    unitOf(record, lane, slice),
  );
}

function slices<T>(items: readonly T[], most: number): T[][] {
  const found: T[][] = [];
  for (let start = 0; start < items.length; start += most) found.push(items.slice(start, start + most));
  return found;
}

function unitOf(record: AcceptRecord, lane: Lane, deliveries: readonly UnitDelivery[]): Unit {
  const { id, reversePath, ret, envid, content, flags, tls, priority, test, reportable, keyId, tags } =
    record;
  const facts = { reversePath, ret, envid, content, flags, priority, test, reportable, keyId, tags };
  const part = record.copies?.[deliveries[0]?.index ?? 0] ?? null;
  const createdAt = Math.max(record.createdAt, record.sendAt ?? 0);
  return {
    ...facts,
    ...(tls !== undefined && { tls }),
    part,
    sizeBytes: part?.length ?? record.sizeBytes,
    messageId: id,
    headerFrom: record.header.from,
    createdAt,
    lane: lane.name,
    fence: lane.fence,
    relay: relayOfLane(lane.name),
    deliveries,
  };
}
