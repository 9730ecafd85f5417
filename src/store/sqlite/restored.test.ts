import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  at,
  attempt,
  DAY,
  DEFERRED,
  DELIVERED,
  HOUR,
  message,
  REJECTED,
  read,
  recipient,
  refTo,
  T0,
  takeLane,
} from '../../../test/contract/store/fixtures.ts';
import { storedEndpoint } from '../../../test/support/webhooks.ts';
import { EVERY_EVENT, SEQUENCE_LEAP } from '../events.ts';
import { openBetterSqlite3 } from './driver.ts';
import { openSqlite, type SqliteStores } from './open.ts';
import { holdRestored } from './restored.ts';

const KEEP_NOTHING = {
  contentAgeMs: 0,
  contentMaxBytes: 0,
  capturedAgeMs: 0,
  capturedMaxBytes: 0,
  recordAgeMs: 0,
  eventAgeMs: 0,
  feedbackAgeMs: 0,
  maxUnsubscribeLinks: 1000,
};

let folder: string;
let path: string;
let stores: SqliteStores;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waybill-restored-'));
  path = join(folder, 'waybill.db');
  stores = openSqlite(path);
});
afterEach(async () => {
  await stores.store.close();
  rmSync(folder, { recursive: true });
});

/** Runs `work` on the database while nobody has it open. */
async function between<T>(work: (db: ReturnType<typeof openBetterSqlite3>) => T): Promise<T> {
  await stores.store.close();
  const db = openBetterSqlite3(path);
  try {
    return work(db);
  } finally {
    db.close();
    stores = openSqlite(path);
  }
}

const gauges = () =>
  between((db) =>
    Object.fromEntries(
      db.prepare<[], [string, number]>('SELECT name, value FROM gauges WHERE value <> 0').all(),
    ),
  );

/** One of each: waiting, scheduled, retrying, in hand, begun, and half delivered with one that was refused. */
async function fill(): Promise<Record<string, string>> {
  const { store } = stores;
  const lease = await takeLane(store);
  const leased = () => recipient({ fence: lease.fence });
  const waiting = message({ keyId: 'key_one' });
  const later = T0 + 5 * HOUR;
  const scheduled = message({ sendAt: later, deliveries: [recipient({ dueAt: later })] });
  const retrying = message({ deliveries: [leased()] });
  const inHand = message({ deliveries: [leased()] });
  const begun = message({ deliveries: [leased()] });
  const half = message({ deliveries: [leased(), leased(), recipient()] });
  const done = message({ deliveries: [leased()] });
  await store.accept([waiting, scheduled, retrying, inHand, begun, half, done], at());
  await attempt(store, refTo(retrying.id, lease), [DEFERRED], at());
  await store.begin([{ ...refTo(begun.id, lease), recipients: [], quota: null }], at());
  await attempt(store, { ...refTo(half.id, lease), indexes: [0] }, [DELIVERED], at());
  await attempt(store, { ...refTo(half.id, lease), indexes: [1] }, [REJECTED], at());
  await attempt(store, refTo(done.id, lease), [DELIVERED], at());
  const ids = { waiting, scheduled, retrying, inHand, begun, half, done };
  return Object.fromEntries(Object.entries(ids).map(([name, { id }]) => [name, id]));
}

const states = async (id = '') =>
  (await read(stores.views, id)).recipients.map(({ state, outcome }) => `${state} ${outcome}`);

it('holds exactly what was not final, and retention leaves it alone', async () => {
  const ids = await fill();
  const before = await gauges();
  expect(await between((db) => holdRestored(db, T0))).toBe(6);
  for (const name of ['waiting', 'scheduled', 'retrying', 'inHand', 'begun'])
    expect(await states(ids[name]), name).toEqual(['failed unknown']);
  expect(await states(ids['half'])).toEqual(['delivered accepted', 'failed rejected', 'failed unknown']);
  expect(await states(ids['done'])).toEqual(['delivered accepted']);
  const figures = await stores.views.figures(T0);
  expect(figures).toMatchObject({ restored: 6, queuedBytes: 0, oldestDueAt: null });
  expect(figures.spool).toEqual({ incoming: 0, processing: 0, failed: 6 });
  expect(await stores.views.lanes(null, 9)).toEqual([]);
  expect(await gauges()).toEqual({ sent_bytes: before['sent_bytes'], failed_kept: 6, restored: 6 });
  await stores.store.purge(KEEP_NOTHING, 99, at(900 * DAY));
  expect(await stores.store.liveSegments([1])).toEqual(new Map([[1, 6]]));
  expect(await stores.store.expiring(9, at(900 * DAY))).toEqual([]);
});

