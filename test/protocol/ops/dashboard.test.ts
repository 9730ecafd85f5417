/** Who may speak to the dashboard port and what they get (contract §1, §5, §7), over real sockets with TLS. */
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { DASHBOARD_LIMITS } from '../../../src/dashboard/server.ts';
import { cidrs, type Setup, startDashboard } from './dashboard-server.ts';

const GUARDED = ['/', '/health', '/metrics'];
const PROBES = ['/livez', '/readyz'];
const STRANGERS_OUT: Setup = { settings: { allowedCidrs: cidrs('192.0.2.0/24') } };

test.each([...GUARDED, ...PROBES])('%s answers to anyone by default, never from a cache', async (path) => {
  const { ask } = await startDashboard();
  const { status, headers } = await ask({ path });
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
  });
  expect(headers['strict-transport-security']).toBeUndefined();
  expect(headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
});

test.each(['/assets/x.js', '/health/', '/Health', '/metrics/x', '/api/v1/messages', '//health', '/.env'])(
  '%s is 404',
  async (path) => {
    const { ask } = await startDashboard();
    const { status, headers, body } = await ask({ path });
    expect(status).toBe(404);
    expect(headers['content-type']).toBe('application/problem+json');
    expect(JSON.parse(body)).toMatchObject({ type: 'urn:waybill:problem:not_found', code: 'not_found' });
  },
);

test('the source comes before everything, whatever is asked for', async () => {
  const { ask } = await startDashboard(STRANGERS_OUT);
  for (const path of ['/api/nothing', '/assets/x.js', '/messages'])
    expect((await ask({ path })).status).toBe(403);
});

test.each(GUARDED)('%s is 403 for a source outside webui.allowed_cidrs', async (path) => {
  const { ask, denied } = await startDashboard(STRANGERS_OUT);
  const { status, headers, body } = await ask({ path });
  expect(status).toBe(403);
  expect(headers['content-type']).toBe('application/problem+json');
  expect(JSON.parse(body)).toMatchObject({
    code: 'source_not_allowed',
    detail: '127.0.0.1 may not use this port; allow it in webui.allowed_cidrs.',
  });
  expect(denied).toEqual([
    {
      type: 'denied',
      reason: 'source_not_allowed',
      sourceAddress: '127.0.0.1',
      port: 'webui',
      requestId: headers['x-request-id'],
      count: 1,
    },
  ]);
});

test.each(PROBES)('%s answers whoever watches the process, from anywhere and by any name', async (path) => {
  const { ask, denied } = await startDashboard(STRANGERS_OUT);
  const answer = await ask({ path, headers: { host: 'waybill.svc.example' } });
  expect([answer.status, denied]).toEqual([200, []]);
});

test('the source comes before the method and the host', async () => {
  const { ask } = await startDashboard(STRANGERS_OUT);
  expect((await ask({ path: '/', method: 'POST', headers: { host: 'evil.example' } })).status).toBe(403);
});

const BEHIND_PROXY: Setup = {
  settings: { allowedCidrs: cidrs('192.0.2.0/24'), trustedProxies: cidrs('127.0.0.1', '10.0.0.0/8') },
};

test.each<[string, Setup, string, number]>([
  ['a trusted proxy names an allowed source', BEHIND_PROXY, '192.0.2.7', 200],
  ['a trusted proxy names another', BEHIND_PROXY, '198.51.100.7', 403],
  ['the rightmost hop that is no proxy counts', BEHIND_PROXY, '192.0.2.7, 198.51.100.7, 10.1.1.1', 403],
  ['what stands left of it does not', BEHIND_PROXY, '198.51.100.7, 192.0.2.7, 10.1.1.1', 200],
  ['a proxy names no address', BEHIND_PROXY, 'unknown', 403],
  ['a peer that is no proxy names an allowed source', STRANGERS_OUT, '192.0.2.7', 403],
])('behind proxies: %s', async (_case, setup, forwarded, status) => {
  const { ask } = await startDashboard(setup);
  const answer = await ask({ path: '/health', headers: { 'x-forwarded-for': forwarded } });
  expect(answer.status).toBe(status);
});

test.each([...GUARDED, ...PROBES])('HEAD %s is GET without the body', async (path) => {
  const { ask } = await startDashboard();
  const get = await ask({ path });
  const head = await ask({ path, method: 'HEAD' });
  expect(head.status).toBe(200);
  expect(head.body).toBe('');
  expect(head.headers['content-type']).toBe(get.headers['content-type']);
  expect(Number(head.headers['content-length'])).toBeGreaterThan(0);
});

test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'PROPFIND'])('%s is 405', async (method) => {
  const { ask } = await startDashboard();
  const { status, headers } = await ask({ path: '/health', method });
  expect(status).toBe(405);
  expect(headers['allow']).toBe('GET, HEAD, OPTIONS');
});

test('OPTIONS is 204 with Allow and nothing for other origins', async () => {
  const { ask } = await startDashboard();
  const { status, headers } = await ask({ path: '/health', method: 'OPTIONS' });
  expect(status).toBe(204);
  expect(headers['allow']).toBe('GET, HEAD, OPTIONS');
  expect(headers['access-control-allow-origin']).toBeUndefined();
});

