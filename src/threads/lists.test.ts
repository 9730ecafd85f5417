import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeManyMessages } from '../../test/support/many-messages.ts';
import { systemClock } from '../lib/clock.ts';
import { openBetterSqlite3 } from '../store/sqlite/driver.ts';
import { openDatabase } from '../store/sqlite/open.ts';
import type { ListSlice, SliceRequest } from '../store/sqlite/paging.ts';
import { type ListQuery, MAX_EXAMINED, UNFILTERED } from '../store/views.ts';
import { Caller } from './caller.ts';
import { startViewsThread, WAITING_LIMITS } from './clients.ts';
import { Lists } from './lists.ts';
import { workerUrl } from './wire.ts';

/** A list of a key that looks at everything it may and finds nothing. */
const sparse = (keyId = 'key_one'): ListQuery => {
  const filter = { ...UNFILTERED, subject: 'nowhere' };
  return { owner: { keyId }, statuses: [], filter, before: null, limit: 20 };
};

describe('lists', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'waybill-lists-'));
    path = join(folder, 'waybill.db');
    openDatabase(path).close();
    const db = openBetterSqlite3(path);
    writeManyMessages(db, 'key_one', MAX_EXAMINED + 1_000);
    db.close();
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** The views thread, and the slices that were asked of it and not answered yet. */
  async function startCaller() {
    const options = { url: workerUrl('views-worker'), data: { path }, clock: systemClock, onDeath: () => {} };
    const caller = await Caller.start({ ...WAITING_LIMITS, ...options });
    const count = { asked: 0, answered: 0, most: 0 };
    const slice = async (request: SliceRequest) => {
      count.asked++;
      count.most = Math.max(count.most, count.asked - count.answered);
      const answer = await caller.callAlone('listSlice', [request]);
      count.answered++;
      return answer as ListSlice;
    };
    return { caller, slice, count };
  }

  const noSearch = () => Promise.reject(new Error('nothing is searched for'));

  it('figures wait for one slice at most, however many lists are under way', async () => {
    const { caller, slice, count } = await startCaller();
    const lists = new Lists(slice, noSearch, systemClock);
    let ended = 0;
    const pages = Array.from({ length: 12 }, () => lists.list(sparse()).finally(() => ended++));
    for (let i = 0; i < 10; i++) {
      const before = count.answered;
      await caller.call('figures', [1]);
      expect(count.answered - before).toBeLessThanOrEqual(1);
    }
    expect(ended, 'the lists were still under way').toBe(0);
    for (const page of await Promise.all(pages))
      expect(page).toMatchObject({ messages: [], next: expect.any(String) });
    expect(count.most, 'one slice in the thread at a time').toBe(1);
    expect(count.answered).toBeGreaterThanOrEqual(12 * 10);
    await caller.close();
  });

  it('a page in slices is the page: it ends where it may look no further, and goes on from there', async () => {
    const views = await startViewsThread({ path, clock: systemClock, onDeath: () => {} });
    const first = await views.list(sparse());
    expect(first).toEqual({ messages: [], next: expect.any(String) });
    expect(await views.list({ ...sparse(), before: first.next })).toEqual({ messages: [], next: null });
    const found = await views.list({ ...sparse(), filter: { ...UNFILTERED, subject: 'hello' } });
    expect(found.messages).toHaveLength(20);
    await views.close();
  });

  it('counts a list over all for the key that asks, so that operators have their own', async () => {
    const { caller, slice } = await startCaller();
    const lists = new Lists(slice, noSearch, systemClock, { maxLists: 9, maxListsPerAsker: 2 });
    const all = { ...sparse(), owner: 'all' } as const;
    const asked = [lists.list({ ...all, asker: 'key_one' }), lists.list(sparse('key_one'))];
    await expect(lists.list({ ...all, asker: 'key_one' })).rejects.toMatchObject({ code: 'store_busy' });
    await Promise.all([...asked, lists.list(all), lists.list({ ...all, asker: 'key_two' })]);
    await caller.close();
  });

  it('refuses lists beyond the number that may be under way, of one key and in all, and lets go of none', async () => {
    const { caller, slice } = await startCaller();
    const lists = new Lists(slice, noSearch, systemClock, { maxLists: 3, maxListsPerAsker: 2 });
    const busy = { code: 'store_busy' };
    for (let round = 0; round < 2; round++) {
      const two = [lists.list(sparse()), lists.list(sparse())];
      await expect(lists.list(sparse())).rejects.toMatchObject(busy);
      const other = lists.list(sparse('key_two'));
      await expect(lists.list(sparse('key_three'))).rejects.toMatchObject(busy);
      await Promise.all([...two, other]);
    }
    await caller.close();
    await expect(lists.list(sparse())).rejects.toMatchObject({ code: 'store_closed' });
  });
});
