import { afterEach, expect, test } from 'vitest';
import { MESSAGE, QUEUED, SmtpWorld } from './world.ts';

/** Addresses of envelopes that policy decides about. */

let world: SmtpWorld;
afterEach(() => world.close());

const MAIL = 'MAIL FROM:<"john..doe"@example.com>';
const RCPT = 'RCPT TO:<"dots."@example.org>';

test('quoted local parts are taken as they are', async () => {
  world = await SmtpWorld.start();
  const client = await world.hello();
  const replies = await client.askAll(MAIL, RCPT, 'DATA');
  expect(replies.map((reply) => reply.slice(0, 3))).toEqual(['250', '250', '354']);
  client.say(...MESSAGE);
  expect(await client.reply()).toMatch(QUEUED);
  expect(world.last.envelope.reversePath).toBe('"john..doe"@example.com');
  expect(world.last.envelope.recipients[0]?.address).toBe('"dots."@example.org');
});

test('without listener.quoted_local_parts they get 553, and quotes that nothing needs are dropped', async () => {
  world = await SmtpWorld.start();
  const client = await world.hello();
  world.options.settings.quotedLocalParts = false;
  expect(await client.ask(MAIL)).toMatch(/^553 5\.1\.7 /);
  expect(await client.ask('MAIL FROM:<"john.doe"@example.com>')).toMatch(/^250 /);
  expect(await client.ask(RCPT)).toMatch(/^553 5\.1\.3 /);
});
