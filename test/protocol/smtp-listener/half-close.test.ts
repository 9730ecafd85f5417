import { afterEach, describe, expect, test } from 'vitest';
import { ENVELOPE, MESSAGE, messageOf, SmtpWorld } from './world.ts';

/** A client that pipes its whole dialogue and closes its side, as `nc -N` does, gets all its replies. */

let world: SmtpWorld;
afterEach(() => world.close());

const codes = (text: string) => text.match(/^\d{3} /gm)?.map((code) => code.trim());
const DIALOGUE = ['EHLO client.test', ...ENVELOPE, 'DATA', ...MESSAGE];
const CODES = ['250', '250', '250', '354', '250'];

describe.each([
  ['in clear', false],
  ['under TLS', true],
])('%s', (_case, implicitTls) => {
  test('a dialogue with QUIT', async () => {
    world = await SmtpWorld.start();
    const client = await world.greeted({ implicitTls });
    client.say(...DIALOGUE, 'QUIT');
    client.halfClose();
    expect(codes(await client.rest())).toEqual([...CODES, '221']);
    await world.expectNothingLeft();
  });

  test('a dialogue without QUIT, whose message takes time to be stored', async () => {
    world = await SmtpWorld.start();
    const client = await world.greeted({ implicitTls });
    const release = world.intake.holdAnswers();
    client.say(...DIALOGUE);
    client.halfClose();
    await world.until(() => world.intake.handed === 1);
    await world.clock.advance(30_000);
    release();
    expect(codes(await client.rest())).toEqual(CODES);
    expect(client.error).toBe(null);
    await world.expectNothingLeft();
  });

  test('many messages, large ones among them', async () => {
    world = await SmtpWorld.start();
    const client = await world.greeted({ implicitTls });
    client.say('EHLO client.test');
    for (let count = 0; count < 20; count++) {
      client.say(...ENVELOPE, 'DATA');
      client.write(messageOf(count % 5 === 0 ? 150_000 : 1000));
    }
    client.halfClose();
    const expected = ['250', ...Array(20).fill(['250', '250', '354', '250']).flat()];
    expect(codes(await client.rest())).toEqual(expected);
    expect(world.intake.submissions.length).toBe(20);
    await world.expectNothingLeft();
  });

  test('a command that is cut off is never obeyed', async () => {
    world = await SmtpWorld.start();
    const client = await world.greeted({ implicitTls });
    client.write('EHLO client.test\r\nNOOP');
    client.halfClose();
    expect(codes(await client.rest())).toEqual(['250']);
    await world.expectNothingLeft();
  });

  test('a message that is cut off is never taken', async () => {
    world = await SmtpWorld.start();
    const client = await world.greeted({ implicitTls });
    client.write(`${DIALOGUE.slice(0, -1).join('\r\n')}\r\n.`);
    client.halfClose();
    expect(codes(await client.rest())).toEqual(CODES.slice(0, -1));
    expect(world.intake.handed).toBe(0);
    await world.expectNothingLeft();
  });
});
