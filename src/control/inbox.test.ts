import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  at,
  attempt,
  CAPTURED,
  DELIVERED,
  message,
  recipient,
  refTo,
  takeLane,
} from '../../test/contract/store/fixtures.ts';
import { inShape } from '../../test/support/in-shape.ts';
import type { Outcome } from '../domain/outcome.ts';
import { seededRandom } from '../lib/random.ts';
import type { AcceptRecord } from '../store/accepting.ts';
import { openSqlite, type SqliteStores } from '../store/sqlite/open.ts';
import type { LocalDeps } from './deps.ts';
import { inboxOperations } from './inbox.ts';

/** The operations on captured mail, over a real store. */

let stores: SqliteStores;
let now: number;

beforeEach(() => {
  stores = openSqlite(':memory:');
  now = at().now;
});
afterEach(() => stores.store.close());

function operations() {
  const { store, views, keyring } = stores;
  const deps = {
    views,
    keyring,
    random: seededRandom(1),
    clock: { wall: () => now },
    acts: {
      discard: async (ids: readonly string[]) => (await store.discard(ids, at())).filter(Boolean).length,
    },
    resolution: () => ({
      config: { retention: { capturedMaxBytes: 1000 }, relays: [{ name: 'out', disabled: false }] },
    }),
  };
  // Sound because these operations use no more of the rooms than this.
  return inShape(inboxOperations(deps as unknown as LocalDeps));
}

async function ended(outcome: Outcome, change: Partial<AcceptRecord> = {}): Promise<string> {
  const lease = await takeLane(stores.store);
  const record = message({ ...change, deliveries: [recipient({ fence: lease.fence })] });
  await stores.store.accept([record], at());
  await attempt(stores.store, refTo(record.id, lease), [outcome], at());
  await stores.store.releaseLanes([lease], at());
  return record.id;
}

const ALL = { query: '', key: null, limit: 10, before: null };

test('the inbox shows what was captured and is kept, and how much there is', async () => {
  const one = await ended(CAPTURED);
  await ended(DELIVERED);
  const two = await ended(CAPTURED);
  const page = await operations().inbox(ALL);
  expect(page).toMatchObject({
    messages: [{ id: two, captured: true }, { id: one }],
    next: null,
    maxBytes: 1000,
  });
  expect(page.bytes).toBeGreaterThan(0);
  await expect(operations().inbox({ ...ALL, key: 'nobody' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(operations().inbox({ ...ALL, before: 'x' })).rejects.toMatchObject({ code: 'invalid' });
});

test('the inbox shows, and empties, one box', async () => {
  const one = await ended(CAPTURED, { box: 'a' });
  const two = await ended(CAPTURED, { box: 'b' });
  const ids = async (request: object) =>
    (await operations().inbox({ ...ALL, ...request })).messages.map(({ id }) => id);
  expect(await ids({ box: 'a' })).toEqual([one]);
  expect(await ids({ box: 'b', query: 'status:delivered' })).toEqual([two]);
  expect(await ids({ box: 'c' })).toEqual([]);
  const emptied = await operations().deleteCaptured({ ids: null, key: null, box: 'a' });
  expect(emptied).toEqual({ deleted: 1, more: false });
  expect(await ids({})).toEqual([two]);
});

test('deleting all leaves what came after it began, and ends', async () => {
  const old = await ended(CAPTURED);
  const fresh = await ended(CAPTURED);
  const all = { ids: null, key: null, upTo: old };
  expect(await operations().deleteCaptured(all)).toEqual({ deleted: 1, more: false });
  expect(await operations().deleteCaptured(all)).toEqual({ deleted: 0, more: false });
  expect((await operations().inbox(ALL)).messages).toMatchObject([{ id: fresh }]);
});

test('only captured mail is deleted, and each once', async () => {
  const captured = await ended(CAPTURED);
  const sent = await ended(DELIVERED);
  const some = { ids: [captured, sent, 'msg_none'], key: null };
  expect(await operations().deleteCaptured(some)).toEqual({ deleted: 1, more: false });
});

test.each([
  ['what was sent', async () => ({ id: await ended(DELIVERED), relay: 'out' }), 'refused'],
  ['what is unknown', async () => ({ id: 'msg_none', relay: 'out' }), 'not_found'],
  ['by no relay', async () => ({ id: await ended(CAPTURED), relay: 'gone' }), 'not_found'],
])('%s is not released', async (_, request, code) => {
  await expect(operations().releaseCaptured(await request())).rejects.toMatchObject({ code });
});
