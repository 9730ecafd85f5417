import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { Problem } from '../../http/problem.ts';
import { ListenError } from '../../lib/listen.ts';
import { SpoolError } from '../../spool/spool.ts';
import { StoreError } from '../../store/store.ts';
import { Line, type Rooms, remote } from './line.ts';

interface Verbs {
  double(value: number): Promise<number>;
  fail(): Promise<never>;
}

/** Two ends; what the far one hears and is asked, in order, and how many messages it took. */
function pair(rooms: Rooms = {}) {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const heard: unknown[] = [];
  let parcels = 0;
  port2.on('message', () => parcels++);
  const far = new Line<string, string>(port2, rooms, (note) => heard.push(note));
  const near = new Line<string, string>(port1, {}, () => {});
  const verbs = remote<Verbs>((...asked) => near.ask(...asked), 'room');
  return { near, far, verbs, heard, parcels: () => parcels };
}

test('what is asked in one turn goes in one message, and each answer to who asked', async () => {
  const { verbs, parcels } = pair({ room: { double: async (value: number) => 2 * value } });
  expect(await Promise.all([1, 2, 3].map((value) => verbs.double(value)))).toEqual([2, 4, 6]);
  expect(parcels()).toBe(1);
});

test('what was told before something was asked is heard before it', async () => {
  const order: string[] = [];
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const asked = async () => void order.push('asked');
  new Line<string, string>(port2, { room: { asked } }, (note) => order.push(note));
  const near = new Line<string, string>(port1, {}, () => {});
  near.tell('told');
  await near.ask('room', 'asked', []);
  expect(order).toEqual(['told', 'asked']);
});

test.each([
  ['store', new StoreError('store_full', 'no room')],
  ['spool', new SpoolError('content_missing', 'it is gone')],
  ['listen', new ListenError('address_in_use', '::', 25)],
  [
    'problem',
    new Problem(409, 'refused', 'Not now.', {
      headers: { 'Retry-After': '1' },
      errors: [{ pointer: '/to', code: 'missing', detail: 'is missing' }],
    }),
  ],
])('an error of the %s is whole at the other end', async (_, error) => {
  const { verbs } = pair({ room: { fail: () => Promise.reject(error) } });
  await expect(verbs.fail()).rejects.toStrictEqual(error);
});

test('a bug is told with the place where it happened', async () => {
  const { verbs } = pair({
    room: {
      fail: () => {
        throw new TypeError('of null');
      },
    },
  });
  await expect(verbs.fail()).rejects.toThrow(/TypeError: of null\n +at .*line\.test\.ts/);
});

test('it is idle when the last answer has come', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { near, verbs } = pair({ room: { double: () => promise } });
  const order: string[] = [];
  await near.idle();
  const asked = verbs.double(1).then(() => order.push('answered'));
  const idle = near.idle().then(() => order.push('idle'));
  resolve();
  await Promise.all([asked, idle]);
  expect(order).toEqual(['answered', 'idle']);
});

test('it is not idle while who was answered has more to ask', async () => {
  const { near, verbs } = pair({ room: { double: async (value: number) => 2 * value } });
  const order: number[] = [];
  const asked = verbs.double(1).then(async (value) => order.push(value, await verbs.double(value)));
  await near.idle();
  expect(order).toEqual([2, 4]);
  await asked;
});

test('a value that cannot travel is told to who asked, either way, and harms nothing beside it', async () => {
  const double = async (value: unknown) => (value === 'a function' ? () => {} : value);
  const { near, heard } = pair({ room: { double } });
  near.tell('beside it');
  const asked = await Promise.allSettled(
    [1, () => {}, 'a function', 2].map((value) => near.ask('room', 'double', [value])),
  );
  const uncloned = expect.objectContaining({ message: expect.stringContaining('could not be cloned') });
  expect(asked).toEqual([
    { status: 'fulfilled', value: 1 },
    { status: 'rejected', reason: uncloned },
    { status: 'rejected', reason: uncloned },
    { status: 'fulfilled', value: 2 },
  ]);
  expect(heard).toEqual(['beside it']);
});

test('what nobody answers to is refused', async () => {
  const { near } = pair({ room: {} });
  await expect(near.ask('room', 'double', [1])).rejects.toThrow('nobody answers to room.double');
});

test('an end that is gone leaves nobody waiting', async () => {
  const { near, verbs } = pair({ room: { double: () => new Promise(() => {}) } });
  const asked = verbs.double(1);
  const gone = new Error('it died');
  near.end(gone);
  await expect(asked).rejects.toBe(gone);
  await expect(verbs.double(1)).rejects.toBe(gone);
});
