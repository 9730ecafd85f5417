import { afterEach, beforeEach, expect, test } from 'vitest';
import { apiKey } from '../../test/contract/store/fixtures.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { COUNTED_MINUTE, replyCount, trafficCount } from '../../test/support/traffic.ts';
import { NOT_TOLD, OTHERS } from '../domain/traffic.ts';
import type { RequestOf } from '../operations/table.ts';
import { openSqlite, type SqliteStores } from '../store/sqlite/open.ts';
import { trafficOf } from './traffic.ts';

/** What became of mail, as operators are shown it. */

let stores: SqliteStores;
const clock = new ManualClock((COUNTED_MINUTE + 61) * 60_000);

beforeEach(() => {
  stores = openSqlite(':memory:');
});
afterEach(() => stores.store.close());

const ask = (more: Partial<RequestOf<'traffic'>> = {}) =>
  trafficOf({ step: 'hour', count: 3, ...more }, { ...stores, clock });

test('is told step by step, with the success and the times of all', async () => {
  const counts = trafficCount({}, { accepted: 10, delivered: 8, failed: 3, bounced: 1 });
  await stores.traffic.addTraffic([counts, { ...counts, minute: COUNTED_MINUTE + 60 }], 9);
  const found = await ask();
  expect(found).toMatchObject({
    from: '2026-11-20T11:00:00.000Z',
    stepSeconds: 3600,
    rows: [],
    others: null,
  });
  expect(found.steps.map(({ accepted }) => accepted)).toEqual([0, 10, 10]);
  expect(found.steps[0]).toMatchObject({ success: null, p50Ms: null, p95Ms: null });
  expect(found.total).toMatchObject({ delivered: 16, success: 0.7, p50Ms: 1500, p95Ms: 1950 });
});

test('names keys, and what is not told apart', async () => {
  await stores.keyring.create(apiKey('key_shop', { name: 'shop' }), 'a');
  await stores.traffic.addTraffic([trafficCount({ keyId: 'key_gone' }), trafficCount()], 9);
  await stores.traffic.addTraffic([{ ...trafficCount(), ...NOT_TOLD }], 9);
  await stores.traffic.addReplies([replyCount(), replyCount({ group: OTHERS, messageId: '', failed: 2 })], 9);
  const found = await ask({ by: 'key' });
  expect(found.rows.map(({ name, label }) => [name, label])).toEqual([
    ['key_gone', null],
    ['key_shop', 'shop'],
  ]);
  expect(found.others).toMatchObject({ accepted: 1 });
  expect(found.replies).toMatchObject([
    { group: null, failed: 2, messageId: null },
    { group: '550 5.1.1 [address] is unknown', messageId: 'msg_1' },
  ]);
  expect((await ask({ by: 'key', where: { key: 'key_shop' }, limit: 1 })).total).toMatchObject({
    accepted: 1,
  });
});
