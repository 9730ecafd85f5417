import { expect, test } from 'vitest';
import { Budget } from '../../lib/budget.ts';
import { SharedUnits, unitsBuffer } from './shared-counts.ts';

const CAPACITY = 640;
const never = new AbortController().signal;

/** The budgets of two threads that take from the same. */
function two() {
  const buffer = unitsBuffer(CAPACITY);
  const budget = () => new Budget({ capacity: CAPACITY, maxWaiters: 10, units: new SharedUnits(buffer) });
  return [budget(), budget()] as const;
}

test('what one thread takes, the other does not have', () => {
  const [one, other] = two();
  const release = one.share('a').tryAcquire(400);
  expect([one.taken, other.taken, other.free]).toEqual([400, 400, 240]);
  expect(other.share('b').tryAcquire(400)).toBeNull();
  release?.();
  expect([other.share('b').tryAcquire(400) === null, one.free]).toEqual([false, 240]);
});

test('who waits in one thread gets what the other gives', async () => {
  const [one, other] = two();
  const release = one.share('a').tryAcquire(500);
  const waits = other.share('b').acquire(500, never);
  expect(other.waiting).toBe(1);
  release?.();
  expect(await waits).not.toBeNull();
  expect(one.free).toBe(140);
});

test('who does not fit yet goes on waiting', async () => {
  const [one, other] = two();
  const [first, second] = [one.share('a').tryAcquire(300), one.share('b').tryAcquire(200)];
  const waits = other.share('c').acquire(500, never);
  second?.();
  const order: string[] = [];
  const got = waits.then(() => order.push('got it'));
  await new Promise((resolve) => setImmediate(resolve));
  order.push('gave the rest');
  first?.();
  await got;
  expect(order).toEqual(['gave the rest', 'got it']);
});
