/** What tools/env.sh does before anything of ours can run: whose packages it may touch, and when it builds the page. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
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
  for (const tool of ['tools/env.sh', 'tools/check-install.ts']) cpSync(join(ROOT, tool), join(clone, tool));
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
  rmSync(join(clone, 'dist/web'), { recursive: true });
  expect([run(['dev', '--json']).stdout, page(), builds()]).toEqual(['started\n', 'two', 4]);
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

/**
 * A clone that needs one package, which prints a line, and a stand-in for npm that does what `npm.sh` says. `npm` writes
 * that: by default it installs the package whole.
 */
function cloneToInstall(folder: string) {
  const clone = join(folder, 'clone');
  const programs = join(folder, 'programs');
  for (const place of ['tools/node', 'src']) mkdirSync(join(clone, place), { recursive: true });
  mkdirSync(programs);
  for (const file of ['waybill', 'tools/env.sh', 'tools/check-install.ts'])
    cpSync(join(ROOT, file), join(clone, file));
  const packages = {
    '': {},
    'node_modules/greeting': {},
    'node_modules/binding-here': { optional: true, os: [process.platform], cpu: [process.arch] },
    'node_modules/binding-elsewhere': { optional: true, os: ['plan9'] },
    'node_modules/of-elsewhere': { optional: true },
  };
  writeFileSync(join(clone, 'package-lock.json'), JSON.stringify({ packages }));
  writeFileSync(
    join(clone, 'package.json'),
    JSON.stringify({ type: 'module', dependencies: { greeting: '1.0.0' } }),
  );
  writeFileSync(join(clone, 'src/main.ts'), "import greeting from 'greeting';\nconsole.log(greeting);");
  const install = `mkdir -p ${clone}/node_modules/greeting ${clone}/node_modules/binding-here
    for name in greeting binding-here; do echo '{}' >${clone}/node_modules/$name/package.json; done
    echo 'module.exports = "started"' >${clone}/node_modules/greeting/index.js`;
  const npm = (script = install) =>
    writeFileSync(join(programs, 'npm'), `#!/bin/sh\necho x >>${folder}/calls\n${script}\n`, { mode: 0o755 });
  const path = [programs, dirname(process.execPath), process.env['PATH']].join(':');
  const run = (environment = {}) =>
    spawnSync(join(clone, 'waybill'), ['keys', 'list'], {
      env: { PATH: path, ...environment },
      encoding: 'utf8',
    });
  const calls = () => readFileSync(join(folder, 'calls'), 'utf8').length / 2;
  return { clone, programs, path, install, npm, run, calls };
}

test.for([
  ['npm fails without a network', 'exit 1', /npm ci .* failed.*npm ping.*next start tries again/],
  ['npm is killed', 'kill -9 $$', /npm ci .* failed/],
  ['npm dies with who called it', 'mkdir -p "$3/node_modules/greeting"; kill -9 $PPID', /^/],
  [
    'npm exits 0 with half a package',
    'echo "{}" | mkdir -p "$3/node_modules/greeting"',
    /greeting is missing/,
  ],
  [
    'npm exits 0 without a package for this machine',
    'INSTALL\nrm -r "$3/node_modules/binding-here"',
    /binding-here is missing/,
  ],
  [
    'npm exits 0 with a package that cannot be loaded',
    'INSTALL\necho "throw new Error(\'torn\')" >"$3/node_modules/greeting/index.js"',
    /greeting cannot be loaded: torn/,
  ],
] as const)(
  'what is installed counts once it works, and the next start tries again: %s',
  ([, script, reason], context) => {
    const folder = mkdtempSync(join(tmpdir(), 'waybill-installing-'));
    context.onTestFinished(() => rmSync(folder, { recursive: true }));
    const { clone, install, npm, run, calls } = cloneToInstall(folder);
    npm(script.replace('INSTALL', install));
    const failed = run();
    expect([failed.status, failed.stdout]).not.toEqual([0, expect.anything()]);
    expect(failed.stderr).toMatch(reason);
    expect(existsSync(join(clone, 'node_modules/.installed-lock'))).toBe(false);
    npm();
    expect(run()).toMatchObject({ status: 0, stdout: 'started\n' });
    expect(run()).toMatchObject({ status: 0, stdout: 'started\n', stderr: '' });
    expect(calls()).toBe(2);
    expect(existsSync(join(clone, '.installing'))).toBe(false);
  },
);

