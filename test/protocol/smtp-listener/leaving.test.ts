import { afterEach, describe, expect, test } from 'vitest';
import type { SmtpClient } from '../../peers/smtp-client.ts';
import { beginData, ENVELOPE, MESSAGE, messageOf, SmtpWorld } from './world.ts';

/** A peer that resets, closes or half-closes at any point never breaks anything, and nothing is kept of it. */

let world: SmtpWorld;
afterEach(() => world.close());

/** A point in a session; resolves to a client that is there. What must be undone later is put into `undo`. */
type Point = (implicitTls: boolean, undo: (() => void)[]) => Promise<SmtpClient>;

/** Writes, and waits until the server has read it. */
async function write(client: SmtpClient, bytes: string | Buffer): Promise<SmtpClient> {
  await world.write(client, bytes);
  return client;
}

const hello = (implicitTls: boolean) => world.hello({ implicitTls });

async function after(implicitTls: boolean, ...lines: readonly string[]): Promise<SmtpClient> {
  const client = await hello(implicitTls);
  await client.askAll(...lines);
  return client;
}

async function inData(implicitTls: boolean): Promise<SmtpClient> {
  const client = await hello(implicitTls);
  await beginData(client);
  return client;
}

/** Where AUTH is taken, in clear as well. */
function helloToAuthenticate(implicitTls: boolean): Promise<SmtpClient> {
  world.options.settings.allowInsecureAuth = true;
  return hello(implicitTls);
}

const POINTS: Readonly<Record<string, Point>> = {
  'after it has connected': (implicitTls) => world.reach({ implicitTls }),
  'within a line of early talk': async (implicitTls) => write(await world.reach({ implicitTls }), 'GET /hea'),
  'after HTTP': async (implicitTls) => write(await world.reach({ implicitTls }), 'GET / HTTP/1.1\r\n'),
  'after early talk': async (implicitTls) => write(await world.reach({ implicitTls }), 'EHLO x\r\n'),
  'after the greeting': (implicitTls) => world.greeted({ implicitTls }),
  'after EHLO': hello,
  'within a command': async (implicitTls) => write(await hello(implicitTls), 'MAIL FROM:<a@ex'),
  'after MAIL': (implicitTls) => after(implicitTls, ...ENVELOPE.slice(0, 1)),
  'after RCPT': (implicitTls) => after(implicitTls, ...ENVELOPE),
  'after 354': inData,
  'within the content': async (implicitTls) =>
    write(await inData(implicitTls), messageOf(100_000).slice(0, 50_000)),
  'before the end of data is whole': async (implicitTls) => write(await inData(implicitTls), 'Hi.\r\n.\r'),
  'while its message is being stored': async (implicitTls, undo) => {
    const client = await inData(implicitTls);
    undo.push(world.intake.holdAnswers());
    client.say(...MESSAGE);
    await world.until(() => world.intake.handed > 0);
    return client;
  },
  'while its message is being stored, having sent ahead': async (implicitTls, undo) => {
    const client = await inData(implicitTls);
    undo.push(world.intake.holdAnswers());
    client.say(...MESSAGE);
    await world.until(() => world.intake.handed > 0);
    return await write(client, 'NOOP\r\n'.repeat(20_000));
  },
  'within a chunk of BDAT': async (implicitTls) =>
    write(await after(implicitTls, ...ENVELOPE), 'BDAT 1000 LAST\r\nSubject: x\r\n'),
  'between chunks of BDAT': async (implicitTls) => {
    const client = await write(await after(implicitTls, ...ENVELOPE), 'BDAT 5\r\nabc\r\n');
    expect(await client.reply()).toMatch(/^250 /);
    return client;
  },
  'while it waits for memory': async (implicitTls, undo) => {
    const client = await after(implicitTls, ...ENVELOPE);
    undo.push(world.fillBudget());
    client.say('DATA');
    await world.until(() => world.shared.budget.waiting === 1);
    return client;
  },
  'while its content waits for memory': async (implicitTls, undo) => {
    const client = await inData(implicitTls);
    undo.push(world.fillBudget());
    client.write(messageOf(150_000));
    await world.until(() => world.shared.budget.waiting === 1);
    return client;
  },
  'while it waits because it errs': async (implicitTls) => {
    const client = await hello(implicitTls);
    for (let count = 0; count < 11; count++) await client.ask('NONSENSE');
    return await write(client, 'NOOP\r\n');
  },
  'while replies wait for it to read them': async (implicitTls, undo) => {
    const client = await hello(implicitTls);
    client.stopReading();
    world.options.settings.maxCommandsWithoutMail = 10_000_000;
    await write(client, 'HELP\r\n'.repeat(200_000));
    // Who resets or closes does not read on; who closes its side only does.
    undo.push(() => client.readOn());
    return client;
  },
  'within AUTH': async (implicitTls) => {
    const client = await helloToAuthenticate(implicitTls);
    expect(await client.ask('AUTH LOGIN')).toMatch(/^334 /);
    return client;
  },
  'while its key is looked at': async (implicitTls) => {
    const client = await helloToAuthenticate(implicitTls);
    return await write(client, `AUTH PLAIN ${Buffer.from('\0u\0wrong').toString('base64')}\r\n`);
  },
  'within a handshake': async (implicitTls) => {
    const client = implicitTls ? await world.reach({ port: world.tlsPort }) : await hello(false);
    if (!implicitTls) expect(await client.ask('STARTTLS')).toMatch(/^220 /);
    return await write(client, Buffer.from('1603010200010001', 'hex'));
  },
  'after QUIT': (implicitTls) => after(implicitTls, 'QUIT'),
  'after it was turned away': async (implicitTls) => {
    world.options.settings.maxConnections = 0;
    return await world.reach({ port: implicitTls ? world.tlsPort : world.port });
  },
};

/** Points that are behind STARTTLS, or on the way there. */
const STARTTLS_POINTS: Readonly<Record<string, Point>> = {
  'after the 220 of STARTTLS': async () => {
    const client = await hello(false);
    expect(await client.ask('STARTTLS')).toMatch(/^220 /);
    return client;
  },
  'after STARTTLS': () => world.secured(),
  'within a message behind STARTTLS': async () => {
    const client = await world.secured();
    await beginData(client);
    return await write(client, messageOf(100_000).slice(0, 50_000));
  },
};

/** A client goes away from a point, and it is as if it had never been. */
async function expectNothingLeft(come: Point, leave: Leaving, implicitTls: boolean): Promise<void> {
  world = await SmtpWorld.start();
  const undo: (() => void)[] = [];
  const client = await come(implicitTls, undo);
  client[leave]();
  // What it waited for comes about, or its time passes; whichever way, nobody is there to be told.
  for (const act of undo) act();
  await world.passing(world.until(() => world.sockets === 0));
  await world.expectNothingLeft();
}

type Leaving = 'reset' | 'destroy' | 'halfClose';
const LEAVINGS: readonly (readonly [string, Leaving])[] = [
  ['by a reset', 'reset'],
  ['by closing', 'destroy'],
  ['by closing its side', 'halfClose'],
];

describe.each(Object.entries(POINTS))('a client that goes away %s', (_point, come) => {
  test.each(LEAVINGS)('%s leaves nothing', (_how, leave) => expectNothingLeft(come, leave, false));
  test.each(LEAVINGS)('%s leaves nothing, under TLS', (_how, leave) => expectNothingLeft(come, leave, true));
});

describe.each(Object.entries(STARTTLS_POINTS))('a client that goes away %s', (_point, come) => {
  test.each(LEAVINGS)('%s leaves nothing', (_how, leave) => expectNothingLeft(come, leave, false));
});
