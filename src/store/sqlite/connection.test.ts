import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { assertDurable, checkpoint, openReader, openWriter } from './connection.ts';
import { type Driver, openBetterSqlite3 } from './driver.ts';
import { openNodeSqlite } from './node-sqlite.ts';

describe.each([
  ['better-sqlite3', openBetterSqlite3],
  ['node:sqlite', openNodeSqlite],
])('a connection by %s', (_name, open) => {
  let folder: string;
  let path: string;
  let db: Driver;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'waybill-db-'));
    path = join(folder, 'x.db');
    db = openWriter(path, open);
    db.exec('CREATE TABLE t (a INTEGER, b TEXT) STRICT');
  });
  afterEach(() => {
    db.close();
    rmSync(folder, { recursive: true });
  });
  const pragma = (name: string) => db.prepare<[], [unknown: string | number]>(`PRAGMA ${name}`).get()?.[0];

  it('is durable after its first write: write-ahead log, synchronous=FULL', () => {
    expect(pragma('journal_mode')).toBe('wal');
    expect(pragma('synchronous')).toBe(2);
    expect(pragma('wal_autocheckpoint')).toBe(0);
    assertDurable(db);
  });

  it('notices when it is not', () => {
    db.exec('PRAGMA synchronous = NORMAL');
    expect(() => assertDurable(db)).toThrow('synchronous is 1');
  });

  it('refuses an SQLite that is too old', () => {
    const old = (at: string): Driver => {
      const driver = open(at);
      const prepare = driver.prepare as (sql: string) => ReturnType<Driver['prepare']>;
      const aged = (sql: string) => prepare(sql === 'SELECT sqlite_version()' ? "SELECT '3.51.2'" : sql);
      return { ...driver, prepare: aged as Driver['prepare'] };
    };
    expect(() => openWriter(join(folder, 'old.db'), old)).toThrow('3.51.2 is older than 3.51.3');
  });

  it('binds and reads numbers, texts and nulls, and counts changes', () => {
    const insert = db.prepare<[number | null, string | null]>('INSERT INTO t VALUES (?, ?)');
    expect(insert.run(2 ** 52, 'é\u0000z')).toBe(1);
    insert.run(null, null);
    const all = db.prepare<[], [number | null, string | null]>('SELECT a, b FROM t ORDER BY rowid');
    expect(all.all()).toEqual([
      [2 ** 52, 'é\u0000z'],
      [null, null],
    ]);
    expect(all.get()).toEqual([2 ** 52, 'é\u0000z']);
    expect(db.prepare<[], [number]>('SELECT a FROM t WHERE a = 7').get()).toBeUndefined();
  });

  it('reads on a connection of its own that cannot write, and checkpoints from there', () => {
    const reader = openReader(path, open);
    db.exec("INSERT INTO t VALUES (1, 'x')");
    expect(reader.prepare<[], [number]>('SELECT a FROM t').get()).toEqual([1]);
    expect(() => reader.exec('DELETE FROM t')).toThrow(/readonly|read-only/);
    checkpoint(reader);
    const copied = reader.prepare<[], [number, number, number]>('PRAGMA wal_checkpoint(PASSIVE)').get();
    expect(copied?.[1]).toBe(copied?.[2]);
    reader.close();
  });
});
