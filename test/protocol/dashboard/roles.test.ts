/** Who may do what: by the table that says so, over the wire. */

import { expect, test } from 'vitest';
import { mayAct, ROLES } from '../../../src/domain/account.ts';
import { OPERATION_NAMES, OPERATIONS } from '../../../src/operations/table.ts';
import { cookieOf, startDashboard } from '../ops/dashboard-server.ts';

/** Operations that only look, though they need more than a viewer; and `submit`, which the message's own record tells of. */
const NOT_WRITTEN = [
  'submit',
  'submitRaw',
  'checkDomains',
  'rehearseRoutes',
  'users',
  'sessions',
  'logTail',
  'activity',
  'backups',
  'relayHook',
  'listWebhooks',
  'getWebhook',
  'webhookDeliveries',
  'alertChannels',
  'exportConfiguration',
  'planConfiguration',
  'listErasures',
  'previewErasure',
];

test('what a viewer may call changes nothing, and what changes something is written down', () => {
  for (const name of OPERATION_NAMES) {
    const { role, audit } = OPERATIONS[name].access;
    if (role === 'viewer') expect([name, audit]).toEqual([name, null]);
    else if (!NOT_WRITTEN.includes(name)) expect([name, audit !== null]).toEqual([name, true]);
  }
});

test.each(ROLES)('a %s is refused every operation that needs more, before its body is read', async (role) => {
  const { call, asBrowser, done } = await startDashboard();
  const headers = asBrowser(role);
  for (const name of OPERATION_NAMES) {
    // Whoever is let through is told that this is not JSON.
    const answer = await call(name, { headers, body: '{' });
    const expected = mayAct(role, OPERATIONS[name].access.role)
      ? [400, 'malformed_json']
      : [403, 'forbidden'];
    expect([name, answer.status, JSON.parse(answer.body).code]).toEqual([name, ...expected]);
  }
  expect(done).toEqual([]);
});

test('a refusal names the role that is needed, and is no denial of a source', async () => {
  const { call, asBrowser, denied } = await startDashboard();
  const answer = await call('removeRelay', { headers: asBrowser('viewer'), body: '{"name":"out"}' });
  expect(JSON.parse(answer.body).detail).toBe('This needs the role admin; viewer has the role viewer.');
  expect(denied).toEqual([]);
});

const FILES: readonly (readonly [path: string, from: (typeof ROLES)[number]])[] = [
  ['/api/messages/msg_x/source', 'viewer'],
  ['/api/messages/msg_x/parts/0', 'viewer'],
  ['/preview/msg_x?view=html', 'viewer'],
  ['/preview/draft', 'viewer'],
  ['/api/events', 'viewer'],
  ['/api/export?query=&format=csv', 'operator'],
  ['/api/backups/x', 'admin'],
];

test.each(FILES)('%s is for whoever is signed in as %s or more', async (path, from) => {
  const { ask } = await startDashboard({ maxEventStreams: 0 });
  expect((await ask({ path })).status).toBe(401);
  for (const role of ROLES) {
    const { status } = await ask({ path, headers: { cookie: cookieOf(role) } });
    expect([role, status === 403]).toEqual([role, !mayAct(role, from)]);
  }
});

test('who is not signed in is not told which operations there are', async () => {
  const { call, asBrowser } = await startDashboard();
  const { cookie: _, ...headers } = asBrowser();
  for (const name of ['hold', 'nothing', '__proto__', 'constructor'])
    expect((await call(name, { headers })).status).toBe(401);
  for (const name of ['nothing', '__proto__', 'constructor', 'toString'])
    expect((await call(name)).status).toBe(404);
});
