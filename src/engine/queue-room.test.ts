import { expect, test } from 'vitest';
import type { Clock } from '../lib/clock.ts';
import { QueueRoom } from './queue-room.ts';
import type { EngineSettings } from './settings.ts';

function room(maxBytes: number | null = null) {
  let now = 0;
  const clock = { mono: () => now } as Clock;
  const settings = () => ({ queue: { maxBytes, maxMessagesPerKey: 5 } }) as EngineSettings;
  return {
    room: new QueueRoom(clock, settings),
    pass: (ms: number) => {
      now += ms;
    },
  };
}

test('without a setting half of the disk is the limit, whatever lay in the queue at the start', () => {
  const { room: unset } = room();
  expect(unset.limits()).toEqual({ maxBytes: Number.MAX_SAFE_INTEGER, maxMessagesPerKey: 5 });
  unset.measure(700, 300);
  expect(unset.limits().maxBytes).toBe(500);
  const { room: set } = room(7);
  set.measure(700, 300);
  expect(set.limits().maxBytes).toBe(7);
});

test('remembers full queues for a second, and only so many', () => {
  const { room: full, pass } = room();
  for (let i = 0; i < 1_001; i++) full.noteFull('key', `key_${i}`);
  expect(full.suspension('key_0'), 'forgotten for the newest').toBeNull();
  expect(full.suspension('key_1')?.code).toBe('queue_limit');
  expect(full.suspension('key_1000')?.code).toBe('queue_limit');
  pass(999);
  expect(full.suspension('key_1')).not.toBeNull();
  full.noteFull('key', 'key_1');
  pass(1);
  expect(full.suspension('key_2')).toBeNull();
  expect(full.suspension('key_1'), 'found full again').not.toBeNull();
  full.noteFull('all', null);
  expect(full.suspension(null)?.detail).toContain('this server');
  pass(1_000);
  expect([full.suspension(null), full.suspension('key_1')]).toEqual([null, null]);
});
