/** People at the dashboard of a service that has many secrets, and what it shows them. */

import { once } from 'node:events';
import { request } from 'node:https';
import { totpCode } from '../../src/accounts/secrets.ts';
import { OPERATION_NAMES, OPERATIONS, type OperationName } from '../../src/operations/table.ts';
import { askDashboard, type SecretsWorld } from './secrets-world.ts';

const STEP_MS = 30_000;

/** Claims the dashboard by the link that was printed, whose token is given; the cookie of the administrator's session. */
export async function claim(world: SecretsWorld, token: string): Promise<string> {
  const { book } = world;
  const password = world.secret('password of ann');
  const body = { token, name: 'ann', password };
  await call(world, 'setup', { ...body, token: `${token.slice(1)}x` });
  await call(world, 'setup', { ...body, password: 'short' });
  const { cookie } = await call(world, 'setup', body);
  if (cookie === null) throw new Error('the link did not claim the dashboard');
  book.add('token of ann’s session', tokenOf(cookie));
  await failToSignIn(world, password);
  return await takeUpFactor(world, cookie, password);
}

/** Signs in wrongly: the password with a typo, in a body that is no JSON, in the wrong field. */
async function failToSignIn(world: SecretsWorld, password: string): Promise<void> {
  const typed = world.secret('wrong password that was typed');
  const stranger = world.secret('name that nobody has', 'plain');
  await call(world, 'login', { name: 'ann', password: typed });
  await call(world, 'login', { name: stranger, password: typed });
  await call(world, 'login', { name: stranger, pasword: typed });
  await call(world, 'login', `{"name":"ann","password":${JSON.stringify(typed)}`);
  await call(world, 'login', `{"name":"ann","password":${typed}}`);
  await call(world, 'link', { token: typed });
  await call(world, typed.replace(/[^a-z0-9]/g, ''), { password });
}

/** Takes up a second factor, and signs in by a recovery code: the cookie of that session. */
async function takeUpFactor(world: SecretsWorld, cookie: string, password: string): Promise<string> {
  const { book } = world;
  await call(world, 'totp_begin', { password: `${password}!` }, cookie);
  const begun = await askDashboard(world, '/api/session/totp_begin', {
    cookie,
    body: { password },
    confidential: true,
  });
  const { secret } = JSON.parse(begun.body.toString()) as { readonly secret: string };
  book.add('secret of the second factor', secret);
  await call(world, 'totp_confirm', { code: '000000' }, cookie);
  const code = totpCode(fromBase32(secret), Math.floor(Date.now() / STEP_MS));
  const taken = await askDashboard(world, '/api/session/totp_confirm', {
    cookie,
    body: { code },
    confidential: true,
  });
  const { recoveryCodes } = JSON.parse(taken.body.toString()) as {
    readonly recoveryCodes: readonly string[];
  };
  for (const [index, one] of recoveryCodes.entries()) {
    book.add(`recovery code ${index}`, one);
    book.add(`recovery code ${index} without dashes`, one.replaceAll('-', ''));
  }
  const half = await call(world, 'login', { name: 'ann', password });
  book.add('token of half a session', tokenOf(half.cookie ?? ''));
  await call(world, 'second_factor', { code: '0000-0000-0000-0000' }, half.cookie);
  const whole = await call(world, 'second_factor', { code: recoveryCodes[0] }, half.cookie);
  book.add('token of the session by a recovery code', tokenOf(whole.cookie ?? ''));
  if (whole.cookie === null) throw new Error('the recovery code was not taken');
  return whole.cookie;
}

/** Another user comes by a link, and gets other passwords. */
export async function inviteUser(world: SecretsWorld, admin: string): Promise<void> {
  const { book, operations } = world;
  const body = { name: 'bob', role: 'viewer' };
  const made = await askDashboard(world, '/api/call/createUser', { cookie: admin, body, confidential: true });
  const [, token = ''] = /setup#([\w-]{43})/.exec(made.body.toString()) ?? [];
  book.add('token of bob’s link', token);
  const password = world.secret('password of bob');
  const bob = await call(world, 'setup', { token, name: null, password });
  book.add('token of bob’s session', tokenOf(bob.cookie ?? ''));
  const next = world.secret('next password of bob');
  await call(world, 'password', { current: next, next }, bob.cookie);
  const changed = await call(world, 'password', { current: password, next }, bob.cookie);
  book.add('token of bob’s next session', tokenOf(changed.cookie ?? ''));
  await operations.resetPassword({ name: 'bob', password: world.secret('password given to bob') });
  for (const path of ['/api/session', '/api/events', '/api/call/users'])
    await askDashboard(world, path, { cookie: bob.cookie, ...(path.includes('call') ? { body: {} } : {}) });
}

/** Strangers see a message's story by a link, and try one that is none. */
export async function shareStory(world: SecretsWorld, admin: string, id: string): Promise<void> {
  const body = { id, content: true };
  const made = await askDashboard(world, '/api/call/makeStoryLink', {
    cookie: admin,
    body,
    confidential: true,
  });
  const [, token = ''] = /story#([\w-]{43})/.exec(made.body.toString()) ?? [];
  world.book.add('token of the link to a story', token);
  // What it answers is looked through like all else.
  for (const tried of [token, 'x'.repeat(43)]) await call(world, 'story', { token: tried });
}

