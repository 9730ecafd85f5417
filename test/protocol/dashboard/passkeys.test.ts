/** Passkeys: an honest authenticator signs in, and no other answer does. */
import { expect, test } from 'vitest';
import type { Role } from '../../../src/domain/account.ts';
import { type Accounts, MAX_PASSKEYS } from '../../../src/store/accounts.ts';
import { answerWith, type Lies, makePasskey, type Passkey } from '../../peers/authenticator.ts';
import { type Browser, MINUTE, PASSWORD, startAccess } from './access-world.ts';

const ANONYMOUS = { state: 'anonymous', provider: null, signOutUrl: null } as const;

/** A dashboard with a host name, and browsers that know it by that. */
async function startByName() {
  const access = await startAccess();
  const host = `localhost:${access.dashboard.port}`;
  const browser = (source?: string) => Object.assign(access.browser(source), { host });
  const signedIn = async (name: string, role: Role = 'admin') => {
    await access.addUser(name, role);
    const one = browser();
    await one.logIn(name);
    return one;
  };
  return { ...access, origin: `https://${host}`, browser, signedIn };
}

/** Adds a passkey to the user who is signed in. */
async function addPasskey(one: Browser, origin: string, lies?: Lies) {
  const { options, begun } = (await one.call('passkey_add_begin', { password: PASSWORD })).body;
  const { passkey, response } = makePasskey(options, origin, lies);
  return { passkey, reply: await one.call('passkey_add', { begun, label: 'Laptop', response }) };
}

/** Signs in with a passkey. */
async function signIn(one: Browser, passkey: Passkey, origin: string, lies?: Lies) {
  const { options, begun } = (await one.call('passkey_begin', {})).body;
  return await one.call('passkey', { begun, response: answerWith(passkey, options, origin, lies) });
}

test('a passkey signs in without name, password and code, and the activity says so', async () => {
  const { accounts, browser, journal, origin, signedIn, signIns } = await startByName();
  const ann = await signedIn('ann');
  expect((await browser().session()).body).toEqual({ ...ANONYMOUS, passkeys: false });
  const { passkey, reply } = await addPasskey(ann, origin);
  expect(reply.body).toMatchObject({ state: 'signed_in', user: { passkeys: 1 } });
  await accounts.putSecondFactor('ann', { sealed: 'sealed', step: 1, recoveryHashes: [] });
  const other = browser();
  expect((await other.session()).body).toEqual({ ...ANONYMOUS, passkeys: true });
  expect((await signIn(other, passkey, origin)).body).toMatchObject({
    state: 'signed_in',
    user: { name: 'ann', role: 'admin' },
  });
  expect(signIns).toEqual(['password done', 'passkey done']);
  expect((await other.operation('users', {})).body).toMatchObject([{ name: 'ann', passkeys: 1 }]);
  expect((await other.call('passkeys', {})).body).toMatchObject([
    { id: passkey.id, label: 'Laptop', host: 'localhost', lastUsedAt: expect.any(String) },
  ]);
  expect((await journal()).map(({ action, actor, after }) => [action, actor, after])).toEqual([
    ['signIn', 'ann', '{"by":"passkey"}'],
    ['addPasskey', 'ann', '{"label":"Laptop","host":"localhost"}'],
    ['signIn', 'ann', null],
  ]);
});

test.each<[string, Lies]>([
  ['another challenge', { challenge: 'A'.repeat(43) }],
  ['the origin of another site', { origin: 'https://evil.example' }],
  ['the origin without TLS', { origin: 'http://localhost' }],
  ['the data of another host', { host: 'evil.example' }],
  ['an answer to another question', { type: 'webauthn.create' }],
  ['a user who was not verified', { userVerified: false }],
  ['nobody at the device', { userPresent: false }],
  ['another user', { userHandle: 'A'.repeat(43) }],
  ['no user', { userHandle: '' }],
])('%s signs nobody in', async (_what, lies) => {
  const { browser, origin, signedIn, journal } = await startByName();
  const { passkey } = await addPasskey(await signedIn('ann'), origin);
  const other = browser();
  const { status, body } = await signIn(other, passkey, origin, lies);
  expect([status, body.code]).toEqual([401, 'passkey_refused']);
  expect(other.cookie).toBeNull();
  expect((await journal())[0]).toMatchObject({ action: 'signInFailed', subject: 'ann' });
  expect((await signIn(other, passkey, origin)).status).toBe(200);
});

