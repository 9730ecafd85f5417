import { expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { silentLog } from '../lib/log.ts';
import { openSqlite } from '../store/sqlite/open.ts';
import { keepJournal, keepSuppressions } from './upkeep.ts';

const DAY_MS = 86_400_000;

test('the journal forgets what is older than the setting says, in batches, at once and every hour', async () => {
  const clock = new ManualClock();
  const { journal, store } = openSqlite(':memory:');
  const entry = (at: number) => ({
    at,
    actorKind: 'command' as const,
    actor: '',
    sourceAddress: null,
    action: 'hold',
    subject: String(at),
    before: null,
    after: null,
  });
  const now = clock.wall();
  await journal.record(Array.from({ length: 1200 }, () => entry(now - 10 * DAY_MS)));
  await journal.record([entry(now - 9 * DAY_MS), entry(now)]);
  const stopping = new AbortController();
  let days = 9;
  const { signal } = stopping;
  const done = keepJournal({ journal, clock, log: silentLog, days: () => days, signal });
  const count = async () => {
    const page = { actor: null, action: null, subject: null, limit: 200, before: null };
    return (await journal.entries(page)).entries.length;
  };
  await clock.advance(1000);
  expect(await count()).toBe(2);
  days = 1;
  await clock.advance(3_600_000);
  expect(await count()).toBe(1);
  stopping.abort();
  await done;
  await store.close();
});

test('entries of the suppression list that have ended go, in batches, at once and every minute', async () => {
  const clock = new ManualClock();
  const { suppressions, store } = openSqlite(':memory:');
  const now = clock.wall();
  const entry = (n: number, expiresAt: number | null) => ({
    id: `sup_${String(n).padStart(4, '0')}`,
    address: `r${n}@example.org`,
    scope: 'global' as const,
    stream: null,
    reason: 'manual' as const,
    source: 'api',
    evidence: null,
    note: '',
    createdAt: now,
    updatedAt: now,
    expiresAt,
  });
  const rules = { max: 10_000, by: 'hand', now: now - 1 } as const;
  const ended = Array.from({ length: 1200 }, (_, n) => entry(n, now));
  await suppressions.addSuppressions(ended, rules);
  await suppressions.addSuppressions([entry(5000, now + 30_000), entry(5001, null)], rules);
  const stopping = new AbortController();
  const done = keepSuppressions({ suppressions, clock, log: silentLog, signal: stopping.signal });
  const count = async () => (await suppressions.suppressedAddresses('', 2000)).length;
  await clock.advance(1000);
  expect(await count()).toBe(2);
  await clock.advance(60_000);
  expect(await count()).toBe(1);
  stopping.abort();
  await done;
  await store.close();
});
