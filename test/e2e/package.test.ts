/** The package as npm packs it, installed in a folder of its own. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeIf } from '../peers/need.ts';
import { Installation, RunningServer } from '../peers/server.ts';
import { installPackage, linkPackage, ownEnvironment, packageJson, packTree } from '../support/package.ts';
import { createKey } from './service.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const CONFIGURATION = `
api: { port: 0, bind: ["127.0.0.1"] }
webui: { port: null }
listener: { ports: [] }
`;

/** A program that uses the package; it prints what became of its message. */
const PROGRAM = `
import { Waybill, unwrap, WaybillError } from 'waybill/client';

const [url, key] = process.argv.slice(2);
const mail = new Waybill({ url, key });
const { id } = unwrap(await mail.send({ from: 'a@example.com', to: 'b@example.net', text: 'From a package.' }));
const { status, outcome } = unwrap(await mail.wait(id));
const refused = await mail.send({ from: 'nobody', to: 'b@example.net', text: 'x' });
const thrown = await mail.list({ limit: 1000 }).next().catch((error) => error);
console.log(JSON.stringify({ status, outcome, code: refused.error.code, thrown: thrown instanceof WaybillError }));
`;

/** A program whose types must hold, and whose mistake must be found. */
const TYPED_PROGRAM = `
import { readFileSync } from 'node:fs';
import { type ClientError, type Message, type Result, type StatusRecord, unwrap, Waybill } from 'waybill/client';

const mail = new Waybill({ url: 'http://localhost:8025', key: 'wb_live_x', timeoutMs: 5000 });
const message: Message = {
  from: 'a@example.com',
  to: ['b@example.net'],
  html: '<p>Hi</p>',
  attachments: [{ filename: 'a.pdf', content: readFileSync('a.pdf') }, { content: new Blob(['x']) }],
  sendAt: new Date(),
  tags: ['a'],
};
const sent = await mail.send(message, { idempotencyKey: 'order-1', signal: AbortSignal.abort() });
if (!sent.ok && sent.error.kind === 'problem') for (const { pointer } of sent.error.errors) pointer.slice(1);
export const result: Result<StatusRecord> = await mail.wait(unwrap(sent).id);
export const error: ClientError | null = result.ok ? null : result.error;
for await (const { id, status } of mail.list({ status: ['failed'], since: new Date(0) })) id.concat(status);
await mail.sendRaw(readFileSync('mail.eml'), { from: 'a@example.com', to: 'b@example.net' });
const { results } = unwrap(await mail.sendBatch([message]));
for (const item of results) if ('error' in item) item.error.code.slice(1);
// @ts-expect-error: there is no such status.
mail.list({ status: 'sent' });
`;

/** A Node.js that is older than the server needs: the one that is not ours, if there is one. */
const olderNode = findOlderNode();

let folder: string;
let waybill: string;
let installation: Installation;
let server: RunningServer;
let key: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'waybill-package-'));
  waybill = await installPackage(folder);
  linkPackage('@types/node', folder);
  linkPackage('undici-types', folder);
  installation = new Installation(CONFIGURATION);
  server = await serveFromPackage(waybill, installation);
  key = await createKey(installation, 'app');
  writeFileSync(join(folder, 'program.mjs'), PROGRAM);
}, 300_000);
afterAll(async () => {
  await server.end('SIGKILL');
  installation.remove();
  rmSync(folder, { recursive: true });
});

test('waybill serve runs from the package, and its commands talk to it', async () => {
  expect((await run(waybill, ['--version'], { env: ownEnvironment() })).stdout).toBe(
    `${packageJson().version}\n`,
  );
  const send = [
    'send',
    '--from',
    'a@example.com',
    '--to',
    'b@example.net',
    '--text',
    'x',
    '--wait',
    '--json',
  ];
  const { stdout } = await run(waybill, [...send, '--data', installation.dataDir], { env: ownEnvironment() });
  expect(JSON.parse(stdout)).toMatchObject({ status: 'delivered', outcome: 'captured' });
});

test('the package brings the dashboard’s page, and nothing is built when it starts', () => {
  const place = join(folder, 'node_modules/waybill/dist/web');
  expect(readdirSync(place).sort()).toEqual(['assets', 'favicon.svg', 'first.js', 'index.html']);
  const page = readFileSync(join(place, 'index.html'), 'utf8');
  const [script = ''] = /\/assets\/[\w.-]+\.js/.exec(page) ?? [];
  expect(existsSync(join(place, script))).toBe(true);
});

test('a program sends with waybill/client', async () => {
  expect(await runProgram(process.execPath)).toEqual(EXPECTED);
});

test('a program that requires the client has it, too', async () => {
  for (const node of [process.execPath, ...(olderNode === null ? [] : [olderNode])]) {
    const load =
      "const { Waybill, unwrap } = require('waybill/client'); console.log(Waybill.name, unwrap.name);";
    expect((await run(node, ['-e', load], { cwd: folder })).stdout).toBe('Waybill unwrap\n');
  }
});

