import { afterEach, expect, test } from 'vitest';
import { MESSAGE, QUEUED, SmtpWorld, sendMessage } from './world.ts';

/** How long a client may be silent, or slow; all by the clock that the test moves. */

let world: SmtpWorld;
afterEach(() => world.close());

const IDLE = /^421 4\.4\.2 [^\r\n]*\r\n$/;
/** Time-outs are looked at once a second. */
const LOOK_MS = 1000;

test.each([false, true])('silence between commands ends in 421 (TLS: %s)', async (implicitTls) => {
  world = await SmtpWorld.start({ settings: { commandTimeoutSeconds: 100 } });
  const client = await world.hello({ implicitTls });
  await world.clock.advance(99_000);
  expect(await client.ask('NOOP')).toMatch(/^250 /);
  await world.clock.advance(99_000);
  expect(client.ended).toBe(false);
  await world.clock.advance(1000 + LOOK_MS);
  expect(await client.rest()).toMatch(IDLE);
  client.halfClose();
  await world.expectNothingLeft();
});

test('silence within a message ends in 421 sooner, and nothing of it is kept', async () => {
  world = await SmtpWorld.start({ settings: { commandTimeoutSeconds: 300, dataTimeoutSeconds: 60 } });
  const client = await world.inData();
  await world.write(client, 'Subject: Hello\r\n');
  await world.clock.advance(59_000);
  expect(client.ended).toBe(false);
  await world.write(client, '\r\n');
  await world.clock.advance(59_000);
  expect(client.ended).toBe(false);
  await world.clock.advance(1000 + LOOK_MS);
  expect(await client.rest()).toMatch(IDLE);
  client.halfClose();
  await world.expectNothingLeft();
  expect(world.intake.handed).toBe(0);
});

test('silence within AUTH ends as any other', async () => {
  world = await SmtpWorld.start({ settings: { commandTimeoutSeconds: 100 } });
  const client = await world.secured();
  expect(await client.ask('AUTH LOGIN')).toMatch(/^334 /);
  await world.clock.advance(100_000 + LOOK_MS);
  expect(await client.rest()).toMatch(IDLE);
});

test('a client that waits for our answer is never timed out', async () => {
  world = await SmtpWorld.start({ settings: { commandTimeoutSeconds: 10, dataTimeoutSeconds: 10 } });
  const client = await world.inData();
  const release = world.intake.holdAnswers();
  client.say(...MESSAGE);
  await world.until(() => world.intake.handed === 1);
  await world.clock.advance(300_000);
  release();
  expect(await client.reply()).toMatch(QUEUED);
  await world.clock.advance(9000);
  expect(await client.ask('NOOP')).toMatch(/^250 /);
});

test('a client that waited for memory may be silent for as long as any other afterwards', async () => {
  world = await SmtpWorld.start({
    maxBytesInFlight: 1_000_000,
    settings: { commandTimeoutSeconds: 10, dataTimeoutSeconds: 10 },
  });
  const client = await world.inData();
  const release = world.fillBudget();
  // So little at once that nothing is left in the socket, which would be heard later.
  for (let sent = 0; world.shared.budget.waiting === 0 && sent < 200; sent++)
    await world.write(client, `${'x'.repeat(998)}\r\n`);
  expect(world.shared.budget.waiting).toBe(1);
  await world.clock.advance(30_000);
  release();
  await world.until(() => world.shared.budget.waiting === 0);
  await world.clock.advance(9000);
  expect(client.ended).toBe(false);
  client.say('.');
  expect(await client.reply()).toMatch(QUEUED);
});

test('time-outs shrink as connections get scarce, and good clients are served', async () => {
  world = await SmtpWorld.start({
    settings: { maxConnections: 20, commandTimeoutSeconds: 300, busyTimeoutSeconds: 10 },
  });
  const idle = await Promise.all(Array.from({ length: 10 }, () => world.hello()));
  await world.clock.advance(20_000);
  expect(idle.some(({ ended }) => ended)).toBe(false);
  const more = await Promise.all(Array.from({ length: 8 }, () => world.hello()));
  await world.clock.advance(LOOK_MS);
  for (const client of idle) {
    expect(await client.rest()).toMatch(IDLE);
    client.destroy();
  }
  expect(more.some(({ ended }) => ended)).toBe(false);
  await world.until(() => world.sockets === 8);
  // Eight of twenty are few again.
  await world.clock.advance(100_000);
  for (const client of more) expect(await sendMessage(client)).toMatch(QUEUED);
});

