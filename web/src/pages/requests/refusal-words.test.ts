import { expect, test } from 'vitest';
import { limitWords, refusalWords } from './refusal-words.ts';

test('a refusal is told in the words of its code, over SMTP in ours', () => {
  expect(refusalWords({ reason: 'rate_limited', meaning: 'Too many.' })).toBe('Too many.');
  expect(refusalWords({ reason: 'auth_unknown', meaning: null })).toBe('There is no such key.');
  expect(refusalWords({ reason: 'rate_limited', meaning: null })).toMatch(/came from there in this minute/);
  expect(refusalWords({ reason: 'not_known_here', meaning: null })).toBe('');
});

test('the limit that held says whose it is', () => {
  expect(limitWords({ perMinute: 100, usual: true })).toBe('The limit is 100 a minute, by default.');
  expect(limitWords({ perMinute: 5_000, usual: false })).toBe('The limit of the key is 5,000 a minute.');
  expect(limitWords({ perMinute: 0, usual: true })).toBe('There is no limit now.');
  expect(limitWords({ perMinute: 0, usual: false })).toBe('The key has no limit now.');
});