test('nor does the key of another, nor a passkey that nobody has', async () => {
  const { browser, origin, signedIn, journal } = await startByName();
  const { passkey } = await addPasskey(await signedIn('ann'), origin);
  const { passkey: bobs } = await addPasskey(await signedIn('bob', 'viewer'), origin);
  const other = browser();
  expect((await signIn(other, passkey, origin, { signer: bobs })).status).toBe(401);
  expect((await signIn(other, { ...passkey, id: 'AAAA' }, origin)).status).toBe(401);
  expect((await journal())[0]).toMatchObject({ action: 'signInFailed', subject: '' });
  expect(other.cookie).toBeNull();
});

test('an answer counts once, on no other page, and for five minutes', async () => {
  const { browser, clock, origin, signedIn } = await startByName();
  const ann = await signedIn('ann');
  const { passkey } = await addPasskey(ann, origin);
  const { options, begun } = (await ann.call('passkey_begin', {})).body;
  const response = answerWith(passkey, options, origin);
  expect((await browser().call('passkey', { begun, response })).status).toBe(200);
  expect((await browser().call('passkey', { begun, response })).body.code).toBe('passkey_refused');
  // What was begun for something else, or made up.
  const adding = (await ann.call('passkey_add_begin', { password: PASSWORD })).body;
  const answered = answerWith(passkey, { ...adding.options, rpId: 'localhost' }, origin);
  for (const text of [adding.begun, '', 'v1.x.y.z', `${begun}x`])
    expect((await browser().call('passkey', { begun: text, response: answered })).status, text).toBe(401);
  // On another port, which is another origin.
  const elsewhere = browser('192.0.2.8');
  elsewhere.host = 'localhost:1';
  const later = (await ann.call('passkey_begin', {})).body;
  const atHome = answerWith(passkey, later.options, origin);
  expect((await elsewhere.call('passkey', { begun: later.begun, response: atHome })).status).toBe(401);
  await clock.advance(5 * MINUTE);
  const late = await browser('192.0.2.8').call('passkey', { begun: later.begun, response: atHome });
  expect(late.status).toBe(401);
});

test('a device knows a user by the same random handle at all times, which another user of the name does not get', async () => {
  const { browser, origin, signedIn } = await startByName();
  const root = await signedIn('root');
  const handles = async (one: Browser) =>
    (await one.call('passkey_add_begin', { password: PASSWORD })).body.options.user.id;
  const bob = await signedIn('bob', 'viewer');
  const { passkey } = await addPasskey(bob, origin);
  expect(passkey.userHandle).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(await handles(bob)).toBe(passkey.userHandle);
  expect(await handles(root)).not.toBe(passkey.userHandle);
  await root.operation('removeUser', { name: 'bob' });
  expect(await handles(await signedIn('bob', 'viewer'))).not.toBe(passkey.userHandle);
  expect((await signIn(browser(), passkey, origin)).status).toBe(401);
});

test('a passkey of a version that kept no handle still signs in', async () => {
  const { accounts, browser, origin, signedIn } = await startByName();
  const { passkey } = await addPasskey(await signedIn('ann'), origin);
  const kept = await accounts.passkey(passkey.id);
  await accounts.removePasskeys('ann');
  await accounts.addPasskey(...passkeyOf(passkey.id, kept?.publicKey));
  const lies = { userHandle: 'from-a-hash-of-the-name' };
  expect((await signIn(browser(), passkey, origin, lies)).body).toMatchObject({ state: 'signed_in' });
});

