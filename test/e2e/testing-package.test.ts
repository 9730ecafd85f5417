/**
 * `waybill/client/testing` as the package has it, and the recipes of docs/testing.md, each run as it stands there, beside
 * a small application (test/peers/shop).
 */
import { execFile, spawn } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { Inbox } from '../../src/client/testing/inbox.ts';
import { BROWSER, describeIf, describeWith, locate } from '../peers/need.ts';
import type { CommandEnd } from '../peers/server.ts';
import { installPackage, linkPackage, ownEnvironment } from '../support/package.ts';
import { recipesIn, works } from '../support/recipes.ts';
import { createKey, type Service, startService } from './service.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const SHOP = join(import.meta.dirname, '../peers/shop');
const RECIPES = recipesIn('testing.md');
const CONFIGURATION = `
api: { port: 0, bind: ["127.0.0.1"] }
webui: { port: null }
listener: { ports: [0], bind: ["127.0.0.1"], allow_insecure_auth: true }
`;
/** What programs beside the package use. */
const LINKED = ['vitest', 'expect', '@playwright/test', '@types/node', 'undici-types'];
const JUNIT = '/usr/share/java/junit-platform-console-standalone.jar';
const python = ['/usr/bin/python3', 'python3'].find((path) => works(path, '-c', 'import pytest, requests'));

let service: Service;
let key: string;
let folder: string;
beforeAll(async () => {
  service = await startService(CONFIGURATION);
  key = await createKey(service.installation, 'tests', '--test');
  folder = mkdtempSync(join(tmpdir(), 'waybill-testing-'));
  await installPackage(folder);
  for (const name of LINKED) linkPackage(name, folder);
}, 180_000);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await service.stop();
});

test.each([
  ['required', 'jest.cjs', 'require'],
  ['imported', 'jest.mjs', 'await import'],
])('the matchers are added to Jest’s expect where they are %s', async (_, name, load) => {
  const place = workplace({
    [name]: `
globalThis.expect = (${load}('expect')).expect;
${load}('waybill/client/testing/jest');
const { inbox } = ${load}('waybill/client/testing');
import('./shop.mjs').then(async ({ signUp }) => {
  await signUp('${name}@example.com');
  await expect(inbox).toHaveMail({ to: '${name}@example.com' });
  const mail = await inbox.latest({ to: '${name}@example.com' });
  expect(mail).not.toHaveLink('Cancel');
  await expect(expect(inbox).not.toHaveMail({ to: /^jest/ })).rejects.toThrow('should not');
  expect(mail).toHaveCode('12');
}).catch((error) => console.log(error.message));`,
  });
  const ended = await runIn(place, process.execPath, name);
  expect([ended.stderr, ended.stdout]).toEqual([
    '',
    `There is no code "12" in the mail "Your code" to ${name}@example.com.\nIts codes:\n  "135790"\nIts text: "Your code is 135790.\\n\\nConfirm: https://shop.example/confirm?token=abc"\n`,
  ]);
});

test('only the entry for Vitest loads what is not ours', () => {
  const place = join(folder, 'node_modules/waybill/dist');
  const files = globSync(['client/testing/*.js', 'commonjs/client/**/*.js'], { cwd: place });
  const foreign = files.flatMap((file) =>
    [
      ...readFileSync(join(place, file), 'utf8').matchAll(/(?:from |require\(|^import )['"]([^.'"][^'"]*)/gm),
    ].map(([, name]) => `${file}: ${name}`),
  );
  expect(files.length).toBeGreaterThan(20);
  expect(foreign).toEqual(['client/testing/vitest.js: vitest']);
});

/** A program whose types must hold, and whose mistakes must be found. */
const TYPED = `
import { inbox, type Mail } from 'waybill/client/testing';
const mail: Mail = await inbox.waitFor({ to: 'a@example.com', subject: /x/, timeoutMs: 1 });
expect(mail).toHaveLink(/x/);
expect(mail).not.toHaveAttachment('a', { sizeBytes: 1 });
await expect(inbox).toHaveMail({ to: /x/ });
await expect(inbox.latest()).resolves.toHaveCode();
const bytes: Uint8Array = await mail.attachment('a');
export const all: readonly string[] = [...mail.codes, mail.link('x'), String(bytes.length)];
// @ts-expect-error: there is no such name.
inbox.none({ until: 1 });
// @ts-expect-error: a header has a name.
expect(mail).toHaveHeader();
`;

test.each([
  ['Vitest', "import { expect } from 'vitest';\nimport 'waybill/client/testing/vitest';"],
  ['Jest', "import { expect } from 'expect';\nimport 'waybill/client/testing/jest';"],
  [
    'Playwright',
    "import { expect as base } from '@playwright/test';\nimport { matchers } from 'waybill/client/testing';\nconst expect = base.extend(matchers);",
  ],
])('the matchers have types in %s', async (_, head) => {
  const compilerOptions = {
    target: 'es2022',
    module: 'nodenext',
    moduleResolution: 'nodenext',
    lib: ['es2022', 'dom'],
    types: ['node'],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
  };
  const place = workplace({
    'typed.mts': head + TYPED,
    'tsconfig.json': JSON.stringify({ compilerOptions, files: ['typed.mts'] }),
  });
  const compiled = await runIn(
    place,
    process.execPath,
    join(ROOT, 'node_modules/typescript/bin/tsc'),
    '-p',
    '.',
  );
  expect(compiled).toMatchObject({ code: 0, stdout: '' });
});