test('the mark of earlier packages does not outlive them, whichever package-lock.json comes back', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-installing-'));
  context.onTestFinished(() => rmSync(folder, { recursive: true }));
  const { clone, npm, run, calls } = cloneToInstall(folder);
  npm();
  expect(run().status).toBe(0);
  const before = readFileSync(join(clone, 'package-lock.json'));
  npm('rm -r "$3/node_modules/greeting"; exit 1');
  writeFileSync(join(clone, 'package-lock.json'), '{"packages":{"":{}}}');
  expect(run().status).toBe(1);
  writeFileSync(join(clone, 'package-lock.json'), before);
  npm();
  expect([run().stdout, calls()]).toEqual(['started\n', 3]);
});

test('a Node.js that npm left out without an error is asked for again by the next start', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-installing-'));
  context.onTestFinished(() => rmSync(folder, { recursive: true }));
  const { clone, programs, npm, run } = cloneToInstall(folder);
  for (const file of ['package.json', 'package-lock.json'])
    writeFileSync(join(clone, 'tools/node', file), '{}');
  writeFileSync(join(programs, 'node'), '#!/bin/sh\necho v20.1.0\n', { mode: 0o755 });
  npm('mkdir -p "$3/node_modules"');
  const failed = run();
  expect([failed.status, failed.stderr]).toEqual([1, expect.stringContaining('The next start tries again')]);
  const runtime = `node-linux-${process.arch}`;
  npm(
    `mkdir -p "$3/node_modules/${runtime}/bin" && ln -sf ${process.execPath} "$3/node_modules/${runtime}/bin/node"`,
  );
  writeFileSync(join(clone, 'package-lock.json'), '{}');
  writeFileSync(join(clone, 'package.json'), '{"type":"module"}');
  writeFileSync(join(clone, 'src/main.ts'), 'console.log("started")');
  expect(run()).toMatchObject({ status: 0, stdout: 'started\n' });
});

test('package.json asks, of a package as of a clone, for the Node.js that can fetch the one that is needed', () => {
  const { engines, devEngines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(engines).toEqual({ node: '>=18' });
  expect(devEngines.runtime).toMatchObject({ name: 'node', version: '>=18' });
  expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).toContain('Node.js 18 or newer');
});

/** A package where Node.js is too old, and a stand-in for npm that notes where it was to install, and does so. */
function packageOnOldNode(folder: string) {
  const place = join(folder, 'package');
  const programs = join(folder, 'programs');
  for (const made of [join(place, 'tools/node'), join(place, 'dist'), programs])
    mkdirSync(made, { recursive: true });
  for (const file of ['waybill', 'tools/env.sh', 'tools/node/package.json', 'tools/node/package-lock.json'])
    cpSync(join(ROOT, file), join(place, file));
  writeFileSync(join(programs, 'node'), '#!/bin/sh\necho v18.20.8\n', { mode: 0o755 });
  const bin = `node_modules/node-linux-${process.arch}/bin`;
  const npm = `#!/bin/sh
    echo "$3" >>${folder}/calls
    mkdir -p "$3/${bin}" && printf '#!/bin/sh\\necho started\\n' >"$3/${bin}/node" && chmod +x "$3/${bin}/node"`;
  writeFileSync(join(programs, 'npm'), npm, { mode: 0o755 });
  const run = (environment: Readonly<Record<string, string>>) =>
    spawnSync(join(place, 'waybill'), ['serve'], {
      env: { PATH: `${programs}:/usr/bin:/bin`, ...environment },
      encoding: 'utf8',
      // Root may write everywhere.
      ...(process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}),
    });
  const calls = () => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
  return { place, run, calls };
}

test('a package for all users brings its Node.js into the home of whoever starts it', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-installing-'));
  context.onTestFinished(() => {
    chmodSync(join(folder, 'package/tools/node'), 0o755);
    rmSync(folder, { recursive: true });
  });
  const { place, run, calls } = packageOnOldNode(folder);
  chmodSync(folder, 0o777);
  chmodSync(join(place, 'tools/node'), 0o555);
  const home = join(folder, 'home');
  mkdirSync(home);
  chmodSync(home, 0o777);

  expect(run({})).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(
      /this machine has v18\.20\.8\. It can be installed neither in .*tools\/node nor in a home directory/,
    ),
  });
  const first = run({ HOME: home });
  expect([first.status, first.stdout]).toEqual([0, 'started\n']);
  expect(first.stderr).toContain('Installing Node.js 24 (once; a minute or so)');
  expect(run({ HOME: home })).toMatchObject({ status: 0, stdout: 'started\n', stderr: '' });
  expect(calls()).toEqual([join(home, '.cache/waybill/node')]);
  // Another version of Waybill pins another Node.js.
  writeFileSync(join(place, 'tools/node/package-lock.json'), '{}');
  expect(run({ HOME: home, XDG_CACHE_HOME: join(home, '.cache') })).toMatchObject({ stdout: 'started\n' });
  expect(calls()).toHaveLength(2);
  expect(existsSync(join(home, '.cache/waybill/node/.installing'))).toBe(false);
});
