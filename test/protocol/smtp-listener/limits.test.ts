import { afterEach, expect, test } from 'vitest';
import { MAX_TURNED_AWAY_OF_SOURCE } from '../../../src/ingest/smtp/connections.ts';
import { cidrs } from '../../support/cidrs.ts';
import { beginData, ENVELOPE, MESSAGE, messageOf, QUEUED, SmtpWorld, sendMessage } from './world.ts';

/** Everything that can grow has a limit, and what goes past it gets its proper code. */

let world: SmtpWorld;
afterEach(() => world.close());

test('connections beyond listener.max_connections get 421, whoever they come from, and room is used again', async () => {
  world = await SmtpWorld.start({ settings: { maxConnections: 2 } });
  const first = await world.hello({ from: '127.0.0.2' });
  await world.hello({ from: '127.0.0.3', implicitTls: true });
  const third = await world.reach({ from: '127.0.0.4' });
  expect(await third.rest()).toMatch(/^421 4\.3\.2 [^\r\n]*listener\.max_connections\)[^\r\n]*\r\n$/);
  third.halfClose();
  expect(world.denied).toEqual(['too_many_connections']);
  expect(await sendMessage(first)).toMatch(QUEUED);
  first.destroy();
  await world.until(() => world.sockets === 1);
  await world.hello({ from: '127.0.0.4' });
});

test('connections of one source beyond listener.max_connections_per_source get 421', async () => {
  world = await SmtpWorld.start({ settings: { maxConnectionsPerSource: 2 } });
  const first = await world.hello({ from: '127.0.0.2' });
  await world.hello({ from: '127.0.0.2' });
  const third = await world.reach({ from: '127.0.0.2' });
  expect(await third.rest()).toMatch(/^421 4\.7\.0 [^\r\n]*listener\.max_connections_per_source\)\r\n$/);
  third.halfClose();
  await world.hello({ from: '127.0.0.3' });
  first.destroy();
  await world.until(() => world.sockets === 2);
  await world.hello({ from: '127.0.0.2' });
});

test('a connection too many on a port of implicit TLS is just ended', async () => {
  world = await SmtpWorld.start({ settings: { maxConnectionsPerSource: 1 } });
  await world.hello();
  const second = await world.reach({ port: world.tlsPort });
  expect(await second.rest()).toBe('');
});

test('limits hold as they are set now', async () => {
  world = await SmtpWorld.start();
  const client = await world.hello();
  world.options.settings = { ...world.options.settings, maxConnections: 1, hardErrors: 1 };
  expect(await (await world.reach()).reply()).toMatch(/^421 4\.3\.2 /);
  expect(await client.ask('NONSENSE')).toMatch(/^500 /);
  expect(await client.reply()).toMatch(/^421 4\.7\.0 /);
});

test('a thousand connections beyond the limit are turned away, and nothing is left of them', async () => {
  world = await SmtpWorld.start({ settings: { maxConnections: 1 } });
  const client = await world.hello();
  for (let batch = 0; batch < 10; batch++) {
    const turnedAway = await Promise.all(Array.from({ length: 100 }, () => world.reach()));
    for (const { closed, socket } of turnedAway) {
      socket.end();
      await closed;
    }
  }
  await world.until(() => world.sockets === 1);
  expect(await sendMessage(client)).toMatch(QUEUED);
  // A flood of one source is told in sums.
  await world.clock.advance(10_000);
  const counts = world.seen.map((event) => (event.type === 'denied' ? event.count : 0));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1000);
  expect(world.denied.length).toBeLessThan(100);
});

test('who was turned away, and does not leave, takes no place of others', async () => {
  world = await SmtpWorld.start({ settings: { maxConnections: 3, maxConnectionsPerSource: 1 } });
  await world.hello({ from: '127.0.0.2' });
  for (let count = 0; count < 5; count++)
    expect(await (await world.reach({ from: '127.0.0.2' })).rest()).toMatch(/^421 4\.7\.0 /);
  expect(world.listener.connections).toBe(1);
  await world.hello({ from: '127.0.0.3' });
});