test('a message that comes in too slowly is broken off', async () => {
  world = await SmtpWorld.start({ settings: { minDataBytesPerSecond: 100 } });
  const client = await world.inData();
  for (let second = 0; second < 22 && !client.ended; second++) {
    await world.write(client, 'x');
    await world.clock.advance(1000);
  }
  expect(await client.rest()).toMatch(/^421 4\.4\.2 [^\r\n]*listener\.min_data_bytes_per_second\)\r\n$/);
  client.halfClose();
  await world.expectNothingLeft();
});

test('a message at the least pace, and a client that is slow between messages, are served', async () => {
  world = await SmtpWorld.start({ settings: { minDataBytesPerSecond: 100 } });
  const client = await world.inData();
  for (let second = 0; second < 60; second++) {
    await world.write(client, `${'x'.repeat(110)}\r\n`);
    await world.clock.advance(1000);
  }
  client.say('.');
  expect(await client.reply()).toMatch(QUEUED);
  await world.clock.advance(100_000);
  for (const byte of 'NOO') {
    await world.write(client, byte);
    await world.clock.advance(5000);
  }
  expect(await client.ask('P')).toMatch(/^250 /);
});

test('a client that never reads its replies is ended, and costs little until then', async () => {
  world = await SmtpWorld.start({
    settings: { commandTimeoutSeconds: 100, maxCommandsWithoutMail: 10_000_000 },
  });
  const client = await world.hello();
  client.stopReading();
  const end = world.serverEnd(client);
  // HELP answers more than it costs to ask.
  client.write('HELP\r\n'.repeat(1_000_000));
  await world.until(() => end.isPaused() && end.writableLength > 0);
  expect(end.writableLength).toBeLessThan(200_000);
  await world.clock.advance(99_000);
  expect(end.destroyed).toBe(false);
  await world.clock.advance(1000 + LOOK_MS);
  client.destroy();
  await world.expectNothingLeft();
});

test('a client that reads its replies slowly gets all of them', async () => {
  world = await SmtpWorld.start({ settings: { maxCommandsWithoutMail: 10_000_000 } });
  const client = await world.hello();
  client.stopReading();
  const asked = 50_000;
  client.write('HELP\r\n'.repeat(asked));
  await world.until(() => world.serverEnd(client).writableLength > 0);
  client.readOn();
  client.halfClose();
  expect((await client.rest()).match(/^214 /gm)?.length).toBe(asked);
  await world.expectNothingLeft();
});

test('who says QUIT in clear, and nothing behind it, is not waited for at all', async () => {
  world = await SmtpWorld.start();
  const client = await world.hello();
  expect(await client.ask('QUIT')).toMatch(/^221 /);
  expect(await client.rest()).toBe('');
  await world.expectNothingLeft();
  expect(client.error).toBe(null);
});

test.each([
  ['under TLS', true, ['QUIT']],
  ['with something behind it', false, ['QUIT', 'NOOP']],
])('a client that has said QUIT %s and does not close is ended', async (_case, implicitTls, lines) => {
  world = await SmtpWorld.start();
  const client = await world.hello({ implicitTls });
  client.say(...lines);
  expect(await client.rest()).toMatch(/^221 [^\r\n]*\r\n$/);
  expect(world.sockets).toBe(1);
  await world.clock.advance(10_000);
  await world.expectNothingLeft();
});

test('what is sent behind QUIT is read away, so that no reset destroys the replies', async () => {
  world = await SmtpWorld.start();
  const client = await world.hello();
  client.stopReading();
  const end = world.serverEnd(client);
  client.say('NOOP', 'QUIT', 'NOOP');
  await world.until(() => end.writableEnded);
  client.write(Buffer.alloc(1_000_000, 'x'));
  await world.until(() => end.bytesRead > 1_000_000);
  client.readOn();
  expect((await client.rest()).match(/^\d{3} /gm)).toEqual(['250 ', '221 ']);
  expect(client.error).toBe(null);
  client.halfClose();
  await world.expectNothingLeft();
});
