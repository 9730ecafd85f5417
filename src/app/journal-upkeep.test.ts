import { expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { silentLog } from '../lib/log.ts';
import { openSqlite } from '../store/sqlite/open.ts';
import { keepJournal } from './upkeep.ts';

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