test('an authenticator that counts is not copied: its count must rise', async () => {
  const { browser, origin, signedIn } = await startByName();
  const { passkey } = await addPasskey(await signedIn('ann'), origin, { counter: 5 });
  expect((await signIn(browser(), passkey, origin)).status).toBe(200);
  for (const counter of [6, 5, 0])
    expect((await signIn(browser(), passkey, origin, { counter })).status, String(counter)).toBe(401);
  expect((await signIn(browser(), passkey, origin, { counter: 7 })).status).toBe(200);
});

test('whoever is disabled, removed, or has lost the passkey is not let in', async () => {
  const { accounts, browser, origin, signedIn } = await startByName();
  const root = await signedIn('root');
  const bob = await signedIn('bob', 'viewer');
  const { passkey } = await addPasskey(bob, origin);
  await accounts.changeUser('bob', { role: null, disabled: true });
  expect((await signIn(browser(), passkey, origin)).body.code).toBe('user_disabled');
  await accounts.changeUser('bob', { role: null, disabled: false });
  await bob.logIn('bob');
  expect((await root.operation('removePasskeys', { name: 'bob' })).body).toMatchObject({ passkeys: 0 });
  // Whoever has the lost device is signed out on it.
  expect((await bob.session()).body.state).toBe('anonymous');
  expect((await signIn(browser(), passkey, origin)).status).toBe(401);
  await bob.logIn('bob');
  const second = await addPasskey(bob, origin);
  expect((await root.operation('removeUser', { name: 'bob' })).status).toBe(200);
  expect((await signIn(browser(), second.passkey, origin)).status).toBe(401);
  expect(await accounts.passkeys('bob')).toEqual([]);
});

test('a passkey is added and removed only with the password, and only by its owner', async () => {
  const { browser, journal, origin, signedIn } = await startByName();
  const ann = await signedIn('ann');
  const bob = await signedIn('bob', 'viewer');
  const wrong = { password: 'not the password' };
  expect((await ann.call('passkey_add_begin', wrong)).body.code).toBe('password_refused');
  expect((await browser().call('passkey_add_begin', { password: PASSWORD })).status).toBe(401);
  const { options, begun } = (await ann.call('passkey_add_begin', { password: PASSWORD })).body;
  const { passkey, response } = makePasskey(options, origin);
  // What one session has begun is nothing to another.
  const foreign = await bob.call('passkey_add', { begun, label: 'x', response });
  expect([foreign.status, foreign.body.code]).toEqual([409, 'passkey_unfit']);
  expect((await ann.call('passkey_add', { begun, label: 'x', response })).status).toBe(200);
  expect((await ann.call('passkey_add', { begun, label: 'x', response })).body.code).toBe('passkey_unfit');
  // One check of the password allows one passkey.
  const another = makePasskey(options, origin).response;
  const second = await ann.call('passkey_add', { begun, label: 'y', response: another });
  expect(second.body).toMatchObject({
    code: 'passkey_unfit',
    detail: expect.stringContaining('used before'),
  });
  const id = passkey.id;
  expect((await bob.call('passkey_remove', { id, password: PASSWORD })).body.code).toBe('passkey_missing');
  expect((await ann.call('passkey_remove', { id, ...wrong })).body.code).toBe('password_refused');
  expect((await ann.call('passkey_remove', { id, password: PASSWORD })).body).toMatchObject({
    user: { passkeys: 0 },
  });
  // Nor is a removed one put back by what added it.
  expect((await ann.call('passkey_add', { begun, label: 'x', response })).body.code).toBe('passkey_unfit');
  expect((await journal())[0]).toMatchObject({ action: 'removePasskey', actor: 'ann' });
  expect((await signIn(browser(), passkey, origin)).status).toBe(401);
});