test('not many of one source are told why at once, so that others are', async () => {
  world = await SmtpWorld.start({ settings: { maxConnections: 0 } });
  const rests = async (from: string) => {
    const clients = await Promise.all(Array.from({ length: 30 }, () => world.reach({ from })));
    const texts = await Promise.all(clients.map((client) => client.rest()));
    return texts.filter((text) => text.startsWith('421 4.3.2 ')).length;
  };
  expect(await rests('127.0.0.2')).toBe(MAX_TURNED_AWAY_OF_SOURCE);
  expect(await rests('127.0.0.3')).toBe(MAX_TURNED_AWAY_OF_SOURCE);
  // Those have their time.
  await world.clock.advance(10_000);
  await world.until(() => world.sockets === 0);
  expect(await rests('127.0.0.2')).toBe(MAX_TURNED_AWAY_OF_SOURCE);
});

test('messages beyond listener.max_messages_per_connection get 421', async () => {
  world = await SmtpWorld.start({ settings: { maxMessagesPerConnection: 2 } });
  const client = await world.hello();
  for (let count = 0; count < 2; count++) expect(await sendMessage(client)).toMatch(QUEUED);
  expect(await client.ask('MAIL FROM:<a@example.com>')).toMatch(/^421 4\./);
  expect(await client.rest()).toBe('');
  expect(world.intake.submissions.length).toBe(2);
});

test('commands beyond listener.max_commands_without_mail get 421; a message begins the count anew', async () => {
  world = await SmtpWorld.start({ settings: { maxCommandsWithoutMail: 5 } });
  const client = await world.hello();
  for (let count = 0; count < 4; count++) expect(await client.ask('NOOP')).toMatch(/^250 /);
  expect(await sendMessage(client)).toMatch(QUEUED);
  for (let count = 0; count < 5; count++) expect(await client.ask('RSET')).toMatch(/^250 /);
  expect(await client.ask('NOOP')).toMatch(/^421 4\.7\.0 /);
  expect(await client.rest()).toBe('');
  expect(world.denied).toEqual(['too_many_commands']);
});

test('errors beyond listener.soft_errors are answered more and more slowly, beyond listener.hard_errors with 421', async () => {
  world = await SmtpWorld.start({ settings: { softErrors: 2, hardErrors: 5 } });
  const client = await world.hello();
  for (let count = 0; count < 2; count++) expect(await client.ask('NONSENSE')).toMatch(/^500 /);
  let before = 0;
  for (let count = 0; count < 2; count++) {
    // What is refused is said at once; the next command waits.
    expect(await client.ask('NONSENSE')).toMatch(/^500 /);
    const begun = world.clock.mono();
    const received = client.received.length;
    client.say('NOOP');
    for (let turn = 0; turn < 5; turn++) await world.clock.advance(10);
    expect(client.received.length).toBe(received);
    expect(await world.passing(client.reply())).toMatch(/^250 /);
    const waited = world.clock.mono() - begun;
    expect(waited).toBeGreaterThan(before);
    before = waited;
  }
  expect(await client.ask('NONSENSE')).toMatch(/^500 /);
  expect(await client.reply()).toMatch(/^421 4\.7\.0 /);
  expect(world.denied).toEqual(['too_many_errors']);
});

test('bad addresses in a long list are refused one by one, and the message goes to the others', async () => {
  world = await SmtpWorld.start({ settings: { softErrors: 2, hardErrors: 5 } });
  const client = await world.hello();
  await client.ask('MAIL FROM:<a@example.com>');
  for (let count = 0; count < 20; count++) {
    expect(await client.ask(`RCPT TO:<good${count}@example.org>`)).toMatch(/^250 /);
    expect(await client.ask(`RCPT TO:<bad${count}@under_score.example>`)).toMatch(/^501 5\.1\.3 /);
  }
  expect(await client.ask('DATA')).toMatch(/^354 /);
  client.say(...MESSAGE);
  expect(await client.reply()).toMatch(QUEUED);
  expect(world.last.envelope.recipients.length).toBe(20);
});

test('where most addresses are bad they count as errors', async () => {
  world = await SmtpWorld.start({ settings: { softErrors: 50, hardErrors: 3 } });
  const client = await world.hello();
  await client.ask('MAIL FROM:<a@example.com>');
  expect(await client.ask('RCPT TO:<good@example.org>')).toMatch(/^250 /);
  for (let count = 0; count < 4; count++)
    expect(await client.ask('RCPT TO:<bad@under_score.example>')).toMatch(/^501 5\.1\.3 /);
  expect(await client.reply()).toMatch(/^421 4\.7\.0 /);
});

