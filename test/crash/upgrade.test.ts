/**
 * Data of every schema that was ever released is brought to this program's by a process that dies on the way: as it comes to
 * a write or a flush, the first, the second, and so on. The next one finishes it, and everything is there.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, expect, test } from 'vitest';
import { openBetterSqlite3 } from '../../src/store/sqlite/driver.ts';
import { migrations, openDatabase } from '../../src/store/sqlite/open.ts';
import { describeWith } from '../peers/need.ts';
import { moduleOf } from '../peers/server.ts';
import { before, tell, times } from '../support/proof.ts';
import { deathAt, underFault } from './under-fault.ts';

/** Of the calls of each kind, every so-manieth; where the first is differs from schema to schema, and from run to run. */
const STRIDE = times('upgrade_stride', 270);
const FIXTURES = new URL('../../src/store/sqlite/fixtures/', import.meta.url);
/** Schemas of which there are data that their programs wrote, but for the newest. */
const VERSIONS = [1, 2, 3, 4, 9];
const OPEN = pathToFileURL(moduleOf('src/store/sqlite/open.ts')).href;

/** Each table's rows, by its name. */
type Contents = Readonly<Record<string, readonly unknown[]>>;

describeWith(['strace'], 'an upgrade', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'waybill-upgrade-'));
    path = join(folder, 'waybill.db');
    return () => rmSync(folder, { recursive: true });
  });

  test.for(VERSIONS)(
    'from schema %i that dies at a call is finished by the next start, and nothing is missing',
    { timeout: 300_000 + 3_000_000 / STRIDE },
    (version) => {
      lay(path, version);
      const old = contentsOf(path);
      openDatabase(path).close();
      const upgraded = contentsOf(path);
      let deaths = 0;
      for (const call of ['pwrite64', 'fsync'])
        for (let n = 1 + ((version * 7 + before()) % strideOf(call)); ; n += strideOf(call)) {
          lay(path, version);
          if (!diesAt(call, n, path)) break;
          deaths++;
          openDatabase(path).close();
          expect(contentsOf(path), `after call ${n} of ${call}`).toEqual(upgraded);
          expect(contentsOf(`${path}.v${version}`), 'as it was before').toEqual(old);
        }
      expect(deaths).toBeGreaterThan(1);
      tell('deaths in an upgrade of SQLite', { deaths, lost: 0 });
    },
  );
});

/** Opens the database in a process that is to die at this call of its; whether it did: it makes fewer of them otherwise. */
function diesAt(call: string, n: number, path: string): boolean {
  const program = `
    import { openDatabase } from ${JSON.stringify(OPEN)};
    openDatabase(${JSON.stringify(path)}).close();`;
  const [strace = '', ...options] = underFault(deathAt(call, n));
  const command = [process.execPath, '--input-type=module', '-e', program];
  const { signal, status, stderr } = spawnSync(strace, [...options, ...command], { encoding: 'utf8' });
  if (signal === null) expect(status, stderr).toBe(0);
  return signal === 'SIGKILL';
}

function strideOf(call: string): number {
  return call === 'pwrite64' ? STRIDE : Math.ceil(STRIDE / 12);
}

/** Puts a database there as a program of that version left it, with nothing of it in the log. */
function lay(path: string, version: number): void {
  const copies = migrations().map((step) => `${path}.v${step.version}`);
  for (const file of [path, `${path}-wal`, `${path}-shm`, ...copies]) rmSync(file, { force: true });
  const old = openBetterSqlite3(path);
  old.exec('PRAGMA journal_mode = WAL;');
  old.exec(readFileSync(new URL(`000${version}_states.sql`, FIXTURES), 'utf8'));
  old.close();
}

/** Everything in a database, which must be sound. */
function contentsOf(path: string): Contents {
  const db = openBetterSqlite3(path);
  try {
    expect(db.prepare('PRAGMA integrity_check').all()).toEqual([['ok']]);
    const tables = db
      .prepare<[], [string]>(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)
      .all();
    const rowsOf = (table: string) => db.prepare(`SELECT * FROM "${table}" ORDER BY 1`).all();
    return {
      version: db.prepare('PRAGMA user_version').all(),
      schema: db.prepare('SELECT name, sql FROM sqlite_schema ORDER BY name').all(),
      ...Object.fromEntries(tables.map(([table]) => [table, rowsOf(table)])),
    };
  } finally {
    db.close();
  }
}
