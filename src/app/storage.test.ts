import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { acceptAll, beginAll, read, recipient, refTo, takeLane } from '../../test/contract/store/fixtures.ts';
import { earlyConfig } from '../config/load.ts';
import { layoutOf } from '../control/layout.ts';
import { systemClock } from '../lib/clock.ts';
import { type Log, type LogFields, silentLog } from '../lib/log.ts';
import { systemRandom } from '../lib/random.ts';
import { SharedClock } from '../lib/shared-clock.ts';
import { logContradictions, openStorage } from './storage.ts';

let dataDir: string;
let failure: PromiseWithResolvers<Error & { readonly code: string }>;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'waybill-storage-'));
  failure = Promise.withResolvers();
});

afterEach(() => rmSync(dataDir, { recursive: true }));

const open = () =>
  openStorage({
    dataDir,
    environment: {},
    database: earlyConfig({ dataDir, environment: {} }).database,
    eventsKept: 'all',
    node: 'a',
    random: systemRandom,
    clock: new SharedClock(systemClock),
    say() {},
    onFailure: failure.resolve,
  });

/** Changes the database behind everybody's back. */
function meddle(sql: string): void {
  const db = new Database(layoutOf(dataDir).database);
  db.exec(sql);
  db.close();
}

test('what the database refuses ends one process; the next goes on without it, marks the mail and says so', async () => {
  const first = await open();
  const lease = await takeLane(first.store);
  const leased = { deliveries: [recipient({ fence: lease.fence })] };
  const [id = ''] = await acceptAll(first.store, [leased]);
  await first.written();
  meddle(`UPDATE deliveries SET fence = ${lease.fence + 1}`);
  const unit = refTo(id, lease);
  expect(await beginAll(first.store, [unit])).toEqual(['begun']);
  const [later = ''] = await acceptAll(first.store, [leased]);
  await expect(first.written()).rejects.toMatchObject({ code: 'store_failed' });
  expect(await failure.promise).toMatchObject({ code: 'store_failed' });
  await first.close();

  const second = await open();
  expect(second.contradictions).toEqual([{ verb: 'begin', unit }]);
  const lines: [string, LogFields | undefined][] = [];
  const log: Log = { ...silentLog, error: (event, fields) => lines.push([event, fields]) };
  logContradictions(second, log);
  expect(lines).toEqual([
    ['log.contradicted', { verb: 'begin', messageId: id, lane: lease.lane, fence: lease.fence }],
  ]);
  expect((await read(second.views, id)).message).toMatchObject({ possibleDuplicate: true });
  expect((await read(second.views, later)).message).toMatchObject({ possibleDuplicate: false });
  await second.close();

  const third = await open();
  expect(third.contradictions).toEqual([]);
  await third.close();
});
