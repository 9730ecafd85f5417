/** Answers of an identity provider that are not to be believed: each signs nobody in. */
import { expect, test } from 'vitest';
import { CLIENT, type Lies } from '../../peers/hostile-provider.ts';
import { MINUTE } from './access-world.ts';
import { startWithProvider } from './provider-world.ts';

/** What no answer may say: each signs nobody in. */
const FALSE_ANSWERS: readonly [string, Lies][] = [
  ['another nonce', { claims: { nonce: 'A'.repeat(43) } }],
  ['no nonce', { claims: { nonce: undefined } }],
  ['another issuer', { claims: { iss: 'https://evil.example' } }],
  ['an issuer that only begins right', { claims: { iss: 'https://localhost/realm/' } }],
  ['no issuer', { claims: { iss: undefined } }],
  ['another audience', { claims: { aud: 'another' } }],
  ['no audience', { claims: { aud: undefined } }],
  ['a second audience', { claims: { aud: [CLIENT.id, 'another'], azp: CLIENT.id } }],
  ['another authorized party', { claims: { azp: 'another' } }],
  ['an expiry that has passed', { claims: { exp: Math.floor(Date.UTC(2026, 10, 19) / 1000) } }],
  ['no expiry', { claims: { exp: undefined } }],
  ['an age of six minutes', { claims: { iat: Math.floor(Date.UTC(2026, 10, 20) / 1000) - 360 } }],
  ['a time that is yet to come', { claims: { iat: Math.floor(Date.UTC(2026, 10, 20) / 1000) + 120 } }],
  ['no time', { claims: { iat: undefined } }],
  ['times that are texts', { claims: { iat: '1', exp: '9999999999' } }],
  ['no subject', { claims: { sub: undefined } }],
  ['an empty subject', { claims: { sub: '' } }],
  ['a subject without end', { claims: { sub: 'a'.repeat(256) } }],
  ['a subject that is no text', { claims: { sub: 7 } }],
  ['the signature of a stranger', { signed: 'by a stranger' }],
  ['no signature', { signed: 'not', header: { alg: 'none', kid: undefined } }],
  ['no signature where one is claimed', { signed: 'not' }],
  ['the client secret for a signature', { signed: 'with the client secret', header: { alg: 'HS256' } }],
  ['the public key for a signature', { signed: 'with the public key', header: { alg: 'HS256' } }],
  ['an algorithm that the key is not for', { header: { alg: 'PS256' } }],
  ['a key that nobody has', { header: { kid: 'k9' } }],
  ['a key of its own', { signed: 'by a stranger', header: { kid: undefined, jwk: { kty: 'RSA' } } }],
  ['a critical extension', { header: { crit: ['x'], x: 1 } }],
  ['no JSON', { answer: { status: 200, body: '<html>' } }],
  ['no token', { answer: { status: 200, body: '{"access_token":"a","token_type":"Bearer"}' } }],
  [
    'a token of more than 64 KiB',
    { answer: { status: 200, body: JSON.stringify({ id_token: 'a'.repeat(100_000) }) } },
  ],
  ['a token that is none', { token: () => 'token' }],
  ['a token without its middle', { token: (token) => token.replace(/\..*\./, '..') }],
  ['other claims behind the signature', { token: (token) => token.replace(/\.(.{20})/, '.$1AAAA') }],
  [
    'the user info of somebody else',
    { claims: { groups: undefined }, userinfo: { sub: 'bob', groups: ['admins'] } },
  ],
];

test.each(FALSE_ANSWERS)('%s signs nobody in', async (_what, lies) => {
  const { browser, signIn, accounts, clock, journal, logged } = await startWithProvider();
  const one = browser();
  const { status, body } = await signIn(one, lies);
  expect([status, body.code]).toEqual([401, 'provider_refused']);
  expect(one.cookie).toBeNull();
  expect((await accounts.users(clock.wall())).map(({ name }) => name)).toEqual(['root']);
  expect((await journal())[0]).toMatchObject({
    action: 'signInFailed',
    after: '{"guess":"provider","tries":1}',
  });
  expect(logged.filter(({ event }) => event === 'sign_in.provider_refused')).toHaveLength(1);
  expect(JSON.stringify(logged)).not.toContain(CLIENT.secret);
  // Everything else was right.
  expect((await signIn(browser('192.0.2.8'))).status).toBe(200);
});

test('an answer counts once, in the browser that asked, for ten minutes, and with its state', async () => {
  const { browser, begin, finish, provider, clock, accounts } = await startWithProvider();
  const one = browser('192.0.2.10');
  const url = await begin(one);
  const query = provider.authorize(url);
  const { kept } = one;
  // In another browser, which may have begun one, too.
  const other = browser('192.0.2.11');
  expect((await finish(other, query)).body.code).toBe('provider_refused');
  await begin(other);
  expect((await finish(other, query)).body.code).toBe('provider_refused');
  const forged = Object.assign(browser('192.0.2.12'), {
    kept: kept?.replace(/=v1\.[^.]+/, '=v1.0000') ?? null,
  });
  expect((await finish(forged, query)).body.code).toBe('provider_refused');
  for (const [name, value] of [
    ['state', ''],
    ['state', 'A'.repeat(43)],
    ['iss', 'https://evil.example'],
    ['iss', ''],
  ] as const) {
    const changed = new URLSearchParams(query);
    changed.set(name, value);
    expect((await finish(one, changed)).body.code, `${name} ${value}`).toBe('provider_refused');
  }
  const twice = new URLSearchParams([...query, ['state', query.get('state') ?? '']]);
  expect((await finish(browser('192.0.2.13'), twice)).body.code).toBe('provider_refused');
  // None of these has used it up.
  const late = Object.assign(browser('192.0.2.14'), { kept });
  expect((await finish(late, query)).status).toBe(200);
  // Nor does the provider sign anybody in twice by answering twice.
  const again = Object.assign(browser('192.0.2.15'), { kept });
  expect((await finish(again, provider.authorize(url))).body.code).toBe('provider_refused');
  await accounts.removeUser('ann');
  const third = browser('192.0.2.16');
  const aged = provider.authorize(await begin(third));
  await clock.advance(10 * MINUTE);
  expect((await finish(third, aged)).body.code).toBe('provider_refused');
});

test('a code that is caught on its way is worth nothing without the verifier', async () => {
  const { browser, begin, finish, provider, lastFailure } = await startWithProvider();
  const victim = browser();
  const caught = provider.authorize(await begin(victim));
  const thief = browser('192.0.2.8');
  const own = provider.authorize(await begin(thief));
  own.set('code', caught.get('code') ?? '');
  expect((await finish(thief, own)).body.code).toBe('provider_refused');
  expect(lastFailure()?.fields).toMatchObject({ code: 'invalid_grant' });
});
