import { afterEach, expect, test } from 'vitest';
import { SmtpClient } from '../../peers/smtp-client.ts';
import { ENVELOPE, MESSAGE, QUEUED, SmtpWorld } from './world.ts';

/** The end of the service: who waits for an answer gets it, everybody else 421. */

let world: SmtpWorld;
afterEach(() => world.close());

const STOPPING = /^421 4\.3\.2 [^\r\n]*\r\n$/;
/** A deadline that never comes. */
const NEVER = new AbortController().signal;

test('idle sessions get 421 and the end, and nobody new is let in', async () => {
  world = await SmtpWorld.start();
  const idle = await Promise.all([
    world.greeted(),
    world.hello(),
    world.hello({ implicitTls: true }),
    world.secured(),
  ]);
  const closed = world.listener.close(NEVER);
  await expect(SmtpClient.connect(world.port)).rejects.toThrow('ECONNREFUSED');
  for (const client of idle) {
    expect(await client.rest()).toMatch(STOPPING);
    client.halfClose();
  }
  await world.passing(closed);
  await world.expectNothingLeft();
});

test('transactions, exchanges of AUTH and content that is coming in are broken off with 421', async () => {
  world = await SmtpWorld.start();
  const inTransaction = await world.hello();
  await inTransaction.askAll(...ENVELOPE);
  const inData = await world.inData();
  inData.write('Subject: x\r\n');
  const inAuth = await world.secured();
  await inAuth.ask('AUTH LOGIN');
  const closed = world.listener.close(NEVER);
  for (const client of [inTransaction, inData, inAuth]) {
    expect(await client.rest()).toMatch(STOPPING);
    client.halfClose();
  }
  await world.passing(closed);
  await world.expectNothingLeft();
});

test('a message that is being stored gets its 250, then the session 421', async () => {
  world = await SmtpWorld.start();
  const client = await world.inData();
  const release = world.intake.holdAnswers();
  client.say(...MESSAGE, 'NOOP');
  await world.until(() => world.intake.handed === 1);
  let isClosed = false;
  const closed = world.listener.close(NEVER).then(() => {
    isClosed = true;
  });
  await world.clock.advance(10_000);
  expect(isClosed).toBe(false);
  release();
  expect(await client.reply()).toMatch(QUEUED);
  expect(await client.rest()).toMatch(STOPPING);
  client.halfClose();
  await world.passing(closed);
  await world.expectNothingLeft();
});

test('connections that are not greeted, or within a handshake, end', async () => {
  world = await SmtpWorld.start();
  const waiting = await world.reach();
  const shaking = await world.reach({ port: world.tlsPort });
  const closed = world.listener.close(NEVER);
  expect(await waiting.rest()).toMatch(/^421 /);
  await shaking.rest();
  waiting.halfClose();
  shaking.halfClose();
  await world.passing(closed);
  await world.expectNothingLeft();
});

test('a client that does not close is waited for a short while only', async () => {
  world = await SmtpWorld.start();
  const client = await world.hello();
  const before = world.clock.mono();
  const closed = world.listener.close(NEVER);
  expect(await client.rest()).toMatch(STOPPING);
  await world.passing(closed);
  expect(world.clock.mono() - before).toBeLessThan(5000);
  await world.expectNothingLeft();
});

test('nor is one that has said QUIT and does not close', async () => {
  world = await SmtpWorld.start();
  const client = await world.hello({ implicitTls: true });
  expect(await client.ask('QUIT')).toMatch(/^221 /);
  const before = world.clock.mono();
  await world.passing(world.listener.close(NEVER));
  expect(world.clock.mono() - before).toBeLessThan(10_000);
  await world.expectNothingLeft();
});

test('time-outs go on meanwhile', async () => {
  world = await SmtpWorld.start({ settings: { commandTimeoutSeconds: 10 } });
  const client = await world.hello();
  client.stopReading();
  world.options.settings.maxCommandsWithoutMail = 10_000_000;
  client.write('HELP\r\n'.repeat(1_000_000));
  await world.until(() => world.serverEnd(client).isPaused());
  const closed = world.listener.close(NEVER);
  await world.passing(closed);
  client.destroy();
  await world.expectNothingLeft();
});

test('at the deadline all that is left is ended', async () => {
  world = await SmtpWorld.start();
  const client = await world.inData();
  const release = world.intake.holdAnswers();
  client.say(...MESSAGE);
  await world.until(() => world.intake.handed === 1);
  const deadline = new AbortController();
  const closed = world.listener.close(deadline.signal);
  await world.clock.advance(25_000);
  expect(world.sockets).toBe(1);
  deadline.abort();
  await closed;
  await world.until(() => world.sockets === 0);
  expect(await client.rest()).toBe('');
  release();
  await world.expectNothingLeft();
});

test('closing a listener that nobody is connected to takes no time', async () => {
  world = await SmtpWorld.start();
  const before = world.clock.mono();
  await world.listener.close(NEVER);
  expect(world.clock.mono()).toBe(before);
});
