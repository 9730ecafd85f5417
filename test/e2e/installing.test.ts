/** What tools/env.sh does before anything of ours can run: whose packages it may touch. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('packages are not installed through a link: that would empty those of another tree', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-installing-'));
  context.onTestFinished(() => rmSync(folder, { recursive: true }));
  const others = join(folder, 'others');
  const clone = join(folder, 'clone');
  for (const place of [others, join(clone, 'tools'), join(clone, 'src'), join(folder, 'programs')])
    mkdirSync(place, { recursive: true });
  cpSync(join(ROOT, 'waybill'), join(clone, 'waybill'));
  cpSync(join(ROOT, 'tools/env.sh'), join(clone, 'tools/env.sh'));
  writeFileSync(join(clone, 'package-lock.json'), '{}');
  symlinkSync(others, join(clone, 'node_modules'));
  // Stands in for npm, which must not be called.
  const called = join(folder, 'called');
  writeFileSync(join(folder, 'programs/npm'), `#!/bin/sh\ntouch ${called}\n`, { mode: 0o755 });
  const path = [join(folder, 'programs'), dirname(process.execPath), process.env['PATH']].join(':');
  const run = spawnSync(join(clone, 'waybill'), ['--version'], { env: { PATH: path }, encoding: 'utf8' });
  expect(run.status).toBe(1);
  expect(run.stderr).toContain('node_modules is a link');
  expect([existsSync(called), existsSync(join(clone, '.installing'))]).toEqual([false, false]);
});
