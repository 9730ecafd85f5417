/** What a page of another site can have a browser send to the dashboard: nothing that does anything. */

import { expect, test } from 'vitest';
import { requireOwnOrigin } from '../../../src/dashboard/guard.ts';
import { OPERATION_NAMES } from '../../../src/operations/table.ts';
import { startDashboard } from '../ops/dashboard-server.ts';

/** Header fields that differ from those of our own page; null leaves one out. */
type Changes = Readonly<Record<string, string | null>>;

const FORGED: readonly (readonly [name: string, changes: Changes, status: number, code: string])[] = [
  ['another origin', { origin: 'https://evil.example' }, 403, 'origin_not_allowed'],
  ['the origin null of a sandbox', { origin: 'null' }, 403, 'origin_not_allowed'],
  ['our host without TLS', { origin: 'http://127.0.0.1:PORT' }, 403, 'origin_not_allowed'],
  ['another port of our host', { origin: 'https://127.0.0.1:1' }, 403, 'origin_not_allowed'],
  ['another name of our host', { origin: 'https://localhost:PORT' }, 403, 'origin_not_allowed'],
  ['two origins', { origin: 'https://127.0.0.1:PORT, https://evil.example' }, 403, 'origin_not_allowed'],
  ['another site', { origin: null, 'sec-fetch-site': 'cross-site' }, 403, 'origin_not_allowed'],
  ['another host of our site', { origin: null, 'sec-fetch-site': 'same-site' }, 403, 'origin_not_allowed'],
  ['our origin, yet another site', { 'sec-fetch-site': 'cross-site' }, 403, 'origin_not_allowed'],
  ['no origin at all', { origin: null, 'sec-fetch-site': null }, 403, 'origin_not_allowed'],
  ['a plain form', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'unsupported_media_type'],
  ['a form with files', { 'content-type': 'multipart/form-data; boundary=b' }, 415, 'unsupported_media_type'],
  ['a form of text', { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
  [
    'text that only looks like JSON',
    { 'content-type': 'text/plain;application/json' },
    415,
    'unsupported_media_type',
  ],
  ['no type', { 'content-type': null }, 415, 'unsupported_media_type'],
  ['no cookie', { cookie: null }, 401, 'signed_out'],
  ['a cookie of nobody', { cookie: 'who=nobody.1' }, 401, 'signed_out'],
  ['another host', { host: 'evil.example' }, 421, 'host_not_allowed'],
];

test.each(FORGED)('%s: no operation is done, each is refused', async (_, changes, status, code) => {
  const { call, asBrowser, port, done, journal } = await startDashboard();
  const headers: Record<string, string> = asBrowser();
  for (const [name, value] of Object.entries(changes))
    if (value === null) delete headers[name];
    else headers[name] = value.replaceAll('PORT', String(port));
  for (const operation of OPERATION_NAMES) {
    const answer = await call(operation, { headers });
    expect([operation, answer.status, JSON.parse(answer.body).code]).toEqual([operation, status, code]);
  }
  expect(done).toEqual([]);
  const query = { actor: null, action: null, subject: null, limit: 10, before: null };
  expect((await journal.entries(query)).entries).toEqual([]);
});

test.each(FORGED.filter(([, changes]) => changes['cookie'] === undefined))(
  'signing in by %s is refused as well',
  async (_, changes, status, code) => {
    const { ask, asBrowser, port } = await startDashboard();
    const headers: Record<string, string> = asBrowser();
    delete headers['cookie'];
    for (const [name, value] of Object.entries(changes))
      if (value === null) delete headers[name];
      else headers[name] = value.replaceAll('PORT', String(port));
    for (const name of ['login', 'setup', 'logout', 'password', 'totp_remove']) {
      const answer = await ask({ path: `/api/session/${name}`, method: 'POST', headers, body: '{}' });
      expect([name, answer.status, JSON.parse(answer.body).code]).toEqual([name, status, code]);
    }
  },
);

test('our own page may, by either of what browsers say', async () => {
  const { call, asBrowser, done } = await startDashboard();
  for (const missing of ['origin', 'sec-fetch-site']) {
    const headers: Record<string, string> = asBrowser();
    delete headers[missing];
    expect((await call('relays', { headers })).status).toBe(200);
  }
  expect(done).toHaveLength(2);
});

test('where nobody signs in, it is known by no name but localhost, whatever is configured', async () => {
  const { ask, asBrowser, port, done } = await startDashboard({
    settings: { allowedHosts: ['panel.example.com'], anyHost: true, loopbackOnly: true },
  });
  const paths = ['/', '/messages', '/api/session', '/api/events', '/preview/x', '/api/messages/x/source'];
  const monitors = ['/livez', '/readyz', '/health', '/metrics'];
  for (const name of ['mail.example.com', 'panel.example.com', '192.0.2.7', '[2001:db8::1]']) {
    const host = `${name}:${port}`;
    const headers = { ...asBrowser(), host, origin: `https://${host}` };
    for (const path of [...paths, ...monitors]) {
      const answer = await ask({ path, headers });
      expect([host, path, answer.status]).toEqual([host, path, 421]);
      expect(JSON.parse(answer.body).code).toBe('host_not_allowed');
    }
    for (const path of ['/api/call/relays', '/api/session/logout'])
      expect((await ask({ path, method: 'POST', headers, body: '{}' })).status).toBe(421);
  }
  expect(done).toEqual([]);
  for (const name of ['localhost', '127.0.0.1', '127.8.8.8', '[::1]']) {
    const host = `${name}:${port}`;
    const headers = { ...asBrowser(), host, origin: `https://${host}` };
    expect((await ask({ path: '/api/call/relays', method: 'POST', headers, body: '{}' })).status).toBe(200);
    expect((await ask({ path: '/messages', headers })).status).toBe(200);
  }
});

test('behind a proxy on the usual port, the port may be left out', async () => {
  const { call, asBrowser } = await startDashboard();
  const headers = { ...asBrowser(), host: 'localhost:443', origin: 'https://localhost' };
  expect((await call('relays', { headers })).status).toBe(200);
});

test.each([
  [
    true,
    'localhost',
    ['https://localhost', 'https://localhost:443'],
    ['https://localhost:80', 'http://localhost'],
  ],
  [
    false,
    'localhost',
    ['http://localhost', 'http://localhost:80'],
    ['http://localhost:443', 'https://localhost'],
  ],
] as const)('only the usual port of its own scheme may be left out; TLS: %s', (secure, host, own, others) => {
  for (const origin of own) expect(requireOwnOrigin({ headers: { origin }, secure }, host)).toBeUndefined();
  for (const origin of others)
    expect(() => requireOwnOrigin({ headers: { origin }, secure }, host)).toThrow('another origin');
});

test('an operation is not done by any other method', async () => {
  const { ask, asBrowser, done } = await startDashboard();
  for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']) {
    const answer = await ask({ path: '/api/call/hold', method, headers: asBrowser() });
    expect([method, answer.status, answer.headers['allow']]).toEqual([method, 405, 'POST, OPTIONS']);
  }
  expect(done).toEqual([]);
});

test.each([
  '/api/events',
  '/api/export?query=&format=csv',
  '/api/messages/x/source',
  '/api/session',
  '/preview/x',
  '/preview/draft',
])('a page of another site, or of another port of our host, gets nothing from %s', async (path) => {
  const { ask, asBrowser } = await startDashboard();
  for (const site of ['cross-site', 'same-site']) {
    const answer = await ask({
      path,
      headers: { cookie: asBrowser()['cookie'] ?? '', 'sec-fetch-site': site },
    });
    expect([site, answer.status]).toEqual([site, 403]);
  }
});

test('a link from elsewhere opens the page, which is a stranger until it asks itself', async () => {
  const { ask } = await startDashboard();
  expect((await ask({ path: '/messages', headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(200);
});

test('no answer is for other origins', async () => {
  const { ask, call, asBrowser } = await startDashboard();
  const origin = 'https://evil.example';
  for (const answer of [
    await ask({ path: '/', headers: { origin } }),
    await ask({
      path: '/api/call/hold',
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    }),
    await call('relays', { headers: { ...asBrowser(), origin } }),
  ])
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
});
