/** What tools/env.sh does before anything of ours can run: whose packages it may touch, and when it builds the page. */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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

/** A clone with a page of one line and, in the place of vite, a program that notes that it was called. */
function cloneWithPage(folder: string) {
  const clone = join(folder, 'clone');
  const vite = join(clone, 'node_modules/vite/bin');
  for (const place of ['web', 'tools', 'src/dashboard']) mkdirSync(join(clone, place), { recursive: true });
  mkdirSync(vite, { recursive: true });
  cpSync(join(ROOT, 'waybill'), join(clone, 'waybill'));
  cpSync(join(ROOT, 'tools/env.sh'), join(clone, 'tools/env.sh'));
  for (const lock of ['package-lock.json', 'node_modules/.installed-lock'])
    writeFileSync(join(clone, lock), '{}');
  writeFileSync(join(clone, 'web/index.html'), 'one');
  writeFileSync(join(clone, 'src/dashboard/contract.ts'), '');
  writeFileSync(join(clone, 'src/main.ts'), 'console.log("started")');
  const source = `import { appendFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
    const [, , , web, , out] = process.argv;
    appendFileSync('${join(folder, 'builds')}', 'x');
    if (process.env.BROKEN) process.exit(1);
    mkdirSync(out, { recursive: true });
    writeFileSync(out + '/mode', process.env.NODE_ENV);
    cpSync(web + '/index.html', out + '/index.html');`;
  writeFileSync(join(vite, 'vite.js'), source);
  writeFileSync(join(clone, 'package.json'), '{"type":"module"}');
  const path = [dirname(process.execPath), process.env['PATH']].join(':');
  const run = (args: readonly string[], environment = {}) =>
    spawnSync(join(clone, 'waybill'), args, { env: { PATH: path, ...environment }, encoding: 'utf8' });
  const builds = () =>
    existsSync(join(folder, 'builds')) ? readFileSync(join(folder, 'builds'), 'utf8').length : 0;
  const page = () => readFileSync(join(clone, 'dist/web/index.html'), 'utf8');
  return { clone, run, builds, page };
}

test('the page is built when the server is started first, and again only when it has changed', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-page-'));
  context.onTestFinished(() => rmSync(folder, { recursive: true }));
  const { clone, run, builds, page } = cloneWithPage(folder);
  expect([run(['keys', 'list']).stdout, builds()]).toEqual(['started\n', 0]);
  const first = run(['serve']);
  expect([first.status, first.stdout, page(), builds()]).toEqual([0, 'started\n', 'one', 1]);
  expect(first.stderr).toContain('Building the dashboard');
  expect([run(['--data', 'x', 'serve']).stderr, builds()]).toEqual(['', 1]);
  writeFileSync(join(clone, 'web/index.html'), 'two');
  expect([run(['serve']).status, page(), builds()]).toEqual([0, 'two', 2]);
  rmSync(join(clone, 'dist/web'), { recursive: true });
  expect([run(['serve']).status, page(), builds()]).toEqual([0, 'two', 3]);
  expect(existsSync(join(clone, '.installing'))).toBe(false);
});

test('the page is for production, and its tools are installed, whatever NODE_ENV says', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-page-'));
  context.onTestFinished(() => rmSync(folder, { recursive: true }));
  const { clone, run } = cloneWithPage(folder);
  run(['serve'], { NODE_ENV: 'development' });
  expect(readFileSync(join(clone, 'dist/web/mode'), 'utf8')).toBe('production');
  // Stands in for npm, and says what it was asked for.
  const programs = join(folder, 'programs');
  mkdirSync(programs);
  writeFileSync(join(programs, 'npm'), '#!/bin/sh\necho "$@" >&2\n', { mode: 0o755 });
  writeFileSync(join(clone, 'package-lock.json'), '{"changed":true}');
  const path = [programs, dirname(process.execPath), process.env['PATH']].join(':');
  const again = run(['serve'], { NODE_ENV: 'production', PATH: path });
  expect([again.status, again.stderr]).toEqual([0, expect.stringContaining('--include=dev')]);
});

test('a page that cannot be built keeps no server from starting, nor takes the one before away', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-page-'));
  context.onTestFinished(() => rmSync(folder, { recursive: true }));
  const { clone, run, page } = cloneWithPage(folder);
  run(['serve']);
  writeFileSync(join(clone, 'web/index.html'), 'two');
  const broken = run(['serve'], { BROKEN: '1' });
  expect([broken.status, broken.stdout, page()]).toEqual([0, 'started\n', 'one']);
  expect(broken.stderr).toContain('The server starts without it');
});
