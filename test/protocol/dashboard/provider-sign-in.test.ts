/** Signing in with an identity provider: who comes in, as what, and what is told when nobody does. */
import { expect, test, vi } from 'vitest';
import { CLIENT, type Lies } from '../../peers/hostile-provider.ts';
import { advanceUntil } from '../smtp-out/rig.ts';
import { MINUTE } from './access-world.ts';
import { RULES, startWithProvider } from './provider-world.ts';

test('somebody whom the provider vouches for comes in, with the role of their group', async () => {
  const { browser, signIn, begin, accounts, journal, provider, clock, signIns } = await startWithProvider();
  const ann = browser();
  expect((await ann.session()).body).toEqual({
    state: 'anonymous',
    passkeys: false,
    provider: { name: 'Example SSO', elsewhere: null },
    signOutUrl: null,
  });
  const asked = new URL(await begin(ann)).searchParams;
  expect(Object.fromEntries(asked)).toMatchObject({
    response_type: 'code',
    client_id: CLIENT.id,
    redirect_uri: `https://${ann.host}/sign-in/callback`,
    scope: 'openid profile',
    code_challenge_method: 'S256',
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
  });
  const { status, body } = await signIn(ann);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    returnTo: '/',
    view: { state: 'signed_in', user: { name: 'ann', role: 'admin', provider: 'Example SSO' } },
  });
  expect(ann.kept).toBeNull();
  // That somebody left for the provider is not counted.
  expect(signIns).toEqual(['provider done']);
  expect((await ann.operation('users', {})).status).toBe(200);
  expect(await accounts.user('ann', clock.wall())).toMatchObject({
    provider: { issuer: provider.issuer, subject: 'ann-1' },
    passwordHash: null,
  });
  expect((await journal())[0]).toMatchObject({
    action: 'signIn',
    actor: 'ann',
    after: '{"by":"Example SSO","role":"admin","roleBefore":"none"}',
  });
  // The signature was checked, although TLS vouches for the answer.
  expect(provider.seen).toContain('/realm/jwks');
});

test('the cookie that waits for the answer is for this host, not for scripts, and short-lived', async () => {
  const { browser, provider } = await startWithProvider();
  const one = browser();
  const { headers, body } = await one.call('provider_begin', { returnTo: '/queue?relay=out' });
  expect(headers['set-cookie']).toEqual([
    expect.stringMatching(
      /^__Host-waybill-abc123-leaving=v1\.\S+; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=600$/,
    ),
  ]);
  const query = provider.authorize(body.url);
  // Nothing that it holds can be read from it.
  expect(one.kept).not.toContain(query.get('state') ?? '?');
  expect((await one.call('provider', { search: `?${query}` })).body.returnTo).toBe('/queue?relay=out');
});

test.each(['//evil.example', '/\\evil.example', 'https://evil.example/', 'queue', '', '/a b', '/a\\b'])(
  'nobody is sent on to %j',
  async (returnTo) => {
    const { browser } = await startWithProvider();
    expect((await browser().call('provider_begin', { returnTo })).status).toBe(400);
  },
);

test('a role follows the groups at every sign-in; without groups, all sessions end', async () => {
  const { browser, signIn, journal, accounts, clock } = await startWithProvider();
  const ann = browser();
  await signIn(ann);
  const other = browser('192.0.2.8');
  const { body } = await signIn(other, { claims: { groups: ['helpdesk', 'unknown'] } });
  expect(body.view).toMatchObject({ user: { name: 'ann', role: 'operator' } });
  expect((await ann.operation('users', {})).status).toBe(403);
  expect((await journal())[0]?.after).toBe('{"by":"Example SSO","role":"operator","roleBefore":"admin"}');
  const third = browser('192.0.2.9');
  const shut = await signIn(third, { claims: { groups: ['unknown'] } });
  expect([shut.status, shut.body.code]).toEqual([403, 'not_admitted']);
  expect(shut.body.detail).toContain('none of your groups');
  for (const one of [ann, other]) expect((await one.session()).body.state).toBe('anonymous');
  expect((await journal())[0]).toMatchObject({ action: 'signInFailed', subject: 'ann' });
  expect(await accounts.user('ann', clock.wall())).toMatchObject({ sessions: 0, disabled: false });
});

test('a local user of the same name keeps what is theirs', async () => {
  const { browser, signIn, addUser, accounts, clock } = await startWithProvider();
  await addUser('ann', 'viewer');
  const lies = { claims: { groups: ['admins'], email: 'ann@example.com', email_verified: true } };
  expect((await signIn(browser(), lies)).body.view).toMatchObject({ user: { name: 'ann-2', role: 'admin' } });
  expect(await accounts.user('ann', clock.wall())).toMatchObject({ role: 'viewer', provider: null });
  expect((await browser().logIn('ann')).body).toMatchObject({ user: { name: 'ann', provider: null } });
  // Nobody signs in as a user of the provider by password.
  expect((await browser().logIn('ann-2', '')).status).toBe(401);
});