test('a message that is taken forgives errors', async () => {
  world = await SmtpWorld.start({ settings: { softErrors: 50, hardErrors: 3 } });
  const client = await world.hello();
  for (let round = 0; round < 3; round++) {
    for (let count = 0; count < 2; count++) expect(await client.ask('NONSENSE')).toMatch(/^500 /);
    expect(await sendMessage(client)).toMatch(QUEUED);
  }
});

test('recipients beyond api.max_recipients get 452, and the message goes to those before', async () => {
  world = await SmtpWorld.start({ limits: { maxRecipients: 100 } });
  const client = await world.hello();
  await client.ask('MAIL FROM:<a@example.com>');
  const commands = Array.from({ length: 102 }, (_, i) => `RCPT TO:<r${i}@example.org>`);
  const replies = await client.askAll(...commands);
  expect(replies.slice(0, 100).every((reply) => reply.startsWith('250 2.1.5'))).toBe(true);
  for (const reply of replies.slice(100)) expect(reply).toMatch(/^452 4\.5\.3 /);
  expect(await client.ask('DATA')).toMatch(/^354 /);
  client.say(...MESSAGE);
  expect(await client.reply()).toMatch(QUEUED);
  expect(world.last.envelope.recipients.length).toBe(100);
});

test('a message beyond api.max_message_bytes gets 552: at MAIL where it says so, else at its end, and the session lives', async () => {
  world = await SmtpWorld.start({ limits: { maxMessageBytes: 50_000 } });
  const client = await world.hello();
  expect(await client.ask('MAIL FROM:<a@example.com> SIZE=50001')).toMatch(/^552 5\.3\.4 /);
  await beginData(client);
  client.write(messageOf(60_000));
  expect(await client.reply()).toMatch(/^552 5\.3\.4 /);
  expect(world.bytesInFlight).toBe(0);
  expect(await sendMessage(client)).toMatch(QUEUED);
  expect(world.intake.submissions.length).toBe(1);
});

test('what is sent ahead of an answer is not read into memory, and answered then', async () => {
  world = await SmtpWorld.start();
  const client = await world.inData();
  const release = world.intake.holdAnswers();
  client.say(...MESSAGE);
  await world.until(() => world.intake.handed === 1);
  const ahead = 100_000;
  client.write('NOOP\r\n'.repeat(ahead));
  const end = world.serverEnd(client);
  await world.until(() => end.isPaused());
  const { bytesRead } = end;
  await world.clock.advance(60_000);
  expect(end.bytesRead - bytesRead).toBeLessThan(200_000);
  world.options.settings.maxCommandsWithoutMail = ahead;
  release();
  expect(await client.reply()).toMatch(QUEUED);
  client.halfClose();
  expect((await client.rest()).length).toBe('250 2.0.0 OK\r\n'.length * ahead);
});

test('messages of one source beyond listener.rate_limit_per_source get 450, and others are served', async () => {
  world = await SmtpWorld.start({ settings: { rateLimitPerSource: 2 } });
  const client = await world.hello({ from: '127.0.0.2' });
  for (let count = 0; count < 2; count++) expect(await sendMessage(client)).toMatch(QUEUED);
  expect(await client.ask('MAIL FROM:<a@example.com>')).toMatch(/^450 4\.7\.1 /);
  expect(await sendMessage(await world.hello({ from: '127.0.0.3' }))).toMatch(QUEUED);
  await world.clock.advance(61_000);
  expect(await sendMessage(client)).toMatch(QUEUED);
});

test('a stranger may not relay, is told what to allow, and is counted with his address', async () => {
  world = await SmtpWorld.start({ others: { allowedCidrs: cidrs('127.0.0.2') } });
  const stranger = await world.hello({ from: '127.0.0.3' });
  expect((await stranger.askAll(...ENVELOPE))[1]).toMatch(
    /^550 5\.7\.1 127\.0\.0\.3 may not relay here; allow it in listener\.allowed_cidrs/,
  );
  expect(await stranger.ask('DATA')).toMatch(/^554 /);
  const denials = world.seen.flatMap((event) => (event.type === 'denied' ? [event] : []));
  expect(denials.map(({ reason, sourceAddress }) => [reason, sourceAddress])).toEqual([
    ['relay_not_allowed', '127.0.0.3'],
  ]);
  expect(await sendMessage(await world.hello({ from: '127.0.0.2' }))).toMatch(QUEUED);
});
