/** The world's own books on quotas excuse mail that waits, so they must not excuse too much. */
import { expect, test } from 'vitest';
import { localReply } from '../../src/domain/outcome.ts';
import type { Transition } from '../../src/domain/settle.ts';
import type { BeginRequest } from '../../src/store/leased.ts';
import type { TransportJob } from '../../src/transport/transport.ts';
import { Limits } from './limits.ts';
import { relayNamed } from './scene.ts';
import { Seen } from './seen.ts';
import { VirtualTime } from './virtual-clock.ts';

const DAY = 20_000;
const NOON = (DAY + 0.5) * 86_400_000;
const DEFERRED: Transition = {
  state: 'retrying',
  outcome: null,
  nextAttemptAt: NOON,
  next: null,
  reply: localReply('connection_lost', '4.4.2', 'closed'),
  providerMessageId: null,
  possibleDuplicate: false,
};
const UNKNOWN: Transition = { ...DEFERRED, possibleDuplicate: true };
const DELIVERED: Transition = { ...DEFERRED, state: 'delivered', nextAttemptAt: null };

/**
 * The books of a relay that may have five recipients a day, one of them only with high priority; before a change that
 * nodes have yet to hear of, it was allowed `formerly`.
 */
function books(maxPerDay = 5, formerly: readonly number[] = []): Limits {
  const { limits, ...relay } = relayNamed('out');
  const allowing = (most: number) => ({
    ...relay,
    limits: { ...limits, maxPerDay: most, reservePercent: 20 },
  });
  const relays = {
    inForce: (name: string) => (name === 'out' ? allowing(maxPerDay) : undefined),
    heardAt: () => 0,
    formerly: () => formerly.map(allowing),
  };
  return new Limits(relays, new VirtualTime(), new Seen());
}

/** A request to begin with these recipients of a message. */
function unit(messageId: string, ...indexes: readonly number[]): BeginRequest {
  const quota = { relay: 'out', day: DAY, recipients: indexes.length, limit: 4 };
  return { messageId, lane: 'out', fence: 1, indexes, recipients: indexes.map(String), quota };
}

test('a quota is spent by what hops have, and by what they may have', () => {
  const limits = books();
  limits.begun(unit('one', 0, 1));
  limits.settled(unit('one', 0, 1), [DELIVERED, UNKNOWN]);
  limits.begun(unit('two', 0));
  expect(limits.isSpent('out', 'normal', NOON)).toBe(false);
  limits.begun(unit('three', 0));
  expect(limits.isSpent('out', 'normal', NOON)).toBe(true);
  expect(limits.isSpent('out', 'high', NOON)).toBe(false);
  limits.begun(unit('four', 0));
  expect(limits.isSpent('out', 'high', NOON)).toBe(true);
});

test('whom an attempt did not reach, and who is begun again under the same lease, does not spend it', () => {
  const limits = books();
  for (const _ of [1, 2, 3]) limits.begun(unit('one', 0, 1));
  expect(limits.isSpent('out', 'normal', NOON)).toBe(false);
  limits.begun(unit('two', 0, 1));
  expect(limits.isSpent('out', 'normal', NOON)).toBe(true);
  limits.settled(unit('two', 0, 1), [DEFERRED, DELIVERED]);
  expect(limits.isSpent('out', 'normal', NOON)).toBe(false);
});

test('another day, another relay, and one without a quota are not spent', () => {
  const limits = books();
  limits.begun(unit('one', 0, 1, 2, 3));
  expect(limits.isSpent('out', 'normal', NOON)).toBe(true);
  expect(limits.isSpent('out', 'normal', NOON + 86_400_000)).toBe(false);
  expect(limits.isSpent('other', 'normal', NOON)).toBe(false);
  const free = books(0);
  free.begun(unit('one', 0, 1, 2, 3));
  expect(free.isSpent('out', 'normal', NOON)).toBe(false);
});

test('a hop takes what was allowed before a change that not all nodes have heard of, and no more', () => {
  const limits = books(5, [7]);
  const job = { messageId: 'one' } as TransportJob;
  limits.begun(unit('one', 0));
  limits.took('out', job, 7);
  expect(limits.broken).toBeNull();
  limits.took('out', job, 1);
  expect(limits.broken?.message).toContain('out took 8 recipients of the 7 of day');
});