test('whoever was disabled stays out, and whoever was removed comes as somebody new', async () => {
  const { browser, signIn, accounts, clock } = await startWithProvider();
  const ann = browser();
  await signIn(ann);
  await accounts.changeUser('ann', { role: null, disabled: true });
  expect((await signIn(browser())).body.code).toBe('user_disabled');
  expect(await accounts.user('ann', clock.wall())).toMatchObject({ disabled: true });
  await accounts.removeUser('ann');
  expect((await signIn(browser())).status).toBe(200);
});

test('what the provider says went wrong is told, and the log says more', async () => {
  const { browser, begin, finish, provider, lastFailure } = await startWithProvider();
  const one = browser();
  const query = provider.authorize(await begin(one));
  query.delete('code');
  query.set('error', 'access_denied');
  query.set('error_description', 'the user\r\npressed cancel');
  const denied = await finish(one, query);
  expect([denied.status, denied.body.code]).toEqual([403, 'provider_denied']);
  expect(denied.body.detail).toBe('Example SSO let nobody in (access_denied). Try again there.');
  expect(lastFailure()?.fields).toMatchObject({ error: 'access_denied: the user pressed cancel' });
  query.set('error', '<script>');
  expect((await finish(one, query)).body.detail).toContain('(other_error)');
  query.set('error', 'temporarily_unavailable');
  expect((await finish(one, query)).body.code).toBe('provider_failed');
});

test.each<[string, Lies]>([
  ['an error of its own', { answer: { status: 500, body: '{"error":"server_error"}' } }],
  ['a redirect', { answer: { status: 302, body: '' } }],
  ['a page instead', { answer: { status: 404, type: 'text/html', body: '<html>' } }],
  ['that it knows no such client', { answer: { status: 401, body: '{"error":"invalid_client"}' } }],
])('a provider that answers with %s has failed, and the password still counts', async (_what, lies) => {
  const { browser, signIn, logged } = await startWithProvider();
  const { status, body } = await signIn(browser(), lies);
  expect([status, body.code]).toEqual([503, 'provider_failed']);
  expect(logged.map(({ event }) => event)).toContain('sign_in.provider_failed');
  // Nobody is slowed for that.
  expect(logged.map(({ event }) => event)).not.toContain('sign_in.failed');
  expect((await browser().logIn('root')).body).toMatchObject({ state: 'signed_in' });
});

test('while the provider is away, the page says so', async () => {
  const { browser, provider, lastFailure, signIns } = await startWithProvider();
  provider.leave();
  const { status, body } = await browser().call('provider_begin', { returnTo: '/' });
  expect([status, body.code]).toEqual([503, 'provider_failed']);
  expect(body.detail).toContain('use your password');
  expect(signIns).toEqual(['provider failed']);
  expect(lastFailure()?.fields).toMatchObject({ code: 'connect_refused' });
  expect((await browser().session()).body).toMatchObject({ provider: { name: 'Example SSO' } });
});

test('a provider that failed is left alone for three seconds, however often the button is pressed', async () => {
  const { browser, provider, clock } = await startWithProvider();
  const press = async () => (await browser().call('provider_begin', { returnTo: '/' })).status;
  provider.lie({ metadata: { issuer: 'https://localhost/realm' } });
  expect(await press()).toBe(503);
  provider.lie({});
  await clock.advance(2999);
  expect(await press()).toBe(503);
  expect(provider.seen).toHaveLength(1);
  await clock.advance(1);
  expect(await press()).toBe(200);
});

test('a provider that takes the code and says nothing is given up', async () => {
  const { browser, signIn, clock, provider, lastFailure } = await startWithProvider();
  const signedIn = signIn(browser(), { hangs: true });
  // Not before: what is asked first would be given up instead.
  await vi.waitUntil(() => provider.seen.some((path) => path.endsWith('/token')), { timeout: 60_000 });
  const { status, body } = await advanceUntil(clock, 1000, signedIn);
  expect([status, body.code]).toEqual([503, 'provider_failed']);
  expect(lastFailure()?.fields).toMatchObject({ code: 'timeout_answer' });
});