test('every recipe that is marked is run', () => {
  const written = [
    'vitest',
    'playwright',
    'cypress_config',
    'pytest_fixture',
    'pytest',
    'junit',
    'github_actions',
  ];
  expect([...RECIPES.keys()].sort()).toEqual(written.map((name) => `testing_${name}`).sort());
});

test('Vitest', async () => {
  const place = workplace({ 'sign-up.test.mjs': recipe('vitest') });
  const ended = await runIn(place, process.execPath, modulePath('vitest/vitest.mjs'), 'run', '--root', place);
  expect([ended.code, ended.stdout]).toEqual([0, expect.stringMatching(/Tests .*2 passed/)]);
});

test('Cypress’s task', async () => {
  const place = workplace({
    'cypress.config.mjs': recipe('cypress_config'),
    'node_modules/cypress/package.json': '{ "exports": "./index.mjs" }',
    'node_modules/cypress/index.mjs': 'export const defineConfig = (config) => config;',
    'task.mjs': `
import config from './cypress.config.mjs';
import { signUp } from './shop.mjs';
let tasks;
config.e2e.setupNodeEvents((event, given) => { tasks = { event, ...given }; });
await signUp('joe@example.com');
console.log(JSON.stringify([tasks.event, await tasks.mail({ to: 'joe@example.com', subject: 'code' })]));
`,
  });
  const ended = await runIn(place, process.execPath, 'task.mjs');
  expect(ended.stderr).toBe('');
  expect(JSON.parse(ended.stdout)).toMatchObject(['task', { to: ['joe@example.com'], codes: ['135790'] }]);
});

describeWith([BROWSER], 'Playwright', () => {
  test('runs it', async () => {
    const place = workplace({
      'sign-up.spec.ts': recipe('playwright'),
      'playwright.config.mjs': `
import { serve } from './shop.mjs';
const { address } = process.env.SHOP ? { address: process.env.SHOP } : await serve();
process.env.SHOP = address;
const launchOptions = { executablePath: '${locate(BROWSER)}', args: ['--no-sandbox'] };
export default { workers: 1, reporter: 'line', use: { baseURL: address, launchOptions } };
`,
    });
    const ended = await runIn(place, process.execPath, modulePath('@playwright/test/cli.js'), 'test');
    expect([ended.code, ended.stdout]).toEqual([0, expect.stringMatching(/1 passed/)]);
  });
});

describeIf(python !== undefined, 'python3-pytest, python3-requests', 'pytest', () => {
  test('runs it', async () => {
    const place = workplace({ 'conftest.py': recipe('pytest_fixture'), 'test_sign_up.py': recipe('pytest') });
    const ended = await runIn(place, python ?? '', '-m', 'pytest', '-q', '-p', 'no:cacheprovider');
    expect([ended.code, ended.stdout]).toEqual([0, expect.stringMatching(/2 passed/)]);
  });
});

describeIf(works('javac', '-cp', JUNIT, '--version') && works('test', '-e', JUNIT), 'junit5', 'JUnit', () => {
  test('runs it', async () => {
    const place = workplace({ 'SignUpTest.java': recipe('junit') });
    const compiled = await runIn(place, 'javac', '-cp', JUNIT, '-d', '.', 'SignUpTest.java', 'Shop.java');
    expect(compiled).toMatchObject({ code: 0 });
    const ended = await runIn(place, 'java', '-jar', JUNIT, '-cp', '.', '-c', 'SignUpTest');
    expect([ended.code, ended.stdout]).toEqual([0, expect.stringMatching(/2 tests successful/)]);
  });
});

test('GitHub’s step starts a server, and says where it is', async ({ onTestFinished }) => {
  const { jobs } = parse(recipe('github_actions')) as Workflow;
  const step = jobs.test.steps.find(({ name }) => name === 'Start Waybill');
  const place = workplace({ 'step.sh': step?.run ?? '', environment: '' });
  const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', 'step.sh'], {
    cwd: place,
    env: { ...ownEnvironment(), GITHUB_ENV: join(place, 'environment') },
    // A group of its own, so that the server it leaves behind can be ended.
    detached: true,
    stdio: 'ignore',
  });
  onTestFinished(() => void process.kill(-(child.pid ?? 0), 'SIGTERM'));
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
  const told = readFileSync(join(place, 'environment'), 'utf8');
  const [, url, own] = /^WAYBILL_URL=(http:.*)\nWAYBILL_TEST_KEY=(wb_test_\w+)\n$/.exec(told) ?? [];
  const inbox = new Inbox({ url, key: own });
  expect(await inbox.latest()).toBeNull();
});

/** A workflow of GitHub's, as far as it is run here. */
interface Workflow {
  readonly jobs: {
    readonly test: { readonly steps: readonly { readonly name?: string; readonly run?: string }[] };
  };
}

function recipe(name: string): string {
  return RECIPES.get(`testing_${name}`) ?? '';
}

/** A folder with the application, the installed package and some files. */
function workplace(files: Readonly<Record<string, string>>): string {
  const place = mkdtempSync(join(folder, 'place-'));
  cpSync(SHOP, place, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(place, name, '..'), { recursive: true });
    writeFileSync(join(place, name), text);
  }
  return place;
}

/** A file of a package that is installed. */
function modulePath(path: string): string {
  return join(folder, 'node_modules', path);
}

async function runIn(cwd: string, program: string, ...args: readonly string[]): Promise<CommandEnd> {
  const env = {
    ...ownEnvironment(),
    NO_COLOR: '1',
    WAYBILL_URL: service.server.api,
    WAYBILL_TEST_KEY: key,
    SMTP_PORT: String(service.server.runtime.smtp[0]),
  };
  return await run(program, args, { cwd, env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (failed: CommandEnd) => failed,
  );
}
