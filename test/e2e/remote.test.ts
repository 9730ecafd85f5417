/** Commands that talk to a server far away, through its API. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { json as answer, type Fault, FaultyApi, problem } from '../peers/faulty-api.ts';
import { freePort } from '../peers/free-port.ts';
import { type CommandEnd, MAIN, runCommand } from '../peers/server.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { configurationFor, createKey, type Service, startService } from './service.ts';

const LETTER = ['--from', 'a@example.com', '--to', 'b@example.net', '--subject', 'Far', '--text', 'hi'];

let sink: SmtpSink;
let service: Service;
let folder: string;
let far: string[];
beforeAll(async () => {
  sink = await startSmtpSink();
  service = await startService(configurationFor(sink.port));
  folder = mkdtempSync(join(tmpdir(), 'waybill-remote-'));
  const keyFile = join(folder, 'key');
  writeFileSync(keyFile, `${await createKey(service.installation, 'far')}\n`);
  far = ['--url', service.server.api, '--key-file', keyFile];
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await service.stop();
  await sink.close();
});

test('a message is sent with all that send can say, shown and listed', async () => {
  const attachment = join(folder, 'note.txt');
  writeFileSync(attachment, 'note');
  const more = ['--cc', 'c@example.net', '--bcc', 'd@example.net', '--header', 'Reply-To: r@example.com'];
  const options = [...more, '--tag', 'far', '--attach', attachment, '--wait'];
  const record = await json('send', ...LETTER, ...options);
  expect(record).toMatchObject({ status: 'delivered', outcome: 'accepted', tags: ['far'], source: 'api' });
  const content = String(sink.messages.at(-1)?.content);
  expect(content).toMatch(/^Reply-To: r@example\.com\r$/m);
  expect(content).toMatch(/^Content-Disposition: attachment; filename="?note\.txt/m);
  expect(content).not.toContain('d@example.net');

  const id = String(record['id']);
  expect(await json('messages', 'show', id)).toEqual(record);
  expect(await json('messages', 'attempts', id)).toMatchObject({ attempts: [{ number: 1, relay: 'out' }] });
  const text = await waybill('messages', 'list', '--tag', 'far', '--status', 'delivered');
  expect(text).toMatchObject({ code: 0, stdout: expect.stringContaining(id) });
});

test('a kept message is read and sent once more there, as far as the key may', async () => {
  const { id } = await json('send', ...LETTER, '--wait');
  const resend = ['messages', 'resend', String(id), '--idempotency-key', 'again'];
  const again = await json(...resend);
  expect(again['id']).not.toBe(id);
  expect(await json(...resend)).toEqual({ ...again, replayed: true });
  const content = ['messages', 'content', String(id)];
  const refused = await waybill(...content);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('messages:content')]);
  const reader = join(folder, 'reader');
  const scopes = ['--scope', 'messages:content', '--scope', 'messages:read_all'];
  const made = await service.installation.run('keys', 'create', 'reader', ...scopes, '--quiet');
  writeFileSync(reader, made.stdout);
  const url = ['--url', service.server.api, '--key-file', reader];
  const { code, stdout } = await run(...content, ...url);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/\r\n\r\nhi\r\n$/)]);
});

test('a configuration is planned, applied and exported there, by a key that may administer', async () => {
  const [file, keyFile] = [join(folder, 'mail.yaml'), join(folder, 'admin')];
  const made = await service.installation.run('keys', 'create', 'admin', '--scope', 'admin', '--quiet');
  writeFileSync(keyFile, made.stdout);
  writeFileSync(file, "keys: [ { name: declared, scopes: [ 'messages:send' ] } ]");
  const there = (...args: string[]) => run(...args, '--url', service.server.api, '--key-file', keyFile);
  const plan = JSON.parse((await there('plan', file, '--json')).stdout);
  expect(plan.changes).toMatchObject([{ section: 'keys', name: 'declared', action: 'add' }]);
  const applied = await there('apply', file, '--plan', plan.hash);
  expect(applied.stdout).toMatch(/^Key declared: wb_live_\w+$/m);
  const again = await there('apply', file, '--plan', plan.hash);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('now: nothing would change')]);
  expect((await there('export', '--only', 'keys')).stdout).toContain('- name: declared\n    scopes:');
  const refused = await waybill('plan', file);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('admin')]);
});

test('templates are pushed there, published, rendered and pulled', async () => {
  const keyFile = join(folder, 'editor');
  const scopes = ['--scope', 'templates:read', '--scope', 'templates:write'];
  const made = await service.installation.run('keys', 'create', 'editor', ...scopes, '--quiet');
  writeFileSync(keyFile, made.stdout);
  const templates = (...args: string[]) =>
    run('templates', ...args, '--url', service.server.api, '--key-file', keyFile);
  const dir = join(folder, 'templates');
  mkdirSync(join(dir, 'welcome'), { recursive: true });
  writeFileSync(join(dir, 'welcome', 'subject.txt'), 'Welcome, {{name}}\n');
  writeFileSync(join(dir, 'welcome', 'body.html'), '<p>Hello {{name}}</p>\n');
  expect(await templates('push', dir, '--publish')).toMatchObject({
    code: 0,
    stdout: 'welcome: saved as version 1, new\n',
  });
  expect((await templates('publish', 'welcome', '1')).stdout).toBe('welcome is sent in version 1.\n');
  rmSync(dir, { recursive: true });
  expect((await templates('pull', dir)).stdout).toBe('welcome: version 1\n');
  const values = join(folder, 'values.json');
  writeFileSync(values, '{"name": "Ann"}');
  expect((await templates('render', 'welcome', '--variables', values)).stdout).toMatch(
    /^Subject: Welcome, Ann\n/,
  );
  const refused = await templates('publish', 'welcome', '9');
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('has no version 9')]);
});

test('pages follow each other', async () => {
  for (const tag of ['page', 'page', 'page']) await json('send', ...LETTER, '--tag', tag);
  const first = await json('messages', 'list', '--tag', 'page', '--limit', '2');
  expect(first['messages']).toHaveLength(2);
  const second = await json(
    'messages',
    'list',
    '--tag',
    'page',
    '--limit',
    '2',
    '--before',
    String(first['next']),
  );
  expect(second).toMatchObject({ messages: [{ subject: 'Far' }], next: null });
});

test('a message that waits is cancelled, and retried', async () => {
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  const scheduled = String((await json('send', ...LETTER, '--send-at', soon))['id']);
  expect(await json('messages', 'cancel', scheduled)).toMatchObject({
    status: 'failed',
    outcome: 'cancelled',
  });
  const again = await waybill('messages', 'cancel', scheduled);
  expect([again.code, again.stdout]).toEqual([1, '']);
  expect((await waybill('messages', 'retry', scheduled)).code).toBe(0);
});

test('the same idempotency key sends once', async () => {
  const first = await json('send', ...LETTER, '--idempotency-key', 'order 1');
  expect(await json('send', ...LETTER, '--idempotency-key', 'order 1')).toMatchObject({
    id: first['id'],
    replayed: true,
  });
});

test('a dry run shows the way, far away and here, and sends nothing', async () => {
  // What was sent before may still be on its way.
  const sent = async () => {
    const { messages } = (await json('messages', 'list')) as { messages: { id: string }[] };
    return messages.map(({ id }) => id);
  };
  const before = await sent();
  const verdict = { dryRun: true, captured: false, recipients: [{ address: 'b@example.net', relay: 'out' }] };
  expect(await json('send', ...LETTER, '--dry-run')).toMatchObject(verdict);
  const here = await service.installation.run('send', ...LETTER, '--dry-run', '--json');
  expect(JSON.parse(here.stdout)).toMatchObject(verdict);
  expect((await waybill('send', ...LETTER, '--dry-run')).stdout).toMatch(/b@example\.net +to +out +default/);
  expect(await sent()).toEqual(before);
});

test('a finished message goes as it is', async () => {
  const file = join(folder, 'mail.eml');
  writeFileSync(file, 'From: Raw <a@example.com>\r\nSubject: Raw\r\nX-Mine: yes\r\n\r\nAs it is.\r\n');
  const record = await json(
    'send',
    '--from',
    'a@example.com',
    '--to',
    'b@example.net',
    '--raw',
    file,
    '--wait',
  );
  expect(record).toMatchObject({ status: 'delivered', subject: 'Raw' });
  const verdict = await json(
    'send',
    '--from',
    'a@example.com',
    '--to',
    'b@example.net',
    '--raw',
    file,
    '--dry-run',
  );
  expect(verdict).toMatchObject({ dryRun: true, recipients: [{ address: 'b@example.net', relay: 'out' }] });
  expect(String(sink.messages.at(-1)?.content)).toMatch(/^X-Mine: yes\r$[\s\S]*^As it is\.\r$/m);
});

test('the key can come by the standard input, and late', async () => {
  const command = [MAIN, 'messages', 'list', '--url', service.server.api, '--key-file', '-', '--json'];
  const child = spawn(process.execPath, command, { stdio: 'pipe' });
  const [out, err] = [text(child.stdout), text(child.stderr)];
  // Another command begins and ends meanwhile: this one has long been waiting for its key.
  await waybill('messages', 'list');
  child.stdin.end(`${service.client.key}\n`);
  expect(await err).toBe('');
  expect(JSON.parse(await out)).toMatchObject({ next: null });
});

test('a file that is no key is not read to its end', async () => {
  const endless = await run('messages', 'list', '--url', service.server.api, '--key-file', '/dev/zero');
  expect(endless).toMatchObject({ code: 1, stderr: expect.stringContaining('too long for a key') });
});

test('what was accepted is told although its end cannot be learned', async () => {
  const lost = () => [null, ...Array.from({ length: 99 }, () => ({ kind: 'drop' as const }))];
  const api = await FaultyApi.start();
  api.faults = lost();
  const told = await run('send', ...LETTER, ...at(api), '--wait', '1');
  expect(told).toMatchObject({ code: 1, stdout: 'msg_1\n' });
  expect(told.stderr).toMatch(/^Accepted as msg_1, but the outcome is unknown: .*lost/);
  api.faults = lost();
  const json = await run('send', ...LETTER, ...at(api), '--wait', '1', '--json');
  expect(JSON.parse(json.stdout)).toMatchObject({
    id: 'msg_2',
    message: expect.stringContaining('the outcome is unknown'),
  });
});

test.for<[string, boolean, ...Fault[]]>([
  ['an answer that was lost', true, ...Array.from({ length: 9 }, () => ({ kind: 'drop-after' as const }))],
  ['a clear refusal', false, problem(403, 'scope_missing')],
])('%s: to be repeated under its key %s', async ([, unclear, ...faults]) => {
  const api = await FaultyApi.start();
  api.faults = faults;
  const { code, stdout, stderr } = await run('send', ...LETTER, ...at(api), '--idempotency-key', 'order 1');
  expect([code, stdout]).toEqual([1, '']);
  const cure = "It may have been accepted; repeat it with --idempotency-key 'order 1'";
  expect(stderr.includes(cure)).toBe(unclear);
});

test('a far server cannot command the terminal', async () => {
  const api = await FaultyApi.start();
  const evil = '\u001b[2Jgone\u0007';
  api.faults = [answer(202, { id: `msg_${evil}`, message: evil, status: 'queued' })];
  const sent = await run('send', ...LETTER, ...at(api));
  api.faults = [
    answer(400, { code: evil, detail: evil, errors: [{ pointer: `/${evil}`, code: 'x', detail: evil }] }),
  ];
  const refused = await run('send', ...LETTER, ...at(api));
  api.faults = [answer(200, { messages: [], hasMore: true, nextCursor: evil })];
  const listed = await run('messages', 'list', ...at(api));
  for (const { stdout, stderr } of [sent, refused, listed]) {
    expect(stdout + stderr).not.toMatch(/[\x00-\x09\x0b-\x1f]/);
  }
  expect([sent.code, refused.code]).toEqual([0, 2]);
  expect(refused.stderr).toContain('gone');
});

test('refusals say why, and keep the key to themselves', async () => {
  expect(await waybill('send', '--from', 'nobody', '--to', 'b@example.net', '--text', 'x')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^from: /),
  });
  expect(await waybill('messages', 'show', 'msg_none')).toMatchObject({ code: 1, stdout: '' });
  const wrong = join(folder, 'wrong');
  writeFileSync(wrong, 'wb_live_wrong');
  const refused = await run('messages', 'list', '--url', service.server.api, '--key-file', wrong);
  expect(refused).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.not.stringContaining('wb_live_wrong'),
  });
  const nobodys = `http://127.0.0.1:${await freePort()}`;
  const nobody = await run('messages', 'list', '--url', nobodys, '--key-file', wrong);
  expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining('could not be reached') });
});

test.for<[string, string[]]>([
  ['--url without a key', ['messages', 'list', '--url', 'http://localhost:8025']],
  ['a key without --url', ['messages', 'list', '--key-file', 'key']],
  ['--url that is none', ['messages', 'list', '--url', 'localhost:8025', '--key-file', '/dev/null']],
  [
    'both here and far away',
    ['messages', 'list', '--url', 'http://x', '--key-file', 'key', '--data', 'data'],
  ],
  ['--raw here', ['send', '--from', 'a@example.com', '--to', 'b@example.net', '--raw', MAIN]],
  ['--raw with a subject', ['send', ...LETTER, '--raw', MAIN]],
  ['a header without a colon', ['send', ...LETTER, '--header', 'X-Mine']],
])('%s is wrong usage', async ([, args]) => {
  const { code, stdout, stderr } = await run(...args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).not.toBe('');
});

async function json(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await waybill(...args, '--json');
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

/** A command on the server far away. */
function waybill(...args: readonly string[]): Promise<CommandEnd> {
  return run(...args, ...far);
}

/** Options that name a server that misbehaves. */
function at({ url }: FaultyApi): string[] {
  return ['--url', url, ...far.slice(2)];
}

/** A command that knows of no installation. */
function run(...args: readonly string[]): Promise<CommandEnd> {
  return runCommand(args, { WAYBILL_DATA: join(folder, 'none') });
}
