import { expect, test } from 'vitest';
import { dmarcReport, dmarcRow } from '../../test/support/dmarc-report.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { requestLine } from '../../test/support/request-line.ts';
import { tlsCount } from '../../test/support/tls-report.ts';
import { trafficCount } from '../../test/support/traffic.ts';
import { silentLog } from '../lib/log.ts';
import { openSqlite } from '../store/sqlite/open.ts';
import { keepJournal, keepReports, keepRequests, keepSuppressions, keepTraffic } from './upkeep.ts';

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

test('lines of requests go that are too old, or too many of a key, of nobody, or in all', async () => {
  const clock = new ManualClock();
  const { requests, store } = openSqlite(':memory:');
  const now = clock.wall();
  const of = (keyId: string | null, count: number, at = now) =>
    Array.from({ length: count }, (_, place) => requestLine({ keyId, at, requestId: String(place) }));
  await requests.writeRequests([
    ...of('old', 1200, now - 3 * DAY_MS - 1),
    ...of('busy', 1300),
    ...of(null, 30),
  ]);
  await requests.writeRequests([...of('quiet', 7), ...of('busy', 5).map((one) => ({ ...one, status: 400 }))]);
  const stopping = new AbortController();
  const { signal } = stopping;
  let days = 3;
  const most = { all: 1100, ofKey: 600, ofNobody: 20 };
  const done = keepRequests({ requests, clock, log: silentLog, days: () => days, most, signal });
  const count = async (keyId: string | null) => {
    const all = {
      refused: null,
      since: 0,
      until: null,
      kind: null,
      sourceAddress: null,
      messageId: null,
      looksAt: 100_000,
      after: null,
      limit: 2000,
    };
    return (await requests.requests({ ...all, of: { keyId } })).lines.length;
  };
  const counts = async () => [
    await count('old'),
    await count('busy'),
    await count(null),
    await count('quiet'),
  ];
  await clock.advance(1000);
  expect(await counts()).toEqual([0, 605, 20, 7]);
  most.all = 100;
  await clock.advance(300_000);
  expect(await counts()).toEqual([0, 63, 20, 7]);
  days = 0;
  await clock.advance(300_000);
  expect(await counts()).toEqual([0, 0, 0, 0]);
  stopping.abort();
  await done;
  await store.close();
});

test('DMARC reports that are too old, or too many, are removed at once and every ten minutes', async () => {
  const clock = new ManualClock(Date.UTC(2026, 10, 25));
  const { dmarc, tlsReports, store } = openSqlite(':memory:');
  const rows = [dmarcRow(), dmarcRow({ spf: false })];
  const begins = Array.from({ length: 40 }, (_, day) => clock.wall() - day * DAY_MS);
  for (const [day, beginAt] of begins.entries())
    await dmarc.addDmarcReport(dmarcReport({ id: `dmr_${day}`, reportId: `${day}`, beginAt, rows }));
  const today = clock.wall() / DAY_MS;
  await tlsReports.countTlsSessions([tlsCount({ day: today - 20 }), tlsCount({ day: today - 21 })], 9);
  const stopping = new AbortController();
  const { signal } = stopping;
  let mostRows = 1000;
  const done = keepReports({
    dmarc,
    tlsReports,
    clock,
    log: silentLog,
    days: () => 20,
    most: () => mostRows,
    signal,
  });
  const kept = async () => (await dmarc.dmarcReports({ domain: null, before: null, limit: 50 })).length;
  await clock.advance(1000);
  expect(await kept()).toBe(21);
  const days = await tlsReports.tlsDays({ domain: null, after: null, limit: 9 });
  expect(days.map(({ day }) => day)).toEqual([today - 20]);
  // A report with two rows counts as three.
  mostRows = 15;
  await clock.advance(600_000);
  expect(await kept()).toBe(5);
  stopping.abort();
  await done;
  await store.close();
});

test('counts of mail that are too old are removed at once and every hour', async () => {
  const clock = new ManualClock(Date.UTC(2026, 10, 25));
  const { traffic, views, store } = openSqlite(':memory:');
  const now = clock.wall() / 60_000;
  const counts = Array.from({ length: 40 }, (_, day) => trafficCount({ minute: now - day * 24 * 60 }));
  await traffic.addTraffic(counts, 9);
  const stopping = new AbortController();
  const { signal } = stopping;
  let days = 20;
  const done = keepTraffic({ traffic, clock, log: silentLog, days: () => days, signal });
  const kept = async (period: 'minute' | 'hour' | 'day') =>
    (await views.traffic({ period, from: 0, count: now + 1, where: {}, by: null, limit: 1 })).steps.length;
  await clock.advance(1000);
  expect([await kept('minute'), await kept('hour'), await kept('day')]).toEqual([1, 4, 21]);
  days = 1;
  await clock.advance(3_600_000);
  expect([await kept('minute'), await kept('hour'), await kept('day')]).toEqual([1, 3, 2]);
  stopping.abort();
  await done;
  await store.close();
});
