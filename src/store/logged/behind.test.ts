import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { message } from '../../../test/contract/store/fixtures.ts';
import { openSqlite, type SqliteStores } from '../sqlite/open.ts';
import { StoreError } from '../store.ts';
import { viewsBehind } from './written-behind.ts';

const FULL = new StoreError('store_full', 'simulated');
const FAILED = new StoreError('store_failed', 'simulated');

let inner: SqliteStores;

beforeEach(() => {
  inner = openSqlite(':memory:');
});

afterEach(async () => await inner.store.close());

describe('while the database has no room for what was answered', () => {
  test('lists and figures tell what it has', async () => {
    const views = viewsBehind(() => Promise.reject(FULL), inner.views);
    expect(await views.lanes(null, 1)).toEqual([]);
    expect(await views.figures(0)).toEqual(await inner.views.figures(0));
  });

  test('nothing is told of one message, which would be said not to exist', async () => {
    const views = viewsBehind(() => Promise.reject(FULL), inner.views);
    const { id } = message();
    await expect(views.message(id)).rejects.toBe(FULL);
    await expect(views.attempts(id, { after: 0, limit: 1 })).rejects.toBe(FULL);
  });
});

test('nothing is shown where the database cannot be written for another cause', async () => {
  const views = viewsBehind(() => Promise.reject(FAILED), inner.views);
  await expect(views.lanes(null, 1)).rejects.toBe(FAILED);
  await expect(views.message('msg_unknown')).rejects.toBe(FAILED);
});
