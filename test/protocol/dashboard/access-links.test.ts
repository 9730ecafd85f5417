/** Set-up links: the only way to claim a dashboard, once; and what ends when users change. */
import { expect, test } from 'vitest';
import { MINUTE, PASSWORD, startAccess } from './access-world.ts';

const NAME = { name: 'ann', password: PASSWORD };

test('a dashboard that nobody has claimed lets nobody in without its link', async () => {
  const { browser } = await startAccess();
  const one = browser();
  expect((await one.session()).body).toEqual({ state: 'setup' });
  for (const token of ['', 'x', 'A'.repeat(43), 'A'.repeat(99)])
    expect((await one.call('setup', { token, ...NAME })).body.code, token).toBe('link_refused');
  expect((await one.logIn('ann')).status).toBe(401);
  expect((await one.logIn('admin', '')).status).toBe(401);
  expect((await one.operation('users', {})).status).toBe(401);
  expect(one.cookie).toBeNull();
  expect((await one.session()).body.state).toBe('setup');
});

test('the link claims it, once, and signs in', async () => {
  const { browser, link, journal } = await startAccess();
  const token = await link(null);
  const one = browser();
  expect((await one.call('link', { token })).body).toMatchObject({ name: null });
  expect((await one.call('setup', { token, ...NAME, password: 'short' })).body.code).toBe('password_unfit');
  expect((await one.call('setup', { token, ...NAME, name: null })).body.code).toBe('link_refused');
  expect((await one.call('setup', { token, ...NAME, name: 'Not A Name' })).status).toBe(400);
  expect((await one.call('setup', { token, ...NAME })).body).toMatchObject({
    state: 'signed_in',
    user: { name: 'ann', role: 'admin' },
  });
  const other = browser();
  expect((await other.call('setup', { token, ...NAME, name: 'eve' })).body.code).toBe('link_refused');
  expect((await other.call('link', { token })).body.code).toBe('link_refused');
  expect((await other.session()).body.state).toBe('anonymous');
  expect((await journal()).map(({ action, actor }) => [action, actor])).toEqual([['setUp', 'ann']]);
  expect(JSON.stringify(await journal())).not.toContain(token);
});

test('of two who use a link at the same moment, one claims the dashboard', async () => {
  const { browser, link } = await startAccess();
  const token = await link(null);
  const names = ['ann', 'bea', 'cid'];
  const replies = await Promise.all(names.map((name) => browser().call('setup', { token, ...NAME, name })));
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 403, 403]);
});

test('a link ends after an hour, when another is made, and when a password is set without it', async () => {
  const { browser, link, clock, addUser } = await startAccess();
  const late = await link(null);
  await clock.advance(60 * MINUTE);
  expect((await browser().call('setup', { token: late, ...NAME })).body.code).toBe('link_refused');
  const [first, second] = [await link(null), await link(null)];
  expect((await browser().call('link', { token: first })).body.code).toBe('link_refused');
  expect((await browser().call('link', { token: second })).status).toBe(200);
  await addUser('ann');
  expect((await browser().call('link', { token: second })).body.code).toBe('link_refused');
});

test('only while the first link is out do we answer to any host name, and its use makes the name ours', async () => {
  const { browser, link, journal, state, dashboard } = await startAccess();
  const one = browser();
  one.host = `waybill.lan:${dashboard.port}`;
  expect((await one.session()).status).toBe(421);
  const token = await link(null);
  expect((await one.session()).body.state).toBe('setup');
  expect((await one.call('setup', { token, ...NAME })).status).toBe(200);
  expect(state.hosts).toEqual(['waybill.lan']);
  expect((await journal())[0]).toMatchObject({
    action: 'allowHost',
    actor: 'ann',
    subject: 'waybill.lan',
    sourceAddress: '192.0.2.7',
  });
  // The link was used: what is not among ours now is foreign.
  expect((await one.session()).status).toBe(421);
});

test('no later link makes a host name ours, or has us answer to it', async () => {
  const { browser, addUser, link, journal, state, dashboard } = await startAccess();
  await addUser('root');
  await addUser('vic', 'viewer');
  const one = browser();
  const request = { token: await link('vic'), name: null, password: PASSWORD };
  one.host = `evil.example:${dashboard.port}`;
  expect((await one.call('setup', request)).status).toBe(421);
  one.host = `localhost:${dashboard.port}`;
  expect((await one.call('setup', request)).status).toBe(200);
  expect(state.hosts).toEqual([]);
  expect((await journal()).map(({ action }) => action)).toEqual(['setUp']);
});

