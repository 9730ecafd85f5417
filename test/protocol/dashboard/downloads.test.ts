/** What can be downloaded, and previews: under which names and policies, and what a broken one looks like. */

import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createDownloads } from '../../../src/app/dashboard.ts';
import type { Downloads } from '../../../src/dashboard/downloads.ts';
import type { StreamedBody } from '../../../src/http/stream.ts';
import { OperationError } from '../../../src/operations/call.ts';
import { parseMessage } from '../../../src/preview/parse.ts';
import { DOCUMENT_POLICY, REMOTE_PICTURES_POLICY } from '../../../src/preview/parsed.ts';
import type { NewJournalEntry } from '../../../src/store/journal.ts';
import { cookieOf, type Setup, startDashboard } from '../ops/dashboard-server.ts';

const COOKIE = { cookie: cookieOf('admin') };
const LOCKED = "default-src 'none'; frame-ancestors 'none'; sandbox";

const body = (text: string): StreamedBody => ({
  sizeBytes: Buffer.byteLength(text),
  chunks: () => [Buffer.from(text)],
});

async function get(path: string, downloads: Partial<Downloads>, setup: Setup = {}) {
  const { ask } = await startDashboard({ ...setup, downloads });
  return await ask({ path, headers: COOKIE });
}

test('a message comes as it is, to be kept and not to be shown', async () => {
  const {
    status,
    headers,
    body: text,
  } = await get('/api/messages/msg_1/source', {
    source: async () => body('Subject: x\r\n\r\nText'),
  });
  expect([status, text]).toEqual([200, 'Subject: x\r\n\r\nText']);
  expect(headers).toMatchObject({
    'content-type': 'message/rfc822',
    'content-disposition': 'attachment; filename="msg_1.eml"',
    'content-security-policy': LOCKED,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
});

test('a file of a message comes without a type, under a name that does no harm', async () => {
  const filename = '../..\\evil"\r\nSet-Cookie: a=b\u202etxt.html';
  const { headers, body: text } = await get('/api/messages/msg_1/parts/2', {
    part: async (id, number) => ({ filename, bytes: Buffer.from(`${id} ${number}`) }),
  });
  expect(text).toBe('msg_1 2');
  expect(headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment; filename="evil_Set-Cookie_ a=btxt.html"',
    'content-security-policy': LOCKED,
  });
  expect(headers['set-cookie']).toBeUndefined();
});

test.each(['-1', 'x', '1.5', '1e3', '99999999', '..', '%2e%2e'])('there is no file %s', async (number) => {
  const asked: number[] = [];
  const { status } = await get(`/api/messages/msg_1/parts/${number}`, {
    part: async (_, place) => {
      asked.push(place);
      return { filename: 'x', bytes: Buffer.alloc(0) };
    },
  });
  expect([status, asked]).toEqual([404, []]);
});

test('a preview is shown under a policy by which it can do nothing, in frames of ours alone', async () => {
  const { ask } = await startDashboard({
    downloads: { document: async () => ({ html: '<script>1</script>', policy: DOCUMENT_POLICY }) },
  });
  const { headers, body: text } = await ask({ path: '/preview/msg_1?view=html', headers: COOKIE });
  expect(text).toBe('<script>1</script>');
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'x-frame-options': 'SAMEORIGIN',
    'referrer-policy': 'no-referrer',
  });
  expect(headers['content-security-policy']).toMatch(
    /^sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'/,
  );
  expect(headers['content-security-policy']).not.toMatch(/allow-|https?:|'self'/);
  // Browsers refuse to show a sandboxed page that has one.
  expect(headers['cross-origin-opener-policy']).toBeUndefined();
  expect((await ask({ path: '/preview/msg_1', headers: COOKIE })).status).toBe(400);
});

test.each([
  ['view=html', DOCUMENT_POLICY, undefined],
  ['view=html&scheme=dark', DOCUMENT_POLICY, undefined],
  ['view=html&pictures=', DOCUMENT_POLICY, undefined],
  ['view=html&pictures=remote', REMOTE_PICTURES_POLICY, 'credentialless'],
  ['view=html&scheme=dark&pictures=remote', REMOTE_PICTURES_POLICY, 'credentialless'],
])('the preview ?%s may fetch what %s says', async (query, policy, embedder) => {
  const picture = '<img src="https://a.example/x.png">';
  const words = await parseMessage(Buffer.from(`Content-Type: text/html\r\n\r\n${picture}`));
  const { document } = downloadsOf({ words: { read: async () => ({ words }) } });
  const { headers, body: text } = await get(`/preview/msg_1?${query}`, { document });
  expect(text).toContain(picture);
  expect(headers).toMatchObject({ 'content-security-policy': policy, 'referrer-policy': 'no-referrer' });
  expect(headers['cross-origin-embedder-policy']).toBe(embedder);
});

