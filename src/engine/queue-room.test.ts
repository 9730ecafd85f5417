import { expect, test } from 'vitest';
import type { Clock } from '../lib/clock.ts';
import type { AcceptWish } from '../store/accepting.ts';
import { openSqlite } from '../store/sqlite/open.ts';
import type { EngineSettings } from './contract.ts';
import { type QueueFull, QueueRoom } from './queue-room.ts';

const KEY_FULL: QueueFull = { kind: 'queue_full', whose: 'key', tooLarge: false };

/** Over an empty store, of which it counts how often it is asked. */
function room(maxBytes: number | null = null) {
  let now = 0;
  let asked = 0;
  const queue = { maxBytes, maxMessagesPerKey: 5 };
  const { store } = openSqlite(':memory:');
  const deps = {
    clock: { mono: () => now, wall: () => 1_000 } as Clock,
    settings: () => ({ queue }) as EngineSettings,
    node: 'a',
    store: {
      foresee: (...args: Parameters<typeof store.foresee>) => {
        asked++;
        return store.foresee(...args);
      },
    },
  };
  const pass = (ms: number) => {
    now += ms;
  };
  return { room: new QueueRoom(deps), queue, pass, asked: () => asked };
}

const wish = (keyId: string | null, sizeBytes = 10): AcceptWish => ({ keyId, sizeBytes, idempotency: null });
const wishes = (count: number, keyId = 'key_one') => Array.from({ length: count }, () => wish(keyId));

test('without a setting half of the disk is the limit, whatever lay in the queue at the start', () => {
  const { room: unset } = room();
  expect(unset.limits()).toEqual({ maxBytes: Number.MAX_SAFE_INTEGER, maxMessagesPerKey: 5 });
  unset.measure(700, 300);
  expect(unset.limits().maxBytes).toBe(500);
  const { room: set } = room(7);
  set.measure(700, 300);
  expect(set.limits().maxBytes).toBe(7);
});

test('remembers a key’s full queue for a second, and only so many', () => {
  const { room: full, pass } = room();
  for (let i = 0; i < 1_001; i++) full.noteFull(KEY_FULL, `key_${i}`);
  expect(full.suspension('key_0'), 'forgotten for the newest').toBeNull();
  expect(full.suspension('key_1')?.code).toBe('queue_limit');
  expect(full.suspension('key_1000')?.code).toBe('queue_limit');
  pass(999);
  expect(full.suspension('key_1')).not.toBeNull();
  full.noteFull(KEY_FULL, 'key_1');
  pass(1);
  expect(full.suspension('key_2')).toBeNull();
  expect(full.suspension('key_1'), 'found full again').not.toBeNull();
  expect(full.suspension(null)).toBeNull();
});

test('the store is asked once for as much as it has room for, and anew when that is used up', async () => {
  const { room: open, asked } = room(1_000_000);
  for (let i = 0; i < 5; i++) expect(await open.admit([wish('key_one')])).toEqual([{ kind: 'fits' }]);
  expect(asked()).toBe(1);
  expect(await open.admit([wish('key_one')])).toEqual([KEY_FULL]);
  expect(asked()).toBe(2);
});

test('what is asked for at the same time is not promised twice', async () => {
  const { room: open, asked } = room(1_000_000);
  const batches = await Promise.all([open.admit(wishes(3)), open.admit(wishes(4)), open.admit(wishes(1))]);
  expect(batches.flat().filter(({ kind }) => kind === 'fits')).toHaveLength(5);
  expect(asked(), 'who comes while it is asked is asked for together').toBe(2);
});

test('what was let in and given up makes room again', async () => {
  const { room: open } = room(1_000_000);
  const given = wishes(5);
  await open.admit(given);
  expect(await open.admit(wishes(1))).toEqual([KEY_FULL]);
  open.settled(given);
  expect(await open.admit(wishes(1))).toEqual([{ kind: 'fits' }]);
});

test('who asks for all is let in with all or none, and takes nothing from who asks meanwhile', async () => {
  const { room: open } = room(1_000_000);
  const asked = [
    open.admit(wishes(2)),
    open.admit(wishes(4), true),
    open.admit([wish('key_two'), ...wishes(1)], true),
    open.admit(wishes(2)),
    open.admit(wishes(2)),
  ];
  const kinds = (await Promise.all(asked)).map((admissions) => admissions.map(({ kind }) => kind));
  expect(kinds).toEqual([
    ['fits', 'fits'],
    ['queue_full', 'queue_full', 'queue_full', 'queue_full'],
    ['fits', 'fits'],
    ['fits', 'fits'],
    ['queue_full', 'queue_full'],
  ]);
});

test('limits that change hold at once', async () => {
  const { room: open, queue } = room(1_000_000);
  await open.admit(wishes(1));
  queue.maxMessagesPerKey = 1;
  expect(await open.admit(wishes(1))).toEqual([KEY_FULL]);
});

test('more keys than are remembered are asked for each time', async () => {
  const { room: open, asked } = room(1_000_000);
  for (let i = 0; i < 1_001; i++) await open.admit(wishes(1, `key_${i}`));
  await open.admit(wishes(1, 'key_1000'));
  expect(asked()).toBe(1_001);
  await open.admit(wishes(1, 'key_0'));
  expect(asked()).toBe(1_002);
});

test('one message that finds no room shuts nobody out while a small one fits', async () => {
  const { room: open } = room(3_000);
  const first = wish(null, 1_900);
  await open.admit([first]);
  expect(await open.admit([wish(null, 1_101)])).toMatchObject([{ kind: 'queue_full', tooLarge: false }]);
  expect(open.suspension(null)).toBeNull();
  const second = wish(null, 100);
  expect(await open.admit([second])).toEqual([{ kind: 'fits' }]);
  await open.admit([wish(null, 1_000)]);
  expect(await open.admit([wish(null, 1)])).toMatchObject([{ kind: 'queue_full' }]);
  expect(open.suspension(null)?.detail, 'less than a kilobyte is left').toContain('this server');
  expect(open.suspension('key_one')?.detail).toContain('this server');
  open.settled([first]);
  await open.lookIfFull();
  expect(open.suspension(null)).toBeNull();
});

test('a message that no queue would hold is told so, and is nobody else’s trouble', async () => {
  const { room: open } = room(3_000);
  const [answer] = await open.admit([wish('key_one', 3_001)]);
  const full: QueueFull = { kind: 'queue_full', whose: 'all', tooLarge: true };
  expect(answer).toEqual(full);
  expect(open.noteFull(full, 'key_one').detail).toMatch(/larger than .* limits\.max_queued_bytes/);
  expect([open.suspension(null), open.suspension('key_one')]).toEqual([null, null]);
});
