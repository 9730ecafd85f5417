import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../lib/clock.ts';
import { openBetterSqlite3 } from '../store/sqlite/driver.ts';
import { StoreError } from '../store/store.ts';
import type { Views } from '../store/views.ts';
import { Caller } from './caller.ts';
import { type StoreThread, startStoreThread, startViewsThread } from './clients.ts';
import { workerUrl } from './wire.ts';

describe('the threads', () => {
  let folder: string;
  let path: string;
  let thread: StoreThread;
  let views: Views;
  const deaths: StoreError[] = [];
  const onDeath = (error: StoreError) => void deaths.push(error);

  beforeEach(async () => {
    deaths.length = 0;
    folder = mkdtempSync(join(tmpdir(), 'waybill-threads-'));
    path = join(folder, 'waybill.db');
    thread = await startStoreThread({ path, clock: systemClock, onDeath });
    views = await startViewsThread({ path, clock: systemClock, onDeath });
  });
  afterEach(async () => {
    await views.close();
    await thread.store.close();
    expect(deaths).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  const put = (key: string) => thread.registry.putSetting(key, '1');

  it('answers each call in its place, and commits before it answers', async () => {
    const at = { node: 'a', now: 1 };
    const [, leases, settings] = await Promise.all([
      put('a'),
      thread.store.acquireLanes(['out'], 0, 9, at),
      thread.registry.settings(),
      thread.keyring.touch(new Map([['key', 1]])),
    ]);
    expect(leases).toEqual([{ lane: 'out', fence: 1 }]);
    expect(settings).toEqual(new Map([['a', '1']]));
    await thread.store.tally([{ event: 'denied', count: 2 }], at);
    expect((await views.figures(1)).today.denied).toBe(2);
  });

  it('brings errors back as what they are', async () => {
    await expect(thread.registry.putSetting(null as never, '1')).rejects.toThrow(StoreError);
    await expect(put('a')).resolves.toBeUndefined();
  });

  it('has waited since the first call that found no store, until one finds it', {
    timeout: 60_000,
  }, async () => {
    const other = openBetterSqlite3(path);
    other.exec('BEGIN IMMEDIATE');
    await expect(put('a')).rejects.toMatchObject({ code: 'store_unavailable' });
    const waited = thread.waitingMs();
    expect(waited).toBeGreaterThan(0);
    const next = put('b');
    expect(thread.waitingMs()).toBeGreaterThanOrEqual(waited);
    other.exec('ROLLBACK');
    other.close();
    await next;
    expect(thread.waitingMs()).toBe(0);
  });

  it('waits while another connection holds the write lock, and reading goes on', async () => {
    const other = openBetterSqlite3(path);
    other.exec('BEGIN IMMEDIATE');
    let answered = false;
    const call = put('a').then(() => {
      answered = true;
    });
    expect((await views.figures(1)).databaseBytes).toBeGreaterThan(0);
    expect(answered).toBe(false);
    other.exec('ROLLBACK');
    other.close();
    await call;
    expect(await thread.registry.settings()).toEqual(new Map([['a', '1']]));
  });

  it('answers everything that waited before it closes, and nothing later', async () => {
    const calls = [put('a'), put('b')];
    const closing = thread.store.close();
    await expect(put('c')).rejects.toMatchObject({ code: 'store_closed' });
    await Promise.all([...calls, closing]);
    thread = await startStoreThread({ path, clock: systemClock, onDeath });
    expect([...(await thread.registry.settings()).keys()]).toEqual(['a', 'b']);
  });

  it('says why it cannot open', async () => {
    const missing = join(folder, 'nowhere', 'x.db');
    await expect(startStoreThread({ path: missing, clock: systemClock, onDeath })).rejects.toThrow(
      StoreError,
    );
  });
});

describe('a caller', () => {
  const open = (limits: object, onDeath = (_: StoreError) => {}) =>
    Caller.start({
      url: workerUrl('store-worker'),
      data: { path: ':memory:' },
      clock: systemClock,
      onDeath,
      maxWaitingCalls: 100,
      maxWaitingBytes: 1000,
      ...limits,
    });
  const tally = ['tally', [[], { node: 'a', now: 1 }]] as const;

  it('refuses calls beyond the number that may wait', async () => {
    const caller = await open({ maxWaitingCalls: 2 });
    const calls = [1, 2, 3].map(() => caller.call(...tally));
    await expect(calls[2]).rejects.toMatchObject({ code: 'store_busy' });
    await Promise.all(calls.slice(0, 2));
    await expect(caller.call(...tally)).resolves.toBeUndefined();
    await caller.close();
  });

  it('refuses arguments beyond the bytes that may wait', async () => {
    const caller = await open({ maxWaitingBytes: 100 });
    const large = caller.call('accept', [[], { node: 'a'.repeat(100), now: 1 }]);
    await expect(large).rejects.toMatchObject({ code: 'store_busy' });
    await expect(caller.call('accept', [[], { node: 'a', now: 1 }])).resolves.toEqual([]);
    await caller.close();
  });

  it('sends lone calls by themselves, in turn with what has come meanwhile', async () => {
    const caller = await open({ url: new URL(`data:text/javascript,${encodeURIComponent(TELLING)}`) });
    const trips: unknown[] = [];
    const note = (answer: Promise<unknown>) => answer.then((trip) => void trips.push(trip));
    const calls = [
      ...['slow 1', 'slow 2'].map((verb) => note(caller.callAlone(verb, []))),
      ...['quick 1', 'quick 2'].map((verb) => note(caller.call(verb, []))),
    ];
    calls.push(note(calls[0]?.then(() => caller.call('quick 3', [])) ?? Promise.reject()));
    await Promise.all(calls);
    expect(trips).toEqual(['quick 1, quick 2', 'quick 1, quick 2', 'slow 1', 'quick 3', 'slow 2']);
    await caller.close();
  });

  it('tells of the thread’s death once, and rejects what waited and what comes', async () => {
    const dead = Promise.withResolvers<StoreError>();
    const caller = await Caller.start({
      url: new URL(`data:text/javascript,${encodeURIComponent(DYING)}`),
      data: null,
      clock: systemClock,
      onDeath: dead.resolve,
      maxWaitingCalls: 100,
      maxWaitingBytes: 1000,
    });
    const calls = [caller.call(...tally), caller.call(...tally), caller.callAlone(...tally)];
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'store_failed' });
    await expect(dead.promise).resolves.toMatchObject({ message: 'the thread died: struck by lightning' });
    await expect(caller.call(...tally)).rejects.toMatchObject({ code: 'store_failed' });
  });
});

/** Answers each call with the verbs of all that came with it. */
const TELLING = `
  import { parentPort } from 'node:worker_threads';
  parentPort.on('message', (calls) => {
    if (calls === 'close') return parentPort.close();
    const value = calls.map(({ verb }) => verb).join(', ');
    parentPort.postMessage({ kind: 'answers', answers: calls.map(() => ({ ok: true, value })) });
  });
  parentPort.postMessage({ kind: 'ready' });`;
const DYING = `
  import { parentPort } from 'node:worker_threads';
  parentPort.on('message', () => { throw new Error('struck by lightning'); });
  parentPort.postMessage({ kind: 'ready' });`;
