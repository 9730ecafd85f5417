import { afterEach, expect, test } from 'vitest';
import { SmtpWorld } from './world.ts';

/** Limits that no setting has. */

let world: SmtpWorld;
afterEach(() => world.close());

test('five hundred who are turned away are told why at once; more are just closed', async () => {
  world = await SmtpWorld.start({ settings: { maxConnections: 0 } });
  const texts: string[] = [];
  for (let source = 0; source < 126; source++) {
    const clients = await Promise.all([1, 2, 3, 4].map(() => world.reach({ from: `127.0.1.${source + 1}` })));
    texts.push(...(await Promise.all(clients.map((client) => client.rest()))));
  }
  expect(texts.slice(0, 500).filter((text) => !text.startsWith('421 4.3.2 '))).toEqual([]);
  expect(texts.slice(500)).toEqual(['', '', '', '']);
});

test('who errs waits ten seconds at most for each further command', async () => {
  world = await SmtpWorld.start({ settings: { softErrors: 0, hardErrors: 1000 } });
  const client = await world.hello();
  const err = async () => expect(await client.ask('NONSENSE')).toMatch(/^500 /);
  for (let errors = 1; errors <= 30; errors++) {
    // No time passes but this.
    await err();
    await world.clock.advance(10_000);
  }
  await err();
  await world.write(client, 'NOOP\r\n');
  const { length } = client.received;
  await world.clock.advance(9_999);
  expect(client.received.length).toBe(length);
  await world.clock.advance(1);
  expect(await client.reply()).toMatch(/^250 /);
});