describeIf(olderNode !== null, 'an older Node.js', "with the machine's own Node.js", () => {
  test('a program sends with waybill/client', async () => {
    expect(await runProgram(olderNode ?? '')).toEqual(EXPECTED);
  });
});

test.for([
  ['with Node.js types', { lib: ['es2022'], types: ['node'] }],
  ['with browser types', { lib: ['es2022', 'dom', 'dom.iterable'], types: ['node'] }],
] as const)('the types serve a strict program %s', async ([, libraries]) => {
  const compilerOptions = {
    ...libraries,
    target: 'es2022',
    module: 'nodenext',
    moduleResolution: 'nodenext',
    strict: true,
    noEmit: true,
  };
  writeFileSync(join(folder, 'typed.mts'), TYPED_PROGRAM);
  writeFileSync(join(folder, 'documented.mts'), documentedProgram());
  const files = ['typed.mts', 'documented.mts'];
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const tsc = [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder];
  const { stdout } = await run(process.execPath, tsc).catch((failed: { stdout: string }) => failed);
  expect(stdout).toBe('');
});

test('what the types are declared with is old enough for TypeScript 5', () => {
  const place = join(folder, 'node_modules/waybill/dist/client');
  const declared = declarationsFrom('entry.d.ts', place);
  expect([...declared.keys()]).toContain('message.d.ts');
  const recent = [...declared].filter(([, text]) => /Uint8Array<|\bMachine\b/.test(text));
  expect(recent.map(([name]) => name)).toEqual([]);
});

test('the package holds the program and the client, and no sources or tests', () => {
  const inside = readdirSync(join(folder, 'node_modules/waybill'), { recursive: true, encoding: 'utf8' });
  expect(inside.filter((path) => /(?<!\.d)\.ts$|\.test\./.test(path))).toEqual([]);
  // What the program compiled while it ran here is kept in a folder that was not there before.
  const outermost = inside.filter((path) => !path.includes('/') && path !== 'node_modules');
  expect(outermost.sort()).toEqual([
    'ARCHITECTURE.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'LICENSE',
    'NOTICE',
    'README.md',
    'SECURITY.md',
    'bench',
    'deploy',
    'dist',
    'docs',
    'package.json',
    'tools',
    'waybill',
  ]);
});

test('every document that a document of the package names is in it', () => {
  const place = join(folder, 'node_modules/waybill');
  const documents = readdirSync(place, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.md'),
  );
  const dead = documents.flatMap((path) => {
    const links = readFileSync(join(place, path), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g);
    const targets = [...links].map(([, target = '']) => join(place, dirname(path), target));
    return targets.filter((target) => !existsSync(target)).map((target) => `${path}: ${target}`);
  });
  expect(documents).toContain('docs/client.md');
  expect(dead).toEqual([]);
});

test('the server calls itself as it is called where it was installed', async () => {
  await server.printed(/^ {2}KEY=\$\(waybill keys create /m);
});

test('a fresh clone packs: what that takes is installed first', async () => {
  const { stdout } = await run('tar', ['-tzf', await packTree(folder)]);
  const files = stdout.split('\n');
  for (const made of ['client/entry.js', 'web/index.html']) expect(files).toContain(`package/dist/${made}`);
});

const EXPECTED = { status: 'delivered', outcome: 'captured', code: 'invalid_submission', thrown: true };

/** The examples of the client's document, one behind the other. */
function documentedProgram(): string {
  const document = readFileSync(join(ROOT, 'docs/client.md'), 'utf8');
  const examples = [...document.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = '']) => code);
  return [
    ...examples,
    "import type { Message } from 'waybill/client';\ndeclare const message: Message;",
  ].join('\n');
}

/** A declaration file and all that it needs, with their texts. */
function declarationsFrom(
  name: string,
  place: string,
  found = new Map<string, string>(),
): Map<string, string> {
  if (found.has(name)) return found;
  const text = readFileSync(join(place, name), 'utf8');
  found.set(name, text);
  for (const [, next = ''] of text.matchAll(/from '\.\/([\w-]+)\.ts'/g))
    declarationsFrom(`${next}.d.ts`, place, found);
  return found;
}

async function runProgram(node: string): Promise<unknown> {
  const { stdout } = await run(node, ['program.mjs', server.api, key], { cwd: folder });
  return JSON.parse(stdout);
}

async function serveFromPackage(command: string, { dataDir }: Installation): Promise<RunningServer> {
  const child = spawn(command, ['serve', '--data', dataDir], { env: ownEnvironment() });
  const started = new RunningServer(child, dataDir);
  await started.ready();
  return started;
}

function findOlderNode(): string | null {
  const folders = ['/usr/bin', '/usr/local/bin', ...(process.env['PATH'] ?? '').split(delimiter)];
  return folders.map((folder) => join(folder, 'node')).find(isOlder) ?? null;
}

function isOlder(node: string): boolean {
  try {
    const version = execFileSync(node, ['--version'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const major = Number(version.slice(1).split('.', 1)[0]);
    return major >= 18 && major < 24;
  } catch {
    return false;
  }
}