test.each<[string, Lies, string]>([
  [
    'calls itself otherwise',
    { metadata: { issuer: 'https://localhost/realm' } },
    'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  ],
  [
    'has its tokens fetched in clear',
    { metadata: { token_endpoint: 'http://localhost/token' } },
    'OAUTH_HTTP_REQUEST_FORBIDDEN',
  ],
])('a provider that %s is not used', async (_what, lies, code) => {
  const { browser, signIn, lastFailure, provider } = await startWithProvider();
  provider.lie(lies);
  const one = browser();
  const { status } = await one.call('provider_begin', { returnTo: '/' });
  if (status === 200) expect((await signIn(one, lies)).body.code).toBe('provider_failed');
  expect(lastFailure()?.fields).toMatchObject({ code });
});

test('a provider whose issuer differs only in how it is written is another one', async () => {
  const { browser, configure, provider, lastFailure } = await startWithProvider();
  configure({ issuer: provider.issuer.replace('localhost', 'LOCALHOST') });
  expect((await browser().call('provider_begin', { returnTo: '/' })).body.code).toBe('provider_failed');
  expect(lastFailure()?.fields).toMatchObject({ code: 'other_issuer' });
});

test('a certificate that nobody vouches for, and a file that is not there, stop it', async () => {
  const { browser, configure, lastFailure } = await startWithProvider();
  for (const [caFile, code] of [
    [null, 'tls_failed'],
    ['/nowhere/ca.pem', 'ca_unreadable'],
  ] as const) {
    configure({ caFile });
    expect((await browser().call('provider_begin', { returnTo: '/' })).body.code).toBe('provider_failed');
    expect(lastFailure()?.fields).toMatchObject({ code });
  }
});

test('what it says of itself is asked once an hour, its keys when one is new', async () => {
  const { browser, signIn, provider, clock } = await startWithProvider();
  const asked = (path: string) => provider.seen.filter((one) => one.endsWith(path)).length;
  for (const place of [1, 2, 3]) expect((await signIn(browser(`192.0.2.${place}`))).status).toBe(200);
  expect([asked('openid-configuration'), asked('/jwks')]).toEqual([1, 1]);
  provider.rollOver();
  // The first one that meets a new key at once may fail; then everything is asked anew.
  const statuses = [];
  for (const place of [4, 5]) statuses.push((await signIn(browser(`192.0.2.${place}`))).status);
  expect(statuses.at(-1)).toBe(200);
  const before = asked('openid-configuration');
  await clock.advance(61 * MINUTE);
  expect((await signIn(browser('192.0.2.6'))).status).toBe(200);
  expect(asked('openid-configuration')).toBe(before + 1);
});

test('the user info is asked where the token says nothing of groups', async () => {
  const { browser, signIn, provider, configure } = await startWithProvider();
  const lies = { claims: { groups: undefined }, userinfo: { groups: ['helpdesk'] } };
  expect((await signIn(browser(), lies)).body.view).toMatchObject({ user: { role: 'operator' } });
  configure({ rules: { ...RULES, groupsClaim: ['realm_access', 'roles'] } });
  const nested = { claims: { realm_access: { roles: ['admins'] } } };
  const asked = provider.seen.filter((path) => path.endsWith('/userinfo')).length;
  expect((await signIn(browser(), nested)).body.view).toMatchObject({ user: { role: 'admin' } });
  expect(provider.seen.filter((path) => path.endsWith('/userinfo'))).toHaveLength(asked);
});

test('a session ends after its hours, and at once with the provider', async () => {
  const { browser, signIn, clock, configure, state } = await startWithProvider({ sessionMs: 60 * MINUTE });
  const ann = browser();
  await signIn(ann);
  await clock.advance(60 * MINUTE);
  expect((await ann.session()).body.state).toBe('anonymous');
  const bea = browser();
  await signIn(bea);
  configure({ issuer: 'https://other.example' });
  expect((await bea.session()).body.state).toBe('anonymous');
  state.provider = null;
  expect((await bea.session()).body).toMatchObject({ state: 'anonymous', provider: null });
  expect((await bea.call('provider_begin', { returnTo: '/' })).body.code).toBe('provider_missing');
});

test('signing out ends the session here, and says where the provider signs out', async () => {
  const { browser, signIn, provider } = await startWithProvider();
  const ann = browser();
  await signIn(ann);
  expect((await ann.call('logout', {})).body).toMatchObject({
    state: 'anonymous',
    signOutUrl: `${provider.issuer}/logout?client_id=${CLIENT.id}`,
  });
  const root = browser();
  await root.logIn('root');
  expect((await root.call('logout', {})).body).toMatchObject({ signOutUrl: null });
});

test('where the provider returns to another address, the page says which', async () => {
  const { browser } = await startWithProvider({ publicUrl: 'https://mail.example.com:8420' });
  const one = browser();
  expect((await one.session()).body).toMatchObject({
    provider: { name: 'Example SSO', elsewhere: 'https://mail.example.com:8420' },
  });
  const { status, body } = await one.call('provider_begin', { returnTo: '/' });
  expect([status, body.code]).toEqual([409, 'provider_elsewhere']);
});

test('guessing at answers is slowed, and not for others', async () => {
  const { browser, signIn, finish, begin } = await startWithProvider();
  const one = browser('192.0.2.66');
  await begin(one);
  const query = new URLSearchParams({ code: 'x', state: 'y' });
  const statuses = [];
  for (let i = 0; i < 6; i++) statuses.push((await finish(one, query)).status);
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  expect((await signIn(browser('192.0.2.67'))).status).toBe(200);
});