test.each<[string, Lies]>([
  ['another challenge', { challenge: 'A'.repeat(43) }],
  ['another origin', { origin: 'https://evil.example' }],
  ['another host', { host: 'evil.example' }],
  ['a user who was not verified', { userVerified: false }],
  ['an answer to another question', { type: 'webauthn.get' }],
])('a new passkey with %s is not added', async (_what, lies) => {
  const { origin, signedIn } = await startByName();
  const ann = await signedIn('ann');
  expect((await addPasskey(ann, origin, lies)).reply.body.code).toBe('passkey_unfit');
  expect((await ann.call('passkeys', {})).body).toEqual([]);
});

test('there is a limit, and no passkey for an address or without the key for secrets', async () => {
  const { accounts, browser, dashboard, origin, signedIn, state } = await startByName();
  const ann = await signedIn('ann');
  for (let place = 0; place < MAX_PASSKEYS; place++) await accounts.addPasskey(...passkeyOf(`id${place}`));
  expect((await ann.call('passkey_add_begin', { password: PASSWORD })).body.code).toBe('passkey_unfit');
  // Its key is no key: the answer is refused all the same.
  const none = {
    id: 'id0',
    privateKey: (await addedElsewhere(origin)).privateKey,
    userHandle: '',
    counter: 0,
  };
  expect((await signIn(browser(), none, origin)).status).toBe(401);
  const byAddress = browser();
  byAddress.host = `127.0.0.1:${dashboard.port}`;
  expect((await byAddress.call('passkey_begin', {})).body.code).toBe('passkey_unfit');
  expect((await byAddress.session()).body).toEqual({ ...ANONYMOUS, passkeys: false });
  state.box = null;
  expect((await browser().call('passkey_begin', {})).body.code).toBe('secrets_unreadable');
});

test('hostile answers end in a refusal', async () => {
  const { browser, origin, signedIn } = await startByName();
  const ann = await signedIn('ann');
  const { passkey } = await addPasskey(ann, origin);
  const { options, begun } = (await ann.call('passkey_begin', {})).body;
  const good = answerWith(passkey, options, origin);
  for (const text of ['', 'AA', 'oA', 'A'.repeat(8192)])
    for (const field of ['clientDataJSON', 'authenticatorData', 'signature'] as const) {
      const response = { ...good, response: { ...good.response, [field]: text } };
      const { status } = await browser(`2001:db8:${text.length}:${field.length}::1`).call('passkey', {
        begun,
        response,
      });
      expect([401, 429], `${field} ${text.slice(0, 4)}`).toContain(status);
    }
  const tooLong = { ...good, id: 'A'.repeat(1365) };
  expect((await browser().call('passkey', { begun, response: tooLong })).status).toBe(400);
  const adding = (await ann.call('passkey_add_begin', { password: PASSWORD })).body;
  const made = makePasskey(adding.options, origin).response;
  for (const attestationObject of [
    '',
    'oA',
    '_'.repeat(8000),
    made.response.attestationObject.slice(0, 90),
  ]) {
    const response = { ...made, response: { ...made.response, attestationObject } };
    const { status } = await ann.call('passkey_add', { begun: adding.begun, label: 'x', response });
    expect(status, attestationObject.slice(0, 4)).toBe(409);
  }
});

/** A passkey of ann as a version before handles stored it, with a challenge. */
function passkeyOf(id: string, publicKey = 'AAAA'): Parameters<Accounts['addPasskey']> {
  const rest = { host: 'localhost', publicKey, counter: 0, label: 'x', createdAt: 0, lastUsedAt: null };
  return [
    { id, user: 'ann', handle: null, ...rest },
    { hash: id, expiresAt: 1 },
  ];
}

/** A passkey that no server knows. */
async function addedElsewhere(origin: string): Promise<Passkey> {
  return makePasskey({ challenge: 'AAAA', rp: { id: 'localhost' }, user: { id: 'AAAA' } }, origin).passkey;
}
