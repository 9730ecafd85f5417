import { afterEach, expect, test } from 'vitest';
import { ENVELOPE, QUEUED, SmtpWorld } from './world.ts';

/** How slowly the content of a message may come in, by the clock that the test moves; other time-outs are in timeouts. */

let world: SmtpWorld;
afterEach(() => world.close());

const IDLE = /^421 4\.4\.2 [^\r\n]*\r\n$/;
/** Time-outs are looked at once a second. */
const LOOK_MS = 1000;

test('between the chunks of a message a client is within it: it may be silent no longer', async () => {
  world = await SmtpWorld.start({ settings: { commandTimeoutSeconds: 300, dataTimeoutSeconds: 60 } });
  const client = await world.hello();
  await client.askAll(...ENVELOPE);
  client.write('BDAT 2\r\nab');
  expect(await client.reply()).toMatch(/^250 /);
  await world.clock.advance(59_000);
  expect(client.ended).toBe(false);
  await world.clock.advance(1000 + LOOK_MS);
  expect(await client.rest()).toMatch(IDLE);
  client.halfClose();
  await world.expectNothingLeft();
});

test('a message that comes in chunks too slowly is broken off as well', async () => {
  world = await SmtpWorld.start({ settings: { minDataBytesPerSecond: 100 } });
  const client = await world.hello();
  await client.askAll(...ENVELOPE);
  for (let second = 0; second < 22 && !client.ended; second++) {
    await world.write(client, 'BDAT 1\r\nx');
    await world.clock.advance(1000);
  }
  expect(await client.rest()).toMatch(/421 4\.4\.2 [^\r\n]*listener\.min_data_bytes_per_second\)\r\n$/);
  client.halfClose();
  await world.expectNothingLeft();
});

/** As large as by default. */
const LARGE = { limits: { maxMessageBytes: 26_214_400 }, maxBytesInFlight: 134_217_728 };
const TOO_SLOW_FOR_MEMORY = /421 4\.4\.2 [^\r\n]*the memory it holds; send 10000 bytes a second[^\r\n]*\r\n$/;

test('a large message that is only announced is broken off within two minutes, though it has the least pace', async () => {
  world = await SmtpWorld.start(LARGE);
  const client = await world.hello();
  await client.askAll(`${ENVELOPE[0]} SIZE=26214400`, ENVELOPE[1] ?? '');
  await world.write(client, 'BDAT 1\r\nx');
  await world.until(() => world.bytesInFlight >= 26_214_400);
  for (let second = 0; second < 60; second++) {
    await world.write(client, `BDAT 1000\r\n${`${'x'.repeat(98)}\r\n`.repeat(10)}`);
    await world.clock.advance(1000);
  }
  expect(client.ended).toBe(false);
  await world.clock.advance(10_000);
  expect(await client.rest()).toMatch(TOO_SLOW_FOR_MEMORY);
  client.halfClose();
  await world.expectNothingLeft();
});

test.each(['', ' SIZE=1000000'])(
  'a line of 100 kbit/s, which stops now and then, sends a megabyte (MAIL with "%s")',
  async (size) => {
    world = await SmtpWorld.start({ ...LARGE, settings: { minDataBytesPerSecond: 100 } });
    const client = await world.hello();
    await client.askAll(`${ENVELOPE[0]}${size}`, ENVELOPE[1] ?? '', 'DATA');
    for (let second = 0; second < 80; second++) {
      await world.write(client, `${'x'.repeat(98)}\r\n`.repeat(125));
      await world.clock.advance(1000);
      if (second % 20 === 0) await world.clock.advance(8000);
    }
    client.say('.');
    expect(await client.reply()).toMatch(QUEUED);
    expect(world.bytesInFlight).toBe(0);
  },
);
