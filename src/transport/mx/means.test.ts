import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { Unreachable } from './means.ts';

test('an address is remembered for a minute', async () => {
  const clock = new ManualClock();
  const unreachable = new Unreachable(clock);
  unreachable.note('192.0.2.1');
  expect([unreachable.has('192.0.2.1'), unreachable.has('192.0.2.2')]).toEqual([true, false]);
  await clock.advance(60_000);
  expect([unreachable.has('192.0.2.1'), unreachable.size]).toEqual([false, 0]);
});

test('of more than a thousand the oldest are forgotten', () => {
  const unreachable = new Unreachable(new ManualClock());
  for (let i = 0; i < 5000; i++) unreachable.note(`10.0.${i >> 8}.${i & 255}`);
  expect(unreachable.size).toBe(1000);
  expect([unreachable.has('10.0.0.0'), unreachable.has('10.0.19.135')]).toEqual([false, true]);
});
