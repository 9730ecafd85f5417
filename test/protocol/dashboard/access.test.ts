/** Signing in and out: cookies, fixation, and how long a session lasts. */
import { expect, test } from 'vitest';
import { MINUTE, PASSWORD, startAccess } from './access-world.ts';

test('a session’s cookie is for this host, over TLS, and for no script and no other site', async () => {
  const { addUser, browser } = await startAccess();
  await addUser('ann');
  const { status, headers, body } = await browser().logIn('ann');
  expect([status, body]).toMatchObject([200, { state: 'signed_in', user: { name: 'ann', role: 'admin' } }]);
  expect(headers['set-cookie']).toHaveLength(1);
  expect(headers['set-cookie']?.[0]).toMatch(
    /^__Host-waybill-abc123=[A-Za-z0-9_-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
  );
});

test('signing in always gives another token: one that was planted before is worth nothing', async () => {
  const { addUser, browser } = await startAccess();
  await addUser('ann');
  const victim = browser();
  const planted = `__Host-waybill-abc123=${'A'.repeat(43)}`;
  victim.cookie = planted;
  await victim.logIn('ann');
  expect(victim.cookie).not.toBe(planted);
  const attacker = browser();
  attacker.cookie = planted;
  expect((await attacker.session()).body).toMatchObject({ state: 'anonymous' });
});

test('signing in again ends the session that the browser had', async () => {
  const { addUser, browser, accounts } = await startAccess();
  await addUser('ann');
  const [one, copy] = [browser(), browser()];
  await one.logIn('ann');
  copy.cookie = one.cookie;
  await one.logIn('ann');
  expect((await copy.operation('listKeys', {})).status).toBe(401);
  expect((await one.operation('listKeys', {})).status).toBe(200);
  expect((await accounts.user('ann', 0))?.sessions).toBe(1);
});

test('signing out ends the session on the server, and takes the cookie back', async () => {
  const { addUser, browser } = await startAccess();
  await addUser('ann');
  const one = browser();
  await one.logIn('ann');
  const kept = one.cookie;
  expect((await one.call('logout', {})).body).toMatchObject({ state: 'anonymous' });
  expect(one.cookie).toBeNull();
  one.cookie = kept;
  expect((await one.operation('listKeys', {})).status).toBe(401);
});

test('an unused session ends after webui.session_timeout_minutes, which holds at once when it is changed', async () => {
  const { addUser, browser, clock, state } = await startAccess();
  await addUser('ann');
  const one = browser();
  await one.logIn('ann');
  await clock.advance(479 * MINUTE);
  expect((await one.session()).body.state).toBe('signed_in');
  await clock.advance(479 * MINUTE);
  expect((await one.session()).body.state).toBe('signed_in');
  state.limits = { ...state.limits, idleMs: 5 * MINUTE };
  await clock.advance(5 * MINUTE);
  expect((await one.session()).body.state).toBe('anonymous');
});

test('what a page asks by itself, and its stream of events, keep no session alive', async () => {
  const { addUser, browser, clock } = await startAccess();
  await addUser('ann');
  const one = browser();
  await one.logIn('ann');
  const stream = await one.events();
  for (let i = 0; i < 16; i++) {
    await clock.advance(30 * MINUTE);
    if (i < 15) expect((await one.session({ 'waybill-background': '1' })).body.state).toBe('signed_in');
  }
  expect((await one.session({ 'waybill-background': '1' })).body.state).toBe('anonymous');
  await clock.advance(2 * MINUTE);
  await stream.closed;
});

test('a session ends after its longest time, however much it is used', async () => {
  const { addUser, browser, clock, state } = await startAccess();
  state.limits = { ...state.limits, maxMs: 3 * 60 * MINUTE };
  await addUser('ann');
  const one = browser();
  await one.logIn('ann');
  for (let hours = 1; hours < 3; hours++) {
    await clock.advance(60 * MINUTE);
    expect((await one.session()).body.state).toBe('signed_in');
  }
  await clock.advance(60 * MINUTE);
  expect((await one.session()).body.state).toBe('anonymous');
});

test('reading costs no commit: a use is written down within a minute, once', async () => {
  const { addUser, browser, clock, accounts } = await startAccess();
  await addUser('ann');
  const one = browser();
  await one.logIn('ann');
  const seen = async () => (await accounts.sessions('ann', clock.wall(), 0))[0]?.lastSeenAt ?? 0;
  const began = clock.wall();
  await clock.advance(30_000);
  await one.session();
  expect(await seen()).toBe(began);
  await clock.advance(31_000);
  expect(await seen()).toBe(began + 30_000);
});

test('one session more than a user may have ends the one used longest ago', async () => {
  const { addUser, browser, clock } = await startAccess();
  await addUser('ann');
  const all = [browser(), browser(), browser(), browser()];
  for (const one of all) {
    await one.logIn('ann');
    await clock.advance(1000);
  }
  const states = await Promise.all(all.map(async (one) => (await one.session()).body.state));
  expect(states).toEqual(['anonymous', 'signed_in', 'signed_in', 'signed_in']);
});

test('one’s own sessions are listed to anybody, and one or all others can be ended', async () => {
  const { addUser, browser } = await startAccess();
  await addUser('root');
  await addUser('ann', 'viewer');
  const [here, there] = [browser('192.0.2.7'), browser('198.51.100.9')];
  const other = browser();
  for (const one of [here, there]) await one.logIn('ann');
  await other.logIn('root');
  const { body: listed } = await here.call('sessions', {});
  expect(listed.map(({ sourceAddress, agent, current }) => [sourceAddress, agent, current]).sort()).toEqual([
    ['192.0.2.7', 'Test/1', true],
    ['198.51.100.9', 'Test/1', false],
  ]);
  const { body: root } = await other.session();
  const foreign = root.state === 'signed_in' ? root.user.session : '';
  expect((await here.call('end_session', { id: foreign })).body).toEqual({ ended: 0 });
  expect((await other.session()).body.state).toBe('signed_in');
  const stream = await there.events();
  expect((await here.call('sign_out_others', {})).body).toEqual({ ended: 1 });
  await stream.closed;
  expect((await there.session()).body.state).toBe('anonymous');
  expect((await here.session()).body.state).toBe('signed_in');
});

test('another password ends every other session, and gives this one another token', async () => {
  const { addUser, browser } = await startAccess();
  await addUser('ann');
  const [here, there] = [browser(), browser()];
  for (const one of [here, there]) await one.logIn('ann');
  const before = here.cookie;
  const next = 'staple staple staple';
  expect((await here.call('password', { current: 'not the password', next })).body.code).toBe(
    'password_refused',
  );
  expect((await here.call('password', { current: PASSWORD, next: 'short' })).body.code).toBe(
    'password_unfit',
  );
  expect((await here.call('password', { current: PASSWORD, next })).body.state).toBe('signed_in');
  expect(here.cookie).not.toBe(before);
  expect((await here.session()).body.state).toBe('signed_in');
  expect((await there.session()).body.state).toBe('anonymous');
  expect((await browser().logIn('ann')).status).toBe(401);
  expect((await browser().logIn('ann', next)).status).toBe(200);
});

test('an unknown call, field or type of field is refused, and what was sent is not repeated', async () => {
  const { browser } = await startAccess();
  const one = browser();
  expect((await one.call('nothing' as 'logout', {})).status).toBe(404);
  const wrong = { name: 'ann', password: ['hunter2hunter2'], more: 1 };
  const { status, body } = await one.call('login', wrong as never);
  expect([status, body.code]).toEqual([400, 'invalid']);
  expect(JSON.stringify(body)).not.toContain('hunter2');
  expect((await one.call('constructor' as 'logout', {})).status).toBe(404);
});
