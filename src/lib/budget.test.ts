import { expect, test } from 'vitest';
import { Budget, giveBack, giveBackAllBut, heldWhile, type Release } from './budget.ts';
import { ownTurn, yieldToLoop } from './clock.ts';

const never = new AbortController().signal;
const newBudget = (capacity: number, maxWaiters = 10) => new Budget({ capacity, maxWaiters });

test('what is taken is given back once, however often it is released', () => {
  const budget = newBudget(10);
  const release = budget.share('a').tryAcquire(7);
  expect(budget.share('b').tryAcquire(4)).toBeNull();
  expect(budget.free).toBe(3);
  release?.();
  release?.();
  expect(budget.free).toBe(10);
});

test('a holder has four fifths of what is not kept for small ones, in one wish or in many', () => {
  const budget = newBudget(6400);
  expect(budget.share('a').most).toBe(5040);
  const taken = [];
  for (let units = 0; units < 6400; units++) taken.push(budget.share('a').tryAcquire(1));
  expect(taken.filter((release) => release !== null)).toHaveLength(5040);
  for (const release of taken) release?.();
  budget.share('a').tryAcquire(10_000);
  expect(budget.free).toBe(1360);
});

test('however many are greedy, small wishes of others are granted at once', () => {
  const budget = newBudget(51_200);
  for (let holder = 0; holder < 100; holder++) {
    const share = budget.share(`greedy ${holder}`);
    while (share.tryAcquire(101) !== null);
  }
  void budget.share('greedy 0').acquire(1000, never);
  expect(budget.waiting).toBe(1);
  for (let holder = 0; holder < 8; holder++)
    expect(budget.share(`modest ${holder}`).tryAcquire(100)).not.toBeNull();
  expect(budget.share('modest 0').tryAcquire(1)).toBeNull();
});

test('of those who wait, whoever fits is served, the oldest first', async () => {
  const budget = newBudget(100);
  const order: string[] = [];
  const wish = (holder: string, units: number) =>
    budget
      .share(holder)
      .acquire(units, never)
      .then((release) => {
        order.push(`${holder} ${units}`);
        return release;
      });
  const first = budget.share('x').tryAcquire(50);
  const second = budget.share('y').tryAcquire(40);
  const waiting = [wish('a', 70), wish('b', 30), wish('c', 10)];
  second?.();
  const [, b, c] = waiting;
  (await b)?.();
  (await c)?.();
  expect(order).toEqual(['b 30', 'c 10']);
  first?.();
  (await waiting[0])?.();
  expect([budget.free, budget.waiting]).toEqual([100, 0]);
});

test('too many waiters are refused at once', async () => {
  const budget = newBudget(10, 1);
  const held = budget.share('a').tryAcquire(8);
  const waiting = budget.share('b').acquire(8, never);
  expect(await budget.share('c').acquire(8, never)).toBeNull();
  held?.();
  expect(await waiting).not.toBeNull();
});

test('holders that wait for each other: the first to give up makes room for the other', async () => {
  const budget = newBudget(100);
  const giveUp = new AbortController();
  const a = budget.share('a').tryAcquire(44);
  budget.share('b').tryAcquire(40);
  const more = [budget.share('a').acquire(30, giveUp.signal), budget.share('b').acquire(30, never)];
  expect(budget.waiting).toBe(2);
  giveUp.abort();
  expect(await more[0]).toBeNull();
  a?.();
  expect(await more[1]).not.toBeNull();
  expect(await budget.share('a').acquire(100, giveUp.signal)).toBeNull();
});

test('what work has taken is out until the work has ended, whoever let go of it before', async () => {
  const budget = newBudget(100);
  const done = Promise.withResolvers<void>();
  const releases: (Release | null)[] = [];
  const work = heldWhile(budget.share('a'), async (share) => {
    releases.push(share.tryAcquire(10), await share.acquire(20, never));
    await done.promise;
  });
  await Promise.resolve();
  await Promise.resolve();
  for (const release of releases) release?.();
  expect(budget.free).toBe(70);
  done.resolve();
  await work;
  expect(budget.free).toBe(100);
  const failing = heldWhile(budget.share('a'), async (share) => {
    releases.push(share.tryAcquire(10));
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(budget.free).toBe(90);
  releases.at(-1)?.();
  expect(budget.free).toBe(100);
});

test('what has its memory to itself is empty afterwards', () => {
  const bytes = Buffer.alloc(100_000, 1);
  giveBack(bytes);
  expect([bytes.length, bytes.buffer.byteLength]).toEqual([0, 0]);
});

test('a part of memory that others use stays, and so does memory that threads share', () => {
  const whole = Buffer.alloc(100_000, 1);
  giveBack(whole.subarray(1));
  const shared = new Uint8Array(new SharedArrayBuffer(100_000));
  giveBack(shared);
  expect([whole.length, shared.length]).toEqual([100_000, 100_000]);
});

test('what is small stays', () => {
  const small = Buffer.allocUnsafeSlow(64 * 1024 - 1);
  giveBack(small);
  expect(small.length).toBe(64 * 1024 - 1);
});

test('of several, what shares its memory with one to be kept stays', () => {
  const [kept, gone, small] = [Buffer.alloc(100_000), Buffer.alloc(100_000), Buffer.allocUnsafeSlow(100)];
  giveBackAllBut([kept.subarray(10)], [kept, gone, small]);
  expect([kept.length, gone.length, small.length]).toEqual([100_000, 0, 100]);
});

test('work that needs fewer units gives back the others at once, and the rest when it is over', async () => {
  const budget = newBudget(1000);
  const releases: (Release | null)[] = [];
  await heldWhile(budget.share('a'), async (share) => {
    releases.push(share.tryAcquire(100), await share.acquire(200, never));
    share.keep(150);
    expect(budget.taken).toBe(150);
    share.keep(500);
    expect(budget.taken).toBe(150);
    const other = budget.share('b').acquire(600, never);
    for (const release of releases) release?.();
    expect(budget.taken).toBe(750);
    (await other)?.();
  });
  expect(budget.taken).toBe(0);
});

test('large work has turns of its own between its slices, small work those of all', async () => {
  const share = newBudget(100_000_000).share('a');
  expect(await share.inTurn(1_048_577, async (turn) => turn)).toBe(ownTurn);
  expect(await share.inTurn(1_048_576, async (turn) => turn)).toBe(yieldToLoop);
});

test('large work is done one after the other, little at once', async () => {
  const budget = newBudget(100_000_000);
  const large = Promise.withResolvers<void>();
  const done: string[] = [];
  const noted = async (name: string, waits?: Promise<void>) => {
    await waits;
    done.push(name);
  };
  const share = budget.share('a');
  const first = share.inTurn(2_000_000, () => noted('first', large.promise));
  const second = budget.share('b').inTurn(2_000_000, () => noted('second'));
  await share.inTurn(1000, () => noted('little'));
  large.resolve();
  await Promise.all([first, second]);
  expect(done).toEqual(['little', 'first', 'second']);
});