test('a new user chooses a password by a link of their own, and may do what their role may', async () => {
  const { browser, addUser, link, dashboard } = await startAccess();
  await addUser('root');
  const [root, one] = [browser(), browser()];
  await root.logIn('root');
  const made = await root.operation<{ path: string; url: string | null }>('createUser', {
    name: 'vic',
    role: 'viewer',
  });
  expect([made.status, made.body.url]).toEqual([200, `https://127.0.0.1:${dashboard.port}${made.body.path}`]);
  const token = made.body.path.replace('/setup#', '');
  expect((await one.call('link', { token })).body.name).toBe('vic');
  // The name is the link's, whatever is sent.
  expect((await one.call('setup', { token, name: 'root', password: PASSWORD })).body).toMatchObject({
    user: { name: 'vic', role: 'viewer' },
  });
  expect((await one.operation('users', {})).status).toBe(403);
  expect((await one.operation('listKeys', {})).status).toBe(200);
  expect((await root.operation('createUser', { name: 'vic', role: 'admin' })).status).toBe(409);
  expect((await browser().call('link', { token: await link('vic') })).status).toBe(200);
});

test('a link goes past no second factor', async () => {
  const { browser, addUser, link, accounts } = await startAccess();
  await addUser('ann');
  await accounts.putSecondFactor('ann', { sealed: 'sealed', step: 1, recoveryHashes: [] });
  const one = browser();
  const token = await link('ann');
  expect((await one.call('setup', { token, name: null, password: PASSWORD })).body.state).toBe(
    'second_factor',
  );
});

test('whoever is disabled, removed, or given another password is out at once, streams too', async () => {
  const { browser, addUser } = await startAccess();
  await addUser('root');
  const root = browser();
  await root.logIn('root');
  for (const [operation, request] of [
    ['updateUser', { role: null, disabled: true }],
    ['removeUser', {}],
    ['resetPassword', { password: 'another password' }],
    ['endSessions', {}],
  ] as const) {
    const name = operation.toLowerCase();
    await addUser(name, 'operator');
    const one = browser();
    await one.logIn(name);
    const stream = await one.events();
    expect((await root.operation(operation, { name, ...request })).status, operation).toBe(200);
    await stream.closed;
    expect((await one.session()).body.state, operation).toBe('anonymous');
    expect((await one.operation('listKeys', {})).status, operation).toBe(401);
  }
  expect((await browser().logIn('updateuser')).body.code).toBe('user_disabled');
  expect((await browser().logIn('removeuser')).body.code).toBe('sign_in_refused');
  expect((await browser().logIn('endsessions')).status).toBe(200);
});

test('another role holds from the next request on', async () => {
  const { browser, addUser } = await startAccess();
  await addUser('root');
  await addUser('bea', 'admin');
  const [root, one] = [browser(), browser()];
  await root.logIn('root');
  await one.logIn('bea');
  expect((await one.operation('users', {})).status).toBe(200);
  await root.operation('updateUser', { name: 'bea', role: 'viewer', disabled: null });
  expect((await one.operation('users', {})).status).toBe(403);
});

test('the last administrator stays one, and says why', async () => {
  const { browser, addUser } = await startAccess();
  await addUser('root');
  const root = browser();
  await root.logIn('root');
  for (const [operation, request] of [
    ['removeUser', {}],
    ['updateUser', { role: 'viewer', disabled: null }],
    ['updateUser', { role: null, disabled: true }],
  ] as const) {
    const { status, body } = await root.operation<object>(operation, { name: 'root', ...request });
    expect([status, body.detail]).toEqual([409, expect.stringContaining('last administrator')]);
  }
});

test('administrators see every session, which is theirs, and end any; no answer has a secret', async () => {
  const { browser, addUser } = await startAccess();
  await addUser('root');
  await addUser('bea', 'viewer');
  const [root, one] = [browser(), browser('198.51.100.9')];
  await root.logIn('root');
  await one.logIn('bea');
  const { body } = await root.operation<{ id: string; name: string; current: boolean }[]>('sessions', {
    name: null,
  });
  expect(body.map(({ name, current }) => [name, current]).sort()).toEqual([
    ['bea', false],
    ['root', true],
  ]);
  const users = (await root.operation('users', {})).body;
  const text = JSON.stringify([body, users]);
  for (const secret of [root.cookie, one.cookie, 'argon2'])
    expect(text).not.toContain(secret?.split('=')[1] ?? secret);
  const id = body.find(({ name }) => name === 'bea')?.id ?? '';
  expect((await root.operation('endSession', { id })).status).toBe(200);
  expect((await root.operation('endSession', { id })).status).toBe(404);
  expect((await one.session()).body.state).toBe('anonymous');
});