/** Begins to listen to the hints of the dashboard; they are kept until the returned function is called. */
export async function listen(world: SecretsWorld, cookie: string): Promise<() => void> {
  const port = world.server.runtime.webui ?? 0;
  const headers = { host: `localhost:${port}`, cookie };
  const asked = request({
    host: '127.0.0.1',
    port,
    path: '/api/events',
    headers,
    agent: false,
    rejectUnauthorized: false,
  });
  asked.end();
  const [response] = await once(asked, 'response');
  response.on('data', (chunk: Buffer) => void world.traces.add('events', chunk)).on('error', () => {});
  return () => void asked.on('error', () => {}).destroy();
}

/** Operations that only look and need to be told what at; others are asked with nothing. */
function requests(id: string, feedback = '', webhook = ''): Partial<Record<OperationName, object>> {
  return {
    message: { id },
    ways: { id },
    messages: { statuses: [], filter: {}, limit: 200, before: null },
    attempts: { id, cursor: null },
    events: { filter: {}, limit: 200, after: 0, before: null },
    queue: { relay: null },
    routeTables: { limit: 10 },
    routeTable: { version: null },
    explainRoute: {
      query: [
        ['from', 'a@example.com'],
        ['to', 'b@smart.test'],
      ],
    },
    rehearseRoutes: { routes: [], last: 10 },
    domain: { name: 'example.com' },
    checkDomains: { name: null },
    relay: { name: 'graph' },
    // Its answer is a secret; those of other relays' hooks are in the book.
    relayHook: { name: 'ses' },
    requestLog: { limit: 200 },
    template: { alias: 'welcome' },
    preflight: { id },
    previewTemplate: { subject: 'hi', html: null, text: 'hi {{name}}', variables: { name: 'Ann' } },
    getWebhook: { which: webhook },
    webhookDeliveries: { which: webhook },
    planConfiguration: { configuration: {} },
    checkRelay: { definition: { name: 'x', type: 'mx' }, makeDefault: null },
    checkMessage: { message: { from: 'a@example.com', to: 'b@out.test', text: 'hi' } },
    submit: { message: { from: 'a@example.com', to: 'b@out.test', text: 'hi' } },
    submitRaw: {
      from: 'a@example.com',
      to: ['b@out.test'],
      notify: null,
      ret: null,
      envid: null,
      content: Buffer.from('From: a@example.com\r\nSubject: hi\r\n\r\nhi\r\n').toString('base64'),
    },
    listErasures: {},
    previewErasure: { address: 'ann@example.org' },
    listSuppressions: {
      address: null,
      domain: null,
      reason: null,
      scope: null,
      stream: null,
      since: null,
      until: null,
      limit: 200,
      cursor: null,
    },
    tlsReport: { domain: 'hop.test', date: '2026-11-20' },
    dmarcSource: { source: '192.0.2.1' },
    getSuppression: { which: 'b@stopped.test' },
    checkSuppressions: { addresses: ['b@out.test'], from: null, stream: null },
    exportSuppressions: { cursor: null },
    messageFeedback: { id },
    feedbackText: { id: feedback },
    rates: { by: 'relay', days: 1 },
    traffic: { step: 'hour', count: 2, by: 'key' },
    destination: { domain: 'example.net' },
    messageContent: { id },
    sessions: { name: null },
    search: { query: '', limit: 200, before: null },
    countNew: { query: '', after: id },
    messageStory: { id },
    storyLinks: { id },
    messagePreview: { id },
    messageDraft: { id },
    series: { step: 'minute', count: 60, relay: null },
    inbox: { query: '', key: null, limit: 200, before: null },
    logTail: { level: 'debug', contains: '', after: null, limit: 1000 },
    activity: { actor: null, action: null, subject: null, limit: 200, before: null },
  };
}

/** Looks at everything there is to see, of these messages and this feedback too. Gives the operations that could not be asked. */
export async function lookAround(
  world: SecretsWorld,
  cookie: string,
  ids: readonly string[],
  feedback: string,
  webhook: string,
): Promise<readonly string[]> {
  const refused: string[] = [];
  for (const name of OPERATION_NAMES.filter((one) => OPERATIONS[one].access.audit === null)) {
    const { status } = await askDashboard(world, `/api/call/${name}`, {
      cookie,
      body: requests(ids[0] ?? '', feedback, webhook)[name] ?? {},
    });
    if (status !== 200) refused.push(`${name}: ${status}`);
  }
  for (const id of ids)
    for (const name of ['messageStory', 'attempts'] as const)
      await askDashboard(world, `/api/call/${name}`, { cookie, body: requests(id)[name] ?? {} });
  for (const path of [
    '/api/export?format=csv',
    '/api/export?format=json',
    '/api/session',
    '/health',
    '/metrics',
    '/',
    '/readyz',
  ])
    await askDashboard(world, path, { cookie });
  return refused;
}

function call(world: SecretsWorld, name: string, body: object | string, cookie: string | null = null) {
  return askDashboard(world, `/api/session/${name}`, { cookie, body });
}

function tokenOf(cookie: string): string {
  return cookie.slice(cookie.indexOf('=') + 1);
}

/** RFC 4648. */
function fromBase32(text: string): Buffer {
  const bits = [...text]
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
