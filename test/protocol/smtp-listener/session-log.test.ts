import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RequestLine } from '../../../src/domain/request-line.ts';
import { SUM_MS } from '../../../src/ingest/smtp/session-log.ts';
import type { SmtpClient } from '../../peers/smtp-client.ts';
import { cidrs } from '../../support/cidrs.ts';
import { MESSAGE, SmtpWorld, sendMessage } from './world.ts';

/** What the log of requests has of SMTP sessions: why the printer cannot send. */

let world: SmtpWorld;
let secret: string;
beforeAll(async () => {
  world = await SmtpWorld.start({ others: { allowedCidrs: cidrs('192.0.2.1') } });
  secret = await world.key({ id: 'key_app' });
});
afterAll(() => world.close());

let seen = 0;

/** The lines that have come since the last look, without what differs from run to run. */
async function written(): Promise<RequestLine[]> {
  await world.writer.flush();
  const all = { of: null, refused: null, kind: null, sourceAddress: null, messageId: null, looksAt: 100_000 };
  const { lines } = await world.stores.requests.requests({
    ...all,
    since: 0,
    until: null,
    after: null,
    limit: 1000,
  });
  const fresh = lines.slice(0, lines.length - seen).reverse();
  seen = lines.length;
  return fresh;
}

/** Says QUIT, and waits for the end. */
async function quit(client: SmtpClient): Promise<RequestLine | undefined> {
  expect(await client.ask('QUIT')).toMatch(/^221 /);
  client.reset();
  const [line, ...more] = await written();
  expect(more).toEqual([]);
  return line;
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

test('a session that sent is told of with its key, its TLS and its messages', async () => {
  const client = await world.secured();
  expect(await client.ask(`AUTH PLAIN ${base64(`\0app\0${secret}`)}`)).toMatch(/^235 /);
  await sendMessage(client);
  await sendMessage(client);
  expect(await quit(client)).toMatchObject({
    keyId: 'key_app',
    sourceAddress: '127.0.0.1',
    method: 'SMTP',
    status: 250,
    code: null,
    weight: 1,
    session: {
      hello: 'client.test',
      tls: 'TLSv1.3',
      offered: 2,
      accepted: 2,
      messages: world.intake.submissions.slice(-2).map(({ id }) => id),
      refused: 0,
      refusals: [],
      end: 'quit',
    },
  });
});

test('of the messages of a session all are counted, and the first twenty named', async () => {
  const client = await world.secured();
  await client.ask(`AUTH PLAIN ${base64(`\0app\0${secret}`)}`);
  for (let count = 0; count < 21; count++) await sendMessage(client);
  const sent = world.intake.submissions.slice(-21).map(({ id }) => id);
  expect((await quit(client))?.session).toMatchObject({ accepted: 21, messages: sent.slice(0, 20) });
});

test('a printer that may not relay is told of with the command, the reply and the reason, and no recipient', async () => {
  const client = await world.hello();
  await client.askAll(
    'MAIL FROM:<printer@example.com>',
    'RCPT TO:<ann@example.org>',
    'RCPT TO:<bob@example.org>',
  );
  const line = await quit(client);
  expect(line).toMatchObject({
    keyId: null,
    status: 550,
    code: 'relay_not_allowed',
    session: {
      tls: null,
      offered: 1,
      accepted: 0,
      refused: 2,
      refusals: [{ verb: 'RCPT', reply: 550, enhanced: '5.7.1', code: 'relay_not_allowed', times: 2 }],
      end: 'quit',
    },
  });
  expect(line?.session?.refusals[0]?.text).toMatch(/^127\.0\.0\.1 may not relay here/);
  expect(JSON.stringify(line)).not.toContain('example.');
});

test('further refusals of a stranger for the same reason become one line in ten minutes', async () => {
  for (let round = 0; round < 3; round++) {
    const client = await world.hello();
    await client.askAll('MAIL FROM:<printer@example.com>', 'RCPT TO:<ann@example.org>', 'QUIT');
  }
  expect(await written()).toEqual([]);
  await world.clock.advance(SUM_MS + 60_000);
  expect((await written()).map(({ code, weight }) => [code, weight])).toEqual([['relay_not_allowed', 3]]);
});

test('sessions that send nothing, and are refused nothing, are only counted', async () => {
  for (let round = 0; round < 3; round++) (await world.greeted()).reset();
  const asking = await world.hello();
  await asking.askAll('MAIL FROM:<>', 'RCPT TO:<postmaster>', 'QUIT');
  await world.until(() => world.sockets === 0);
  expect(await written()).toEqual([]);
  await world.clock.advance(SUM_MS + 60_000);
  expect((await written()).map(({ code, status, weight }) => [code, status, weight])).toEqual([
    ['nothing_sent', 221, 4],
  ]);
});

test('of many refusals the first ways are kept, and what is no command of ours is not shown', async () => {
  const client = await world.secured();
  await client.ask(`AUTH PLAIN ${base64(`\0app\0${secret}`)}`);
  await client.askAll(
    'SECRET of ann@example.org',
    'MAIL TO:<ann@example.org>',
    'RCPT TO:<ann@example.org>',
    'MAIL FROM:<ann@>',
    'AUTH CRAM-MD5',
    'DATA',
    'DATA now',
    'NOOP',
  );
  const line = await quit(client);
  expect(line?.session?.refusals.map(({ verb, reply, code }) => [verb, reply, code])).toEqual([
    [null, 500, 'command_syntax'],
    ['MAIL', 501, 'command_syntax'],
    ['RCPT', 503, 'command_order'],
    ['MAIL', 501, 'address_syntax'],
    ['AUTH', 503, 'command_order'],
  ]);
  expect(line?.session).toMatchObject({ refused: 7, offered: 2, accepted: 0 });
  expect(JSON.stringify(line)).not.toMatch(/example\.org|SECRET/);
});

test('a message that is refused for its content, and one of which the rest never came', async () => {
  const client = await world.secured();
  await client.ask(`AUTH PLAIN ${base64(`\0app\0${secret}`)}`);
  expect(await sendMessage(client, ['Subject: a bare\nnewline', ...MESSAGE.slice(3)])).toMatch(
    /^550 5\.6\.11/,
  );
  expect(await quit(client)).toMatchObject({ status: 550, code: 'bare_newline', session: { accepted: 0 } });
  const lost = await world.secured();
  await lost.ask(`AUTH PLAIN ${base64(`\0app\0${secret}`)}`);
  await lost.askAll('MAIL FROM:<a@example.com>', 'RCPT TO:<b@example.org>', 'DATA');
  lost.reset();
  await world.until(() => world.sockets === 0);
  expect(await written()).toMatchObject([
    { keyId: 'key_app', status: null, code: 'session_lost', session: { offered: 1, end: 'lost' } },
  ]);
});

test('a key that is no longer good is named', async () => {
  const revoked = await world.key({ id: 'key_old', revokedAt: world.clock.wall() });
  const client = await world.secured();
  expect(await world.passing(client.ask(`AUTH PLAIN ${base64(`\0app\0${revoked}`)}`))).toMatch(/^535 /);
  expect(await quit(client)).toMatchObject({
    keyId: 'key_old',
    code: 'auth_revoked',
    session: { refusals: [{ verb: 'AUTH', reply: 535, enhanced: '5.7.8' }] },
  });
});

test('a handshake that fails is told of, also where TLS begins with the connection', async () => {
  const client = await world.hello();
  expect(await client.ask('STARTTLS')).toMatch(/^220 /);
  await world.write(client, 'EHLO in clear\r\n');
  await world.until(() => world.sockets === 0);
  const late = await world.reach({ port: world.tlsPort });
  await world.write(late, 'EHLO in clear\r\n');
  await world.until(() => world.sockets === 0);
  // The second one is of the same source and reason.
  await world.clock.advance(SUM_MS + 60_000);
  expect((await written()).map(({ code, status, weight }) => [code, status, weight])).toEqual([
    ['tls_failed', null, 1],
    ['tls_failed', null, 1],
  ]);
});

test('nothing is noted while the log is not kept, and what is summed up is written when the listener closes', async () => {
  world.keepsRequests = false;
  const unseen = await world.hello();
  await unseen.askAll('MAIL FROM:<a@example.com>', 'RCPT TO:<b@example.org>', 'QUIT');
  world.keepsRequests = true;
  const counted = await world.hello();
  await counted.ask('QUIT');
  await world.listener.close(AbortSignal.abort());
  expect((await written()).map(({ code }) => code)).toEqual(['nothing_sent']);
});