test('a draft is shown in a frame in which one script runs, and nothing else, without an origin', async () => {
  const { ask } = await startDashboard();
  const { status, headers, body: text } = await ask({ path: '/preview/draft', headers: COOKIE });
  expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  const [, script = ''] = /<script>(.*)<\/script>/s.exec(text) ?? [];
  const hash = createHash('sha256').update(script).digest('base64');
  expect(String(headers['content-security-policy']).split('; ')).toEqual([
    'sandbox allow-scripts',
    "default-src 'none'",
    `script-src 'sha256-${hash}'`,
    "style-src 'unsafe-inline'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ]);
  expect(headers).toMatchObject({ 'x-frame-options': 'SAMEORIGIN', 'cache-control': 'no-store' });
  expect(headers['cross-origin-opener-policy']).toBeUndefined();
});

test('what does not exist is 404, what cannot be had now 503', async () => {
  const gone = await get('/preview/msg_1?view=html', {});
  expect([gone.status, JSON.parse(gone.body).code]).toEqual([404, 'not_found']);
  const busy = await get('/preview/msg_1?view=html', {
    document: () => Promise.reject(new OperationError('unavailable', 'Too many are being read.')),
  });
  expect(busy.status).toBe(503);
});

async function* pieces(count: number, failsAt = Number.POSITIVE_INFINITY) {
  for (let i = 0; i < count; i++) {
    if (i === failsAt) throw new Error('the store went away');
    yield Buffer.from(`row ${i}\n`.repeat(1000));
  }
}

test('an export comes piece by piece, named by the day', async () => {
  const asked: object[] = [];
  const {
    status,
    headers,
    body: text,
  } = await get('/api/export?query=status%3Afailed%20x&format=csv', {
    export: async (actor, request) => {
      asked.push([actor.name, request]);
      return pieces(300);
    },
  });
  expect(asked).toEqual([['admin', { query: 'status:failed x', format: 'csv' }]]);
  expect([status, headers['content-type'], headers['content-length']]).toEqual([
    200,
    'text/csv; charset=utf-8; header=present',
    undefined,
  ]);
  expect(headers['content-disposition']).toMatch(/^attachment; filename="messages-\d{4}-\d\d-\d\d\.csv"$/);
  expect(text.split('\n')).toHaveLength(300_001);
});

test('an export that breaks off is cut, so that nobody takes a part for the whole', async () => {
  const { ask } = await startDashboard({ downloads: { export: async () => pieces(10, 5) } });
  await expect(ask({ path: '/api/export?query=&format=json', headers: COOKIE })).rejects.toThrow(
    /aborted|hang up/,
  );
  expect((await ask({ path: '/livez' })).status).toBe(200);
});

test('an export nobody waits for any more ends', async () => {
  let ended = () => {};
  const end = new Promise<void>((resolve) => {
    ended = resolve;
  });
  async function* endless() {
    try {
      for (;;) yield Buffer.alloc(64 * 1024, 120);
    } finally {
      ended();
    }
  }
  const { port, certificate } = await startDashboard({ downloads: { export: async () => endless() } });
  const { request } = await import('node:https');
  const asked = request({
    host: '127.0.0.1',
    port,
    ca: certificate(),
    servername: 'localhost',
    agent: false,
    path: '/api/export?query=&format=csv',
    headers: COOKIE,
  });
  asked.on('error', () => {});
  asked.on('response', (response) => response.once('data', () => asked.destroy()));
  asked.end();
  await end;
});

test.each(['xml', '', 'CSV'])('there is no export as %j', async (format) => {
  expect((await get(`/api/export?query=&format=${format}`, {})).status).toBe(400);
});

/** Downloads of which only these parts are there. */
function downloadsOf(parts: Partial<Parameters<typeof createDownloads>[0]>): Downloads {
  const unused = () => Promise.reject(new Error('not asked for'));
  return createDownloads({
    storage: { views: { message: unused }, spool: { read: unused } },
    words: { read: unused },
    export: unused,
    backupDirectory: '',
    journal: { record: unused },
    clock: { wall: () => 7 },
    ...parts,
  });
}

/** A folder with a backup, a hidden file, a link out of it, and a secret beside it. */
function backups(written: NewJournalEntry[] = []): Pick<Downloads, 'backup'> {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-backups-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const backupDirectory = join(folder, 'backups');
  mkdirSync(join(backupDirectory, 'folder'), { recursive: true });
  writeFileSync(join(folder, 'secret.key'), 'secret');
  writeFileSync(join(backupDirectory, 'b 1.tar'), 'a backup');
  writeFileSync(join(backupDirectory, 'empty'), '');
  writeFileSync(join(backupDirectory, '.partial'), 'half');
  symlinkSync(join(folder, 'secret.key'), join(backupDirectory, 'link'));
  return downloadsOf({
    backupDirectory,
    journal: { record: async (entries) => void written.push(...entries) },
  });
}

test.each([
  ['b%201.tar', 'a backup'],
  ['empty', ''],
])('the backup %s comes whole', async (name, content) => {
  const written: NewJournalEntry[] = [];
  const {
    status,
    headers,
    body: text,
  } = await get(`/api/backups/${name}`, { backup: backups(written).backup });
  expect([status, text]).toEqual([200, content]);
  expect(written).toMatchObject([
    { at: 7, actorKind: 'user', action: 'downloadBackup', subject: decodeURIComponent(name) },
  ]);
  expect(headers['content-disposition']).toMatch(/^attachment; filename="(?:b 1\.tar|empty)"$/);
});

test.each([
  '..%2fsecret.key',
  '%2e%2e%2fsecret.key',
  '..%5csecret.key',
  '.partial',
  'link',
  'folder',
  '..',
  '%00',
])('there is no backup %s', async (name) => {
  const { status, body: text } = await get(`/api/backups/${name}`, { backup: backups().backup });
  expect([status, text.includes('"secret"')]).toEqual([404, false]);
});
