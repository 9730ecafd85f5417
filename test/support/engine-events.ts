/** Events of the engine, for tests of those who listen: what a test does not name says nothing. */
import type { Event } from '../../src/observe/events.ts';

type EventOf<T extends Event['type']> = Extract<Event, { type: T }>;

/** A message was accepted. */
export function acceptedEvent(facts: Partial<EventOf<'accepted'>> = {}): EventOf<'accepted'> {
  return {
    type: 'accepted',
    messageId: 'msg_1',
    keyId: null,
    requestId: null,
    source: 'api',
    deliveries: [],
    tags: [],
    sizeBytes: 1,
    durationMs: 1,
    ...facts,
  };
}

/** An attempt has ended. */
export function attemptedEvent(facts: Partial<EventOf<'attempted'>> = {}): EventOf<'attempted'> {
  return {
    type: 'attempted',
    messageId: 'msg_1',
    keyId: null,
    tags: [],
    acceptedAt: 0,
    relay: 'out',
    host: null,
    durationMs: 1,
    results: [],
    ...facts,
  };
}

/** A recipient of a message that was accepted, and its relay. */
export function deliveryTo(
  address: string,
  relay: string | null = 'out',
): EventOf<'accepted'>['deliveries'][number] {
  return { recipient: { address, kind: 'to', notify: null, orcpt: null }, relay };
}
