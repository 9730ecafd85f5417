import { expect, test } from 'vitest';
import { type Release, Semaphore } from './semaphore.ts';

test('what is taken is given back once, however often it is released', () => {
  const semaphore = new Semaphore({ capacity: 10, maxWaiters: 1 });
  const release = semaphore.tryAcquire(7);
  expect(semaphore.tryAcquire(4)).toBeNull();
  expect(semaphore.free).toBe(3);
  release?.();
  release?.();
  expect(semaphore.free).toBe(10);
});

test('waiters are served first come, first served, and small ones do not overtake', async () => {
  const semaphore = new Semaphore({ capacity: 10, maxWaiters: 10 });
  const order: string[] = [];
  const note = (name: string) => (release: Release | null) => {
    order.push(name);
    return release;
  };
  const held = semaphore.tryAcquire(9);
  const large = semaphore.acquire(8).then(note('large'));
  const small = semaphore.acquire(1).then(note('small'));
  expect(semaphore.tryAcquire(1)).toBeNull();
  held?.();
  (await large)?.();
  (await small)?.();
  expect(order).toEqual(['large', 'small']);
  expect([semaphore.free, semaphore.waiting]).toEqual([10, 0]);
});

test('too many waiters are refused at once', async () => {
  const semaphore = new Semaphore({ capacity: 1, maxWaiters: 1 });
  const held = semaphore.tryAcquire(1);
  const waiting = semaphore.acquire(1);
  expect(await semaphore.acquire(1)).toBeNull();
  held?.();
  expect(await waiting).not.toBeNull();
});

test('a waiter that gives up gets nothing and lets those behind it through', async () => {
  const semaphore = new Semaphore({ capacity: 10, maxWaiters: 10 });
  const giveUp = new AbortController();
  semaphore.tryAcquire(5);
  const large = semaphore.acquire(10, giveUp.signal);
  const small = semaphore.acquire(5);
  giveUp.abort();
  expect(await large).toBeNull();
  expect(await small).not.toBeNull();
  expect(await semaphore.acquire(1, giveUp.signal)).toBeNull();
  expect([semaphore.free, semaphore.waiting]).toEqual([0, 0]);
});

test('a wish beyond the capacity gets the whole of it', async () => {
  const semaphore = new Semaphore({ capacity: 10, maxWaiters: 10 });
  const held = semaphore.tryAcquire(1);
  const all = semaphore.acquire(1000);
  held?.();
  const release = await all;
  expect(semaphore.free).toBe(0);
  release?.();
  expect(semaphore.free).toBe(10);
});
