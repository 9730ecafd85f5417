import { expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { tlsSession } from '../../test/support/tls-report.ts';
import { StoreError } from '../store/store.ts';
import type { TlsCount } from '../store/tls-reports.ts';
import { TlsCounts } from './tls-counts.ts';

const DAY_MS = 86_400_000;

function counting() {
  const written: TlsCount[] = [];
  const clock = new ManualClock(Date.UTC(2026, 10, 20, 23, 59, 59));
  let fails = false;
  const store = {
    countTlsSessions: async (counts: readonly TlsCount[]) => {
      if (fails) throw new StoreError('store_unavailable', 'as the test wants it');
      written.push(...counts);
    },
  };
  const counts = new TlsCounts(store, clock);
  return { counts, written, clock, fail: (value: boolean) => (fails = value) };
}

test('sessions alike are one count of their day, written once', async () => {
  const { counts, written, clock } = counting();
  counts.note('example.net', tlsSession());
  counts.note('example.net', tlsSession());
  counts.note('example.net', tlsSession({ result: 'starttls-not-supported' }));
  await clock.advance(2000);
  counts.note('example.net', tlsSession());
  await counts.write();
  await counts.write();
  const day = Date.UTC(2026, 10, 20) / DAY_MS;
  expect(written.map((one) => [one.day - day, one.session.result, one.count])).toEqual([
    [0, null, 2],
    [0, 'starttls-not-supported', 1],
    [1, null, 1],
  ]);
  expect(new Set(written.map(({ kind }) => kind)).size).toBe(2);
  expect(written[0]?.kind.length).toBeLessThanOrEqual(64);
});

test('what cannot be written is written later, with what came meanwhile', async () => {
  const { counts, written, fail } = counting();
  counts.note('example.net', tlsSession());
  fail(true);
  await expect(counts.write()).rejects.toThrow('as the test wants it');
  counts.note('example.net', tlsSession());
  fail(false);
  await counts.write();
  expect(written.map(({ count }) => count)).toEqual([2]);
});

test('memory is bounded, however many domains there are', async () => {
  const { counts, written } = counting();
  for (let n = 0; n < 20_010; n++) counts.note(`d${n}.example`, tlsSession());
  counts.note('d1.example', tlsSession());
  await counts.write();
  expect(written).toHaveLength(20_000);
  expect(written.find(({ domain }) => domain === 'd1.example')?.count).toBe(2);
});
