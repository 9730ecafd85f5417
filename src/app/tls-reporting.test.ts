import { expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { REPORTED_DAY as DAY, tlsCount, tlsSession } from '../../test/support/tls-report.ts';
import type { Resolver } from '../dns/resolver.ts';
import { silentLog } from '../lib/log.ts';
import { openSqlite } from '../store/sqlite/open.ts';
import { createTlsReporting } from './tls-reporting.ts';

const DAY_MS = 86_400_000;

test('what was counted is written while a round waits for servers that are silent, and once it ends', async () => {
  // In the morning after the day that is reported on.
  const clock = new ManualClock((DAY + 1) * DAY_MS + 5 * 3_600_000);
  const storage = openSqlite(':memory:');
  await storage.tlsReports.countTlsSessions([tlsCount()], 9);
  const asked: string[] = [];
  const resolver: Resolver = {
    resolve(name, _type, signal) {
      asked.push(name);
      const failed = { kind: 'failed', cause: 'dns_timeout', text: '' } as const;
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(failed as never)));
    },
  };
  const config = {
    server: { hostname: 'mail.example.com' },
    tlsReports: { from: 'tls@example.com', organization: null },
    domains: [],
    dns: { servers: null },
  };
  const reporting = createTlsReporting({
    storage,
    // Of the configuration nothing else is read.
    live: { config } as never,
    engine: { intake: {} as never, isFirst: () => true },
    dns: { resolver } as never,
    clock,
    log: silentLog,
    version: '1.2.3',
    capturesAll: false,
  });
  const stopping = new AbortController();
  const running = reporting.run(stopping.signal);
  await expect.poll(() => asked).toEqual(['_smtp._tls.example.net']);
  const today = async () => {
    const days = await storage.tlsReports.tlsDays({ domain: 'example.org', after: null, limit: 1 });
    return days.map(({ sessions }) => sessions);
  };
  reporting.watch.note('example.org', tlsSession());
  await clock.advance(10_000);
  expect(await today()).toEqual([1]);
  reporting.watch.note('example.org', tlsSession());
  stopping.abort();
  await clock.advance(0);
  await running;
  expect(await today()).toEqual([2]);
  await storage.store.close();
});
