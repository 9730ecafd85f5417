import { afterEach, expect, test } from 'vitest';
import { cidrs } from '../../support/cidrs.ts';
import { SmtpWorld } from './world.ts';

/** What is counted as denied, and logged with its source and its reason (contract §8, §10). */

let world: SmtpWorld;
afterEach(() => world.close());

const WRONG = `AUTH PLAIN ${Buffer.from('\0app\0wb_live_nothing').toString('base64')}`;

test('a wrong key is counted and logged also when the client does not wait for the answer', async () => {
  world = await SmtpWorld.start();
  const client = await world.secured();
  await world.write(client, `${WRONG}\r\n`);
  client.reset();
  await world.until(() => world.sockets === 0);
  await world.clock.advance(10_000);
  expect(world.seen).toContainEqual(
    expect.objectContaining({
      type: 'denied',
      reason: 'auth_malformed',
      sourceAddress: '127.0.0.1',
      count: 1,
    }),
  );
  expect(world.noted).toContain('source.denied auth_malformed');
});

test('each recipient that a stranger names is counted, with the session it was in', async () => {
  world = await SmtpWorld.start({ others: { allowedCidrs: cidrs('192.0.2.1') } });
  const client = await world.hello();
  const replies = await client.askAll(
    'MAIL FROM:<a@example.com>',
    'RCPT TO:<b@example.org>',
    'RCPT TO:<postmaster>',
    'RCPT TO:<c@example.org>',
  );
  expect(replies.map((reply) => reply.slice(0, 9))).toEqual([
    '250 2.1.0',
    '550 5.7.1',
    '250 2.1.5',
    '550 5.7.1',
  ]);
  expect(world.denied).toEqual(['relay_not_allowed', 'relay_not_allowed']);
  const sessions = world.seen.flatMap((event) => (event.type === 'denied' ? [event.requestId] : []));
  expect(new Set(sessions).size).toBe(1);
  expect(sessions[0]).toBeDefined();
});

test('refusals that are summed up are told at the latest when the listener closes', async () => {
  world = await SmtpWorld.start({
    settings: { softErrors: 1000, hardErrors: 1000 },
    others: { allowedCidrs: cidrs('192.0.2.1') },
  });
  const refused = 100;
  const client = await world.hello();
  await client.askAll('MAIL FROM:<a@example.com>', ...Array(refused).fill('RCPT TO:<b@example.org>'));
  const count = () => world.seen.reduce((sum, event) => sum + (event.type === 'denied' ? event.count : 0), 0);
  expect(count()).toBe(60);
  client.destroy();
  await world.until(() => world.sockets === 0);
  // No time passes.
  await world.listener.close(new AbortController().signal);
  expect(count()).toBe(refused);
});
