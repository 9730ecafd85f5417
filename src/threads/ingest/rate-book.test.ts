import { expect, test } from 'vitest';
import { RateBook } from './threads.ts';

const units = (second: number, count: number, keyId = 'k') => ({
  keyId,
  window: 'send',
  second,
  units: count,
});

test('a thread hears what the others let through, added up, and nothing of its own', async () => {
  const book = new RateBook();
  expect(await book.exchangeRates('a', [units(100, 3)], 40)).toEqual([]);
  expect(await book.exchangeRates('b', [units(100, 2)], 40)).toEqual([units(100, 3)]);
  expect(await book.exchangeRates('b', [units(100, 4), units(100, 1, 'other')], 98)).toEqual([units(100, 3)]);
  expect(await book.exchangeRates('c', [], 98)).toEqual([units(100, 9), units(100, 1, 'other')]);
  expect(await book.exchangeRates('a', [], 98)).toEqual([units(100, 6), units(100, 1, 'other')]);
});

test('what is older than asked for is not told again', async () => {
  const book = new RateBook();
  await book.exchangeRates('a', [units(100, 3), units(103, 1)], 40);
  expect(await book.exchangeRates('b', [], 101)).toEqual([units(103, 1)]);
});

test('it keeps ten seconds', async () => {
  const book = new RateBook();
  for (let second = 100; second < 200; second++) await book.exchangeRates('a', [units(second, 1)], second);
  const told = await book.exchangeRates('b', [], 0);
  expect(told.map(({ second }) => second)).toEqual([190, 191, 192, 193, 194, 195, 196, 197, 198, 199]);
});
