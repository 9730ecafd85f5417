import { expect, test } from 'vitest';
import { Avoided } from './balance.ts';

test('a lane is avoided for as long as was said last, and of very many the first are forgotten', () => {
  let now = 0;
  const avoided = new Avoided({ mono: () => now });
  avoided.add('a', 10);
  avoided.add('b', 30);
  avoided.add('a', 20);
  now = 19;
  expect([avoided.has('a'), avoided.has('b'), avoided.has('c')]).toEqual([true, true, false]);
  now = 20;
  expect(avoided.has('a')).toBe(false);
  expect(avoided.names()).toEqual(['b']);
  for (let count = 0; count < 10_000; count++) avoided.add(`d${count}`, 5);
  expect(avoided.names().length).toBeLessThan(5_000);
  expect([avoided.has('b'), avoided.has('d9999')]).toEqual([false, true]);
});
