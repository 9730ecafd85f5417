import { afterEach, describe, expect, test } from 'vitest';
import type { ApiKey } from '../../../src/domain/key.ts';
import type { SmtpClient } from '../../peers/smtp-client.ts';
import { cidrs } from '../../support/cidrs.ts';
import { twinKeys } from '../../support/wrong-key.ts';
import { beginData, MESSAGE, QUEUED, SmtpWorld, sendMessage } from './world.ts';

/** AUTH (RFC 4954) with real keys: the password is an API key (contract §9). */

let world: SmtpWorld;
afterEach(() => world.close());

const base64 = (text: string) => Buffer.from(text).toString('base64');
const plain = (secret: string, user = 'app') => `AUTH PLAIN ${base64(`\0${user}\0${secret}`)}`;
const WRONG = 'wb_live_nothing';

/** A world in which nobody may relay without a key. */
function start(): Promise<SmtpWorld> {
  return SmtpWorld.start({ others: { allowedCidrs: cidrs('192.0.2.1') } });
}

async function login(client: SmtpClient, secret: string): Promise<string> {
  expect(await client.ask('AUTH LOGIN')).toMatch(/^334 /);
  expect(await client.ask(base64('app'))).toMatch(/^334 /);
  return await client.ask(base64(secret));
}

test.each([
  ['PLAIN', (client: SmtpClient, secret: string) => client.ask(plain(secret))],
  ['LOGIN', login],
])('a right key by %s lets a stranger send, and owns what he sends', async (_mechanism, authenticate) => {
  world = await start();
  const client = await world.secured();
  expect(await authenticate(client, await world.key({ id: 'key_app' }))).toMatch(/^235 2\.7\.0 /);
  expect(await sendMessage(client)).toMatch(QUEUED);
  expect(world.last).toMatchObject({ keyId: 'key_app', source: 'smtp', test: false });
});

test.each([
  ['PLAIN', (client: SmtpClient, secret: string) => client.ask(plain(secret))],
  ['LOGIN', login],
])('a key that differs from a good one in its last characters is refused, by %s', async (_, authenticate) => {
  world = await start();
  const [good, unknown] = twinKeys();
  await world.key({}, good);
  expect(await authenticate(await world.secured(), good)).toMatch(/^235 /);
  expect(await world.passing(authenticate(await world.secured(), unknown))).toMatch(/^535 5\.7\.8 /);
});

test('what a test key sends is captured', async () => {
  world = await start();
  const client = await world.secured();
  expect(await client.ask(plain(await world.key({ mode: 'test' })))).toMatch(/^235 /);
  expect(await sendMessage(client)).toMatch(QUEUED);
  expect(world.last.test).toBe(true);
});

test.each([
  ['worker-1', [], 'worker-1'],
  ['Worker-1', [], 'worker-1'],
  ['suite', [], undefined],
  ['Ann Lee', [], undefined],
  ['worker-1', ['X-Waybill-Box: worker-2'], 'worker-2'],
])('the user name %s beside a test key, and a header %j: the box is %s', async (user, header, box) => {
  world = await start();
  const client = await world.secured();
  const key = await world.key({ mode: 'test', name: 'suite' });
  expect(await client.ask(plain(key, user))).toMatch(/^235 /);
  expect(await sendMessage(client, [...header, ...MESSAGE])).toMatch(QUEUED);
  expect(world.last.box).toBe(box);
  expect(world.lastText).not.toContain('X-Waybill-Box');
});

test('AUTH is offered under TLS only, and 538 before', async () => {
  world = await start();
  const client = await world.greeted();
  expect(await client.ask('EHLO client.test')).not.toContain('AUTH');
  expect(await client.ask(plain(WRONG))).toMatch(/^538 5\.7\.11 /);
  await client.startTls();
  expect(await client.ask('EHLO client.test')).toContain('|250-AUTH PLAIN LOGIN');
});

test('what was proved before STARTTLS counts no longer behind it', async () => {
  world = await start();
  world.options.settings.allowInsecureAuth = true;
  const client = await world.hello();
  expect(await client.ask(plain(await world.key()))).toMatch(/^235 /);
  await client.startTls();
  await client.ask('EHLO client.test');
  expect((await client.askAll('MAIL FROM:<a@example.com>', 'RCPT TO:<b@example.org>'))[1]).toMatch(/^550 /);
});

describe('a key that is refused', () => {
  const refused = async (facts: Partial<ApiKey>): Promise<string> => {
    world = await start();
    const client = await world.secured();
    client.say(plain(await world.key(facts)));
    return await world.passing(client.reply());
  };

  test('without the scope messages:send', async () => {
    expect(await refused({ scopes: ['messages:read'] })).toMatch(/^535 5\.7\.8 .*messages:send/);
    expect(world.denied).toEqual(['scope_missing']);
  });

  test('from a source that it may not be used from', async () => {
    expect(await refused({ cidrs: ['10.0.0.0/8'] })).toMatch(/^535 5\.7\.8 .*127\.0\.0\.1/);
    expect(world.denied).toEqual(['key_source_not_allowed']);
  });

  test('which is revoked', async () => {
    expect(await refused({ revokedAt: 0 })).toMatch(/^535 5\.7\.8 The password must be a valid API key/);
    expect(world.denied).toEqual(['auth_revoked']);
  });

  test('which has expired', async () => {
    expect(await refused({ expiresAt: 1 })).toMatch(/^535 5\.7\.8 The password must be a valid API key/);
    expect(world.denied).toEqual(['auth_expired']);
  });
});

