/**
 * Gives the program its next version, wherever it is written down: `node tools/set-version.ts 1.0.0`. Everything else takes it
 * from package.json. CONTRIBUTING.md says how a release is made.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
/** Where people read of a version, or of a file that has it in its name. */
const SHOWN = ['README.md', 'docs/**/*.md', 'deploy/**/*', 'web/src/pages/first-steps/*.ts'];
/** What stands before it there. */
const VERSION =
  /((?:waybill[-_]|Waybill[ /]|^version: |^appVersion: |\{"version":"))(\d+\.\d+\.\d+(?:-[\w.]+)?)/gm;
/** Both versions of npm's that are the program's come first, before those of what it depends on. */
const OF_NPM = { 'package.json': 1, 'package-lock.json': 2 };

/** A version that is written down. */
interface Written {
  readonly path: string;
  readonly version: string;
}

/** Every version of the program that is written down. */
export function versionsWritten(): readonly Written[] {
  const shown = shownFiles().flatMap((path) =>
    [...read(path).matchAll(VERSION)].map(([, , version = '']) => ({ path, version })),
  );
  const npm = Object.entries(OF_NPM).flatMap(([path, times]) =>
    [...read(path).matchAll(/^ +"version": "(.+)",?$/gm)]
      .slice(0, times)
      .map(([, version = '']) => ({ path, version })),
  );
  return [...npm, ...shown];
}

function shownFiles(): readonly string[] {
  return globSync(SHOWN, { cwd: ROOT, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1));
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function setVersion(version: string): void {
  for (const path of shownFiles()) {
    const text = read(path);
    const next = text.replaceAll(VERSION, (_, before: string) => `${before}${version}`);
    if (next !== text) writeFileSync(join(ROOT, path), next);
  }
  for (const [path, times] of Object.entries(OF_NPM)) {
    let left = times;
    const next = read(path).replaceAll(
      /^( +"version": ").+(",?)$/gm,
      (line, before: string, after: string) => (left-- > 0 ? `${before}${version}${after}` : line),
    );
    writeFileSync(join(ROOT, path), next);
  }
}

if (import.meta.main) {
  const [, , version = ''] = process.argv;
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    throw new Error('Say which: node tools/set-version.ts 1.0.0');
  setVersion(version);
}
