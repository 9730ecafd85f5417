import { expect, test } from 'vitest';
import { type Suspicion, SuspicionBook } from './suspicion-book.ts';

const MINUTE = 60_000;
const FAILED = { action: 'signInFailed', guess: 'password' } as const;

function open() {
  const noted: Suspicion[] = [];
  const book = new SuspicionBook(async (suspicion) => void noted.push(suspicion));
  return { book, noted };
}

test('a user and source is noted at once, then once in ten minutes with a count', async () => {
  const { book, noted } = open();
  const what = { ...FAILED, user: 'ann', source: '192.0.2.7' };
  for (let i = 0; i < 20; i++) await book.add(what, i);
  await book.settle(9 * MINUTE);
  expect(noted.map(({ tries }) => tries)).toEqual([1]);
  await book.settle(10 * MINUTE);
  expect(noted.slice(1)).toEqual([{ ...what, tries: 19 }]);
  await book.add(what, 19 * MINUTE);
  expect(noted).toHaveLength(2);
  // Nothing is lost at a stop, and what was quiet begins anew.
  await book.settle(19 * MINUTE, true);
  await book.settle(29 * MINUTE);
  await book.add(what, 29 * MINUTE);
  expect(noted.map(({ tries }) => tries)).toEqual([1, 19, 1, 1]);
});

test('names that nobody has are one, from wherever', async () => {
  const { book, noted } = open();
  for (let i = 0; i < 1000; i++) await book.add({ ...FAILED, user: null, source: `10.0.0.${i}` }, i);
  await book.settle(10 * MINUTE);
  expect(noted).toEqual([
    { ...FAILED, user: null, source: '10.0.0.0', tries: 1 },
    { ...FAILED, user: null, source: null, tries: 999 },
  ]);
});

test('a thousand sources at a user make some thirty entries in ten minutes, and none is left uncounted', async () => {
  const { book, noted } = open();
  for (let i = 0; i < 1000; i++) await book.add({ ...FAILED, user: 'ann', source: `10.0.0.${i}` }, i);
  expect(noted).toHaveLength(31);
  await book.settle(11 * MINUTE);
  expect(noted).toHaveLength(32);
  expect(noted.at(-1)).toEqual({ ...FAILED, user: 'ann', source: null, tries: 969 });
  expect(noted.reduce((sum, { tries }) => sum + tries, 0)).toBe(1000);
});
