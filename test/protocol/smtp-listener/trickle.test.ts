import { afterEach, expect, test } from 'vitest';
import type { SmtpClient } from '../../peers/smtp-client.ts';
import { SmtpWorld, sendMessage } from './world.ts';

/** A byte now and then keeps no connection: what counts is what comes of it. All by the clock that the test moves. */

let world: SmtpWorld;
afterEach(() => world.close());

/** Sends a byte a second until `isOver`; how long that took, in ms. */
async function trickle(client: SmtpClient, mostMs: number, isOver: () => boolean): Promise<number> {
  const begun = world.clock.mono();
  const end = world.serverEnd(client);
  while (!isOver() && world.clock.mono() - begun < mostMs) {
    const { bytesRead } = end;
    client.write('x');
    await world.until(() => end.bytesRead > bytesRead || isOver());
    await world.clock.advance(1000);
    // What the server has ended in this second is seen to have ended.
    await world.until(() => isOver() || !(end.writableEnded || end.destroyed));
  }
  return world.clock.mono() - begun;
}

/** The same until the server has closed the connection, which it has ended before. */
async function stay(client: SmtpClient): Promise<number> {
  const begun = world.clock.mono();
  const end = world.serverEnd(client);
  while (!end.destroyed && world.clock.mono() - begun < 60_000) {
    const { bytesRead } = end;
    client.write('x');
    await world.until(() => end.bytesRead > bytesRead || end.destroyed);
    await world.clock.advance(1000);
  }
  return world.clock.mono() - begun;
}

test.each([false, true])('a command must be complete within the time-out (TLS: %s)', async (implicitTls) => {
  world = await SmtpWorld.start({ settings: { commandTimeoutSeconds: 100 } });
  const client = await world.hello({ implicitTls });
  expect(await trickle(client, 200_000, () => client.ended)).toBeLessThanOrEqual(102_000);
  expect(await client.rest()).toMatch(/^421 4\.4\.2 [^\r\n]*\r\n$/);
  client.halfClose();
  await world.expectNothingLeft();
});

test('each reply of ours begins the time anew', async () => {
  world = await SmtpWorld.start({ settings: { commandTimeoutSeconds: 100 } });
  const client = await world.hello();
  for (let count = 0; count < 4; count++) {
    await world.clock.advance(90_000);
    expect(await client.ask('NOOP')).toMatch(/^250 /);
  }
  await world.clock.advance(90_000);
  expect(await sendMessage(client)).toMatch(/^250 /);
});

test.each([false, true])(
  'who goes on sending after QUIT is not waited for (TLS: %s)',
  async (implicitTls) => {
    world = await SmtpWorld.start();
    const client = await world.hello({ implicitTls });
    client.say('QUIT', 'NOOP');
    expect(await client.reply()).toMatch(/^221 /);
    expect(await stay(client)).toBeLessThan(10_000);
    await world.expectNothingLeft();
  },
);

test('who goes on sending after we have ended is not waited for longer than half a minute', async () => {
  world = await SmtpWorld.start({ settings: { hardErrors: 1 } });
  const client = await world.hello();
  client.say('NONSENSE');
  expect(await client.rest()).toMatch(/^500 [^\r\n]*\r\n421 [^\r\n]*\r\n$/);
  expect(await stay(client)).toBeLessThanOrEqual(31_000);
  await world.expectNothingLeft();
});
