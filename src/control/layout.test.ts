import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeDataDirectory } from './layout.ts';

/** A directory that everybody may read, with these files in it; null for none at all. */
function directoryWith(names: readonly string[] | null): string {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-layout-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const dataDir = join(folder, 'data');
  if (names === null) return dataDir;
  mkdirSync(dataDir);
  for (const name of names) writeFileSync(join(dataDir, name), '');
  chmodSync(dataDir, 0o755);
  return dataDir;
}

test.each<[names: string[] | null, mode: number]>([
  [null, 0o700],
  [[], 0o700],
  [['waybill.yaml'], 0o700],
  [['waybill.db', 'spool', 'notes'], 0o700],
  [['secret.key', 'waybill.yaml', 'notes'], 0o700],
  [['waybill.yaml', 'photos'], 0o755],
])('a data directory that has %j has the mode %i then', (names, mode) => {
  const dataDir = directoryWith(names);
  makeDataDirectory(dataDir);
  expect(statSync(dataDir).mode & 0o777).toBe(mode);
});
