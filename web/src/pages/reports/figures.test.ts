import { expect, test } from 'vitest';
import { failedByDay, passTone, policyWords, type ReportedDomain, totalsOf } from './figures.ts';

function domain(messages: number[], passed: number[]): ReportedDomain {
  return { domain: 'example.com', policy: { p: 'none', sp: null, pct: 100 }, messages, passed };
}

test('figures are sums over domains and days', () => {
  expect(totalsOf([domain([1, 2], [1, 0]), domain([10, 0], [9, 0])])).toEqual({ messages: 13, passed: 10 });
});

test('a day is told by the share that failed, and one without mail has none', () => {
  expect(failedByDay([domain([8, 0], [8, 0]), domain([2, 0], [1, 0])], 2)).toEqual([
    { rate: 0.1, said: '10 %: 1 of 10 failed' },
    { rate: null, said: 'no mail in reports' },
  ]);
});

test.each([
  [100, 100, 'good'],
  [100, 98, 'warn'],
  [100, 97, 'bad'],
  [0, 0, 'neutral'],
])('of %i messages, %i passed is %s', (messages, passed, tone) => {
  expect(passTone({ messages, passed })).toBe(tone);
});

test('a policy is told with the share of mail that it is for', () => {
  expect(policyWords({ p: 'reject', sp: null, pct: 100 })).toBe('reject');
  expect(policyWords({ p: 'quarantine', sp: null, pct: 20 })).toBe('quarantine for 20 %');
  expect(policyWords({ p: 'none', sp: null, pct: 20 })).toBe('none');
});
