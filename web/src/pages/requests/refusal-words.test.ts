import { expect, test } from 'vitest';
import { limitWords } from './refusal-words.ts';

test('the limit that held says whose it is', () => {
  expect(limitWords({ perMinute: 100, usual: true })).toBe('The limit is 100 a minute, by default.');
  expect(limitWords({ perMinute: 5_000, usual: false })).toBe('The limit of the key is 5,000 a minute.');
  expect(limitWords({ perMinute: 0, usual: true })).toBe('There is no limit now.');
  expect(limitWords({ perMinute: 0, usual: false })).toBe('The key has no limit now.');
});