test('wrong keys are answered more and more slowly, and at last with 421; a right one from the same address at once', async () => {
  world = await start();
  world.options.settings.maxAuthFailures = 4;
  const guesser = await world.secured();
  const neighbour = await world.secured();
  const secret = await world.key();
  let before = 0;
  for (let count = 1; count <= 4; count++) {
    const begun = world.clock.mono();
    guesser.say(plain(WRONG));
    const reply = guesser.reply();
    expect(await neighbour.ask('NOOP')).toMatch(/^250 /);
    expect(await world.passing(reply)).toMatch(count < 4 ? /^535 5\.7\.8 / : /^421 4\.7\.0 /);
    const waited = world.clock.mono() - begun;
    expect(waited).toBeGreaterThan(before);
    before = waited;
  }
  expect(await guesser.rest()).toBe('');
  expect(world.denied).toEqual([...Array(4).fill('auth_malformed'), 'too_many_errors']);
  // No time passes.
  expect(await neighbour.ask(plain(secret))).toMatch(/^235 /);
});

test('a client that goes away while its wrong key is being answered leaves nothing', async () => {
  world = await start();
  for (const leave of ['reset', 'destroy'] as const) {
    const client = await world.secured();
    await world.write(client, `${plain(WRONG)}\r\n`);
    client[leave]();
    // The answer is due at some time, and then for nobody.
    await world.clock.advance(60_000);
    await world.expectNothingLeft();
  }
});

test('a key that is revoked sends nothing more within a second, in a session that is open', async () => {
  world = await start();
  const secret = await world.key({ id: 'key_app' });
  const client = await world.secured();
  expect(await client.ask(plain(secret))).toMatch(/^235 /);
  expect(await sendMessage(client)).toMatch(QUEUED);
  await world.stores.keyring.revoke('key_app', world.clock.wall());
  await world.clock.advance(1000);
  expect(await client.ask('MAIL FROM:<a@example.com>')).toMatch(/^421 4\.7\.0 /);
  expect(world.denied).toEqual(['auth_revoked']);
  const again = await world.secured();
  again.say(plain(secret));
  expect(await world.passing(again.reply())).toMatch(/^535 /);
  expect(world.intake.submissions.length).toBe(1);
});

test('nor a message that was coming in when it was revoked', async () => {
  world = await start();
  const secret = await world.key({ id: 'key_app' });
  const client = await world.secured();
  expect(await client.ask(plain(secret))).toMatch(/^235 /);
  await beginData(client);
  await world.stores.keyring.revoke('key_app', world.clock.wall());
  await world.clock.advance(1000);
  client.say('From: <a@example.com>', '', 'x', '.');
  expect(await client.reply()).toMatch(/^421 4\.7\.0 This API key is no longer valid/);
  expect(world.denied).toEqual(['auth_revoked']);
  expect(world.intake.submissions).toEqual([]);
  client.halfClose();
  await world.expectNothingLeft();
});

/** That none of what is in secrets and messages, in clear or in base64, was logged, told as an event or replied. */
function expectSecret(secrets: readonly string[], replies: readonly string[]): void {
  const told = JSON.stringify([replies, world.lines, world.seen]);
  for (const secret of secrets)
    for (const form of [secret, base64(secret).replaceAll('=', '')]) expect(told).not.toContain(form);
}

describe('nothing of a key, a user name or a body is logged or told', () => {
  const USER = 'Marguerite';
  const BODY = 'Confidential';
  const MESSAGE = ['From: <a@example.com>', 'Subject: x', '', `${BODY}.`, '.'];
  /** What a key is besides its public beginning, and how it is sent. */
  const partsOf = (secret: string) => [secret.slice(16, 30), plain(secret, USER).slice('AUTH PLAIN '.length)];

  test('whether the key is right, wrong, revoked or torn', async () => {
    world = await start();
    world.options.settings.maxAuthFailures = 100;
    const right = await world.key();
    const secrets = [USER, BODY, ...partsOf(right)];
    const replies: string[] = [];
    const attempts = [`${right.slice(0, -1)}!`, right.slice(0, 32), await world.key({ revokedAt: 0 }), right];
    for (const secret of attempts) {
      secrets.push(...partsOf(secret));
      const client = await world.secured();
      client.say(plain(secret, USER));
      replies.push(await world.passing(client.reply()));
      const torn = await world.secured();
      torn.say('AUTH LOGIN', base64(USER), `${base64(secret)}!`);
      for (let count = 0; count < 3; count++) replies.push(await world.passing(torn.reply()));
      if (secret === right) replies.push(await sendMessage(client, MESSAGE));
      client.say('QUIT');
      await client.rest();
    }
    expect(replies.at(-1)).toMatch(QUEUED);
    expect(world.lines.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['source.denied', 'smtp.session_ended']),
    );
    expectSecret(secrets, replies);
  });

  test('also when a fault of ours ends the session', async () => {
    world = await start();
    const secret = await world.key();
    const client = await world.secured();
    expect(await client.ask(plain(secret, USER))).toMatch(/^235 /);
    await beginData(client);
    world.intake.accept = () => Promise.reject(new TypeError('a bug'));
    client.say(...MESSAGE);
    const rest = await client.rest();
    expect(world.logged).toEqual(['smtp.session_failed']);
    expectSecret([USER, BODY, ...partsOf(secret)], [rest]);
  });
});

test('with listener.require_auth those who may relay must authenticate as well', async () => {
  world = await SmtpWorld.start({ settings: { requireAuth: true } });
  const client = await world.secured();
  expect(await client.ask('MAIL FROM:<a@example.com>')).toMatch(/^530 5\.7\.0 /);
  expect(await client.ask(plain(await world.key()))).toMatch(/^235 /);
  await beginData(client);
});