it('tells no endpoint of anything until it is enabled again', async () => {
  await stores.webhooks.addWebhookEndpoint(storedEndpoint(), { ofKey: 1, all: 1 });
  await between((db) => holdRestored(db, T0));
  const [stored] = await stores.webhooks.webhookEndpoints();
  expect(stored?.health).toEqual({
    state: 'disabled',
    failures: 0,
    failingSince: null,
    reason: 'It came back with a backup; enable it to go on.',
  });
});

it('sends it again, batch by batch, but not what was refused before, nor before its time', async () => {
  const ids = await fill();
  await between((db) => holdRestored(db, T0));
  const first = await stores.store.decideRestored('resume', T0 + 2 * DAY, 4, at(HOUR));
  expect(first).toEqual({ count: 4, lanes: ['out'], more: true });
  expect(await stores.store.decideRestored('resume', T0 + 2 * DAY, 4, at(HOUR))).toMatchObject({
    count: 2,
    more: false,
  });
  expect(await states(ids['half'])).toEqual(['delivered accepted', 'failed rejected', 'queued null']);
  expect((await read(stores.views, ids['begun'] ?? '')).message).toMatchObject({
    status: 'queued',
    possibleDuplicate: true,
    waits: [{ dueAt: T0 + HOUR }],
    expiresAt: T0 + 2 * DAY,
  });
  const scheduled = (await read(stores.views, ids['scheduled'] ?? '')).message;
  expect(scheduled).toMatchObject({ waits: [{ dueAt: T0 + 5 * HOUR }], expiresAt: T0 + 2 * DAY + 4 * HOUR });
  const figures = await stores.views.figures(T0 + HOUR);
  expect(figures).toMatchObject({ restored: 0, possibleDuplicates: 6, spool: { incoming: 6, failed: 0 } });
  expect(await stores.views.lanes(null, 9)).toMatchObject([{ lane: 'out', waiting: 6, processing: 0 }]);
  expect(await stores.store.decideRestored('cancel', 0, 4, at())).toEqual({
    count: 0,
    lanes: [],
    more: false,
  });
});

it('cancels it, and then retention does its work', async () => {
  const ids = await fill();
  await between((db) => holdRestored(db, T0));
  await stores.store.requeue([{ id: ids['waiting'] ?? '', expiresAt: T0 + DAY }], at());
  for (let more = true; more; ) ({ more } = await stores.store.decideRestored('cancel', 0, 1, at()));
  expect(await states(ids['waiting']), 'was retried by hand').toEqual(['queued null']);
  expect(await states(ids['half'])).toEqual(['delivered accepted', 'failed rejected', 'failed cancelled']);
  await stores.store.cancel([ids['waiting'] ?? ''], at());
  await stores.store.purge(
    { ...KEEP_NOTHING, recordAgeMs: 1e12, eventAgeMs: 1e12, feedbackAgeMs: 1e12 },
    99,
    at(),
  );
  expect(await gauges()).toEqual({});
  expect(await stores.store.liveSegments([1])).toEqual(new Map([[1, 0]]));
});

it('holds more when it is restored again', async () => {
  await fill();
  await between((db) => holdRestored(db, T0));
  await stores.store.accept([message()], at());
  expect(await between((db) => holdRestored(db, T0))).toBe(1);
  expect((await stores.views.figures(T0)).restored).toBe(7);
});

it('tells of what is held and of what is then cancelled, with sequences that nobody can have seen', async () => {
  const ids = await fill();
  const after = async (sequence: number) =>
    (await stores.views.events({ ...EVERY_EVENT, from: { after: sequence }, limit: 200 })).events;
  const last = (await after(0)).at(-1)?.sequence ?? 0;
  await between((db) => holdRestored(db, T0 + 5));
  const held = await after(last);
  expect(held.map(({ type, at: time, facts }) => [type, time, facts.outcome])).toEqual(
    Array.from({ length: 6 }, () => ['message.failed', T0 + 5, 'unknown']),
  );
  expect(held[0]?.message?.id).toBe(ids['waiting']);
  expect(held[0]?.facts).toMatchObject({ relay: 'out', text: expect.stringMatching(/^held/) });
  expect(held[0]?.sequence).toBeGreaterThan(last + SEQUENCE_LEAP);
  await stores.store.decideRestored('cancel', T0 + HOUR, 99, at(9));
  const cancelled = await after(held.at(-1)?.sequence ?? 0);
  expect(cancelled.map(({ type, at: time, facts }) => [type, time, facts.outcome, facts.text])).toEqual(
    Array.from({ length: 6 }, () => ['message.failed', T0 + 9, 'cancelled', 'cancelled after a restore']),
  );
});
