/** The page and its files: how they are kept, compressed and guarded, and that no path leads elsewhere. */
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { request as tlsRequest } from 'node:https';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { builtSite, PAGE, SCRIPT } from '../ops/built-site.ts';
import { startDashboard } from '../ops/dashboard-server.ts';

const ASSET = '/assets/main-1a2b.js';

/** An answer's bytes as they came. */
function raw(port: number, path: string, headers: Record<string, string> = {}): Promise<[string, Buffer]> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, headers, agent: false, rejectUnauthorized: false };
    const request = tlsRequest(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve([response.headers['content-encoding'] ?? '', Buffer.concat(chunks)]));
    });
    request.on('error', reject).end();
  });
}

test.each(['/', '/messages', '/messages/msg_1?tab=source', '/domains/example.com', '/index.html', '/a/b/c'])(
  '%s is the page, which nobody keeps and nobody frames',
  async (path) => {
    const { ask } = await startDashboard();
    const { status, headers, body } = await ask({ path });
    expect([status, body]).toEqual([200, PAGE]);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(headers['permissions-policy']).toContain('camera=()');
    expect(headers['strict-transport-security']).toBeUndefined();
  },
);

test('a file whose name says what it holds is kept for good, others are asked for again', async () => {
  const { ask } = await startDashboard();
  const asset = await ask({ path: ASSET });
  expect([asset.status, asset.body]).toEqual([200, SCRIPT]);
  expect(asset.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'Accept-Encoding',
  });
  const theme = await ask({ path: '/first.js' });
  expect(theme.headers['cache-control']).toBe('no-cache');
  const etag = theme.headers.etag ?? '';
  const again = await ask({ path: '/first.js', headers: { 'if-none-match': etag } });
  expect([again.status, again.body, again.headers.etag]).toEqual([304, '', etag]);
});

test('files come compressed for those who take it, each coding with a tag of its own', async () => {
  const { port, ask } = await startDashboard();
  const [br, packed] = await raw(port, ASSET, { 'accept-encoding': 'gzip, deflate, br' });
  expect([br, brotliDecompressSync(packed).toString()]).toEqual(['br', SCRIPT]);
  const [gzip, zipped] = await raw(port, ASSET, { 'accept-encoding': 'gzip;q=0.5, br;q=0' });
  expect([gzip, gunzipSync(zipped).toString()]).toEqual(['gzip', SCRIPT]);
  for (const taken of ['identity', 'br;q=0, gzip;q=0.0', 'xbr'])
    expect(await raw(port, ASSET, { 'accept-encoding': taken })).toEqual(['', Buffer.from(SCRIPT)]);
  const tags = new Set<string | undefined>();
  for (const coding of ['identity', 'gzip', 'br'])
    tags.add((await ask({ path: ASSET, headers: { 'accept-encoding': coding } })).headers.etag);
  expect(tags.size).toBe(3);
});

test('the page is never compressed: its length tells nobody anything', async () => {
  const { port } = await startDashboard();
  expect(await raw(port, '/', { 'accept-encoding': 'gzip, br' })).toEqual(['', Buffer.from(PAGE)]);
});

test.each([
  '/assets/../../etc/passwd',
  '/assets/%2e%2e/%2e%2e/etc/passwd',
  '/assets/..%2f..%2fetc%2fpasswd',
  '/assets/%2e%2e%5c..%5cetc%5cpasswd',
  '/assets/main-1a2b.js/../../../etc/passwd',
  '/assets//main-1a2b.js',
  '/assets/',
  '/assets',
  '/assets/main-1a2b.js%00.html',
  '//etc/passwd',
  '/.hidden',
  '/%2ehidden',
  '/.git/config',
  '/assets/link.js',
  '/assets/%c0%ae%c0%ae/secret',
])('%s leads nowhere', async (path) => {
  const site = builtSite();
  symlinkSync('/etc/hostname', join(site, 'assets/link.js'));
  const { ask } = await startDashboard({ site });
  const { status, body } = await ask({ path });
  expect([status, body.includes('not_found')]).toEqual([404, true]);
});

test.each(['/x/../../../etc/passwd', '/%2e%2e/%2e%2e/etc/passwd', '/messages/..%2f..%2fsecret'])(
  '%s is the page, for all that the server knows',
  async (path) => {
    const { ask } = await startDashboard();
    const { status, body } = await ask({ path });
    expect(status === 404 || body === PAGE).toBe(true);
  },
);

test('a new build shows at once, and one that is missing says what to run', async () => {
  const site = builtSite();
  const { ask } = await startDashboard({ site });
  expect((await ask({ path: '/' })).body).toBe(PAGE);
  writeFileSync(join(site, 'assets/other-9f.js'), 'void 1;');
  writeFileSync(join(site, 'index.html'), '<!doctype html><title>New</title>');
  utimesSync(join(site, 'index.html'), 1, 1);
  expect((await ask({ path: '/' })).body).toContain('New');
  expect((await ask({ path: '/assets/other-9f.js' })).body).toBe('void 1;');
  renameSync(site, `${site}.away`);
  try {
    const missing = await ask({ path: '/messages' });
    expect([missing.status, missing.headers['content-type']]).toEqual([503, 'text/html; charset=utf-8']);
    expect(missing.body).toContain('npm start');
    expect((await ask({ path: '/health' })).status).toBe(200);
  } finally {
    rmSync(`${site}.away`, { recursive: true });
    mkdirSync(site);
  }
});

test.each(['POST', 'PUT', 'DELETE', 'PATCH'])('%s of a page is 405', async (method) => {
  const { ask } = await startDashboard();
  const { status, headers } = await ask({ path: '/messages', method });
  expect([status, headers['allow']]).toEqual([405, 'GET, HEAD, OPTIONS']);
});
