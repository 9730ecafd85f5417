import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoreError } from '../store.ts';
import { openBetterSqlite3 } from './better-sqlite3.ts';
import { type Migration, migrations } from './migrate.ts';
import { openDatabase, openSqlite } from './open.ts';

const FIXTURES = new URL('./fixtures/', import.meta.url);

describe('migrations', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'waybill-migrate-'));
    path = join(folder, 'waybill.db');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const schemaOf = (file: string) => {
    const db = openBetterSqlite3(file);
    const rows = db.prepare<[], [string, string]>('SELECT name, sql FROM sqlite_schema ORDER BY name').all();
    db.close();
    return rows;
  };
  const newest = migrations().at(-1)?.version;
  const later: Migration = {
    version: 99,
    sql: 'CREATE TABLE later (x INTEGER); INSERT INTO later VALUES (1);',
  };

  it('opens a database that version 1 wrote', async () => {
    const old = openBetterSqlite3(path);
    old.exec(readFileSync(new URL('0001.sql', FIXTURES), 'utf8'));
    old.close();
    const { store, views } = openSqlite(path);
    const page = await views.list({ owner: { keyId: 'key_one' }, statuses: [], before: null, limit: 9 });
    expect(page.messages.map(({ status, outcome, tags }) => [status, outcome, tags])).toEqual([
      ['retrying', null, []],
      ['delivered', 'accepted', ['news']],
    ]);
    await store.close();
    const fresh = join(folder, 'fresh.db');
    openDatabase(fresh).close();
    expect(schemaOf(path)).toEqual(schemaOf(fresh));
  });

  it('copies an older database aside before it changes it', () => {
    openDatabase(path).close();
    const db = openDatabase(path, { migrations: [...migrations(), later] });
    expect(db.prepare<[], [number]>('SELECT x FROM later').get()).toEqual([1]);
    db.close();
    const copy = `${path}.v${newest}`;
    expect(existsSync(copy)).toBe(true);
    expect(schemaOf(copy).map(([name]) => name)).not.toContain('later');
    openDatabase(copy).close();
  });

  it('leaves a database as it was when a step fails', () => {
    openDatabase(path).close();
    const before = schemaOf(path);
    const broken = { version: 99, sql: `${later.sql} INSERT INTO nowhere VALUES (1);` };
    expect(() => openDatabase(path, { migrations: [...migrations(), broken] })).toThrow(StoreError);
    expect(schemaOf(path)).toEqual(before);
    openDatabase(path).close();
  });

  it('refuses a newer database', () => {
    openDatabase(path, { migrations: [...migrations(), later] }).close();
    const open = () => openDatabase(path);
    expect(open).toThrow(expect.objectContaining({ code: 'store_newer' }));
    expect(open).toThrow(`schema 99; this program knows ${newest}.`);
  });
});
