import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '../../src/store/sqlite/open.ts';

let empty: Promise<string> | null = null;

/** Puts a SQLite database of today's schema at `path`, with nothing in it. To copy one takes half as long as to make it. */
export async function placeEmptyDatabase(path: string): Promise<void> {
  empty ??= makeOne();
  copyFileSync(await empty, path);
}

async function makeOne(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-empty-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'waybill.db');
  await openSqlite(path).store.close();
  return path;
}