test.each([
  ['127.0.0.1', 200],
  ['192.0.2.9:8420', 200],
  ['[::1]:8420', 200],
  ['localhost', 200],
  ['LocalHost:8420', 200],
  ['localhost.', 200],
  ['mail.example.com', 200],
  ['status.example.org:443', 200],
  ['evil.example', 421],
  ['mail.example.com.evil.example', 421],
  ['xmail.example.com', 421],
  ['127.0.0.1.evil.example', 421],
  [':8420', 421],
])('host %s: %s', async (host, status) => {
  const { ask } = await startDashboard({ settings: { allowedHosts: ['Status.example.org'] } });
  const answer = await ask({ path: '/', headers: { host } });
  expect(answer.status).toBe(status);
  if (status === 421)
    expect(JSON.parse(answer.body)).toMatchObject({
      code: 'host_not_allowed',
      detail: expect.stringContaining('webui.allowed_hosts'),
    });
  const exempt = ['/health', '/metrics'];
  for (const path of exempt) expect((await ask({ path, headers: { host } })).status).toBe(200);
});

test.each(['localhost@evil.example', '[::1'])('host %s is none: 400, whatever the path', async (host) => {
  const { ask } = await startDashboard();
  for (const path of ['/', '/health']) expect((await ask({ path, headers: { host } })).status).toBe(400);
});

test.each([
  ['localhost:1234', '/health', 'https://localhost:1234/health'],
  ['mail.example.com', '/nothing?a=b&c', 'https://mail.example.com/nothing?a=b&c'],
  ['127.0.0.1:8420', '//evil.example/', 'https://127.0.0.1:8420//evil.example/'],
  ['127.0.0.1', 'http://evil.example/x', 'https://127.0.0.1/x'],
])('plain HTTP for %s%s is redirected to %s', async (host, path, location) => {
  const { ask } = await startDashboard();
  const { status, headers, body } = await ask({ path, plain: true, headers: { host } });
  expect(status).toBe(308);
  expect(headers.location).toBe(location);
  expect(body).toBe('');
});

test('plain HTTP is redirected for allowed hosts and sources only', async () => {
  const { ask } = await startDashboard();
  const answer = await ask({ path: '/health', plain: true, headers: { host: 'evil.example' } });
  expect(answer.status).toBe(421);
  const { ask: askAsStranger } = await startDashboard(STRANGERS_OUT);
  expect((await askAsStranger({ path: '/health', plain: true })).status).toBe(403);
});

test('a plain POST with a body is redirected too', async () => {
  const { ask } = await startDashboard();
  const headers = { host: 'localhost', 'content-length': '0' };
  expect((await ask({ path: '/x', method: 'POST', plain: true, headers })).status).toBe(308);
});

test('livez answers whatever readyz says; readyz is 503 as soon as nothing is accepted', async () => {
  const { ask, state } = await startDashboard();
  expect(await ask({ path: '/readyz' })).toMatchObject({ status: 200, body: 'ready\n' });
  state.ready = false;
  expect(await ask({ path: '/readyz' })).toMatchObject({ status: 503, body: 'not ready\n' });
  expect(await ask({ path: '/livez' })).toMatchObject({ status: 200, body: 'alive\n' });
});

test('a new certificate serves the next connection', async () => {
  const { ask, replaceCertificate } = await startDashboard();
  await ask({ path: '/livez' });
  replaceCertificate();
  expect((await ask({ path: '/livez' })).status).toBe(200);
});

test('TLS older than 1.2 is refused', async () => {
  const { port } = await startDashboard();
  const socket = connectTls({
    host: '127.0.0.1',
    port,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  });
  const error = await new Promise<NodeJS.ErrnoException>((resolve) => socket.on('error', resolve));
  expect(error.code).toMatch(/PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL/);
});

/** Resolves with what came when the server has ended the connection. */
function ended(socket: Socket): Promise<string> {
  onTestFinished(() => void socket.destroy());
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
}

const HASTY: Setup = { limits: { ...DASHBOARD_LIMITS, headerTimeoutMs: 100 } };

test.each([
  ['nothing', ''],
  ['half a TLS record', '\u0016\u0003\u0001'],
  ['half a plain request', 'GET / HTTP/1.1\r\n'],
])('a client that sends %s is not waited for', async (_case, bytes) => {
  const { port } = await startDashboard(HASTY);
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes, 'latin1');
  await ended(socket);
});

test('what is neither TLS nor HTTP is answered as bad HTTP and closed', async () => {
  const { port } = await startDashboard();
  const socket = connect(port, '127.0.0.1');
  socket.write('EHLO client.example\r\n');
  expect(await ended(socket)).toMatch(/^HTTP\/1\.1 400 /);
});

test('one connection over the limit is closed at once', async () => {
  const { port, ask } = await startDashboard({ limits: { ...DASHBOARD_LIMITS, maxConnections: 1 } });
  const first = connect(port, '127.0.0.1');
  const closed = ended(first);
  await new Promise((resolve) => first.on('connect', resolve));
  await ended(connect(port, '127.0.0.1'));
  first.destroy();
  await closed;
  await expect.poll(() => ask({ path: '/livez' }).catch(() => null)).toMatchObject({ status: 200 });
});

test('a client that goes away before it said anything does no harm', async () => {
  const { port, ask } = await startDashboard();
  for (const end of ['destroy', 'resetAndDestroy', 'end'] as const) {
    const socket = connect(port, '127.0.0.1');
    const closed = ended(socket);
    await new Promise((resolve) => socket.on('connect', resolve));
    socket[end]();
    await closed;
  }
  expect((await ask({ path: '/livez' })).status).toBe(200);
});
