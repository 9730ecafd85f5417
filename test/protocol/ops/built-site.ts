/** A small page, as a build leaves one. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Of an asset, long enough to be compressed. */
export const SCRIPT = `/* a script */\n${'call("something");\n'.repeat(200)}`;
/** Long enough as well. */
export const PAGE = `<!doctype html><title>Waybill</title><script type="module" src="/assets/main-1a2b.js"></script>${'<p>Hi'.repeat(500)}`;

/** A folder with a built page; removed after the test. */
export function builtSite(): string {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-site-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), PAGE);
  writeFileSync(join(folder, 'first.js'), 'void 0;\n');
  writeFileSync(join(folder, '.hidden'), 'not to be served');
  writeFileSync(join(folder, 'assets/main-1a2b.js'), SCRIPT);
  return folder;
}
