import { afterEach, expect, test } from 'vitest';
import { beginData, ENVELOPE, MESSAGE, QUEUED, SmtpWorld, sendMessage } from './world.ts';

/** A message is answered when it is durable, and not before; many are made durable at once. */

let world: SmtpWorld;
afterEach(() => world.close());

test('the final dot is answered only after the commit', async () => {
  world = await SmtpWorld.start();
  const client = await world.inData();
  const release = world.intake.holdAnswers();
  client.say(...MESSAGE);
  await world.until(() => world.intake.submissions.length === 1);
  await world.clock.advance(60_000);
  expect(client.received).toMatch(/354 [^\r\n]*\r\n$/);
  release();
  expect(await client.reply()).toMatch(QUEUED);
});

test('BDAT LAST is answered only after the commit', async () => {
  world = await SmtpWorld.start();
  const client = await world.hello();
  await client.askAll(...ENVELOPE);
  const release = world.intake.holdAnswers();
  const text = 'Subject: Hello\r\n\r\nHi.\r\n';
  const received = client.received;
  client.write(`BDAT ${text.length}\r\n${text}`);
  expect(await client.reply()).toMatch(/^250 /);
  client.say('BDAT 0 LAST');
  await world.until(() => world.intake.submissions.length === 1);
  await world.clock.advance(60_000);
  expect(client.received.slice(received.length)).toMatch(/^250 [^\r\n]*\r\n$/);
  release();
  expect(await client.reply()).toMatch(QUEUED);
  expect(world.lastText).toContain(text);
});

test('the messages of many connections are handed over before any of them is answered', async () => {
  world = await SmtpWorld.start();
  const clients = await Promise.all(Array.from({ length: 20 }, () => world.inData()));
  const release = world.intake.holdAnswers();
  for (const client of clients) client.say(...MESSAGE);
  await world.until(() => world.intake.handed === 20);
  release();
  for (const client of clients) expect(await client.reply()).toMatch(QUEUED);
  expect(new Set(world.intake.submissions.map(({ id }) => id)).size).toBe(20);
});

test('what is pipelined behind a message waits for its answer', async () => {
  world = await SmtpWorld.start();
  const client = await world.inData();
  const release = world.intake.holdAnswers();
  client.say(...MESSAGE, ...ENVELOPE, 'DATA');
  await world.until(() => world.intake.handed === 1);
  expect(client.received).toMatch(/354 [^\r\n]*\r\n$/);
  release();
  expect(await client.reply()).toMatch(QUEUED);
  for (const code of ['250', '250', '354']) expect(await client.reply()).toMatch(new RegExp(`^${code} `));
  client.say(...MESSAGE);
  expect(await client.reply()).toMatch(QUEUED);
});

test.each([
  ['with it', true],
  ['while it is being stored', false],
])(
  'QUIT that comes %s is answered behind it, and the connection ends in no time',
  async (_case, together) => {
    world = await SmtpWorld.start();
    const client = await world.inData();
    const release = world.intake.holdAnswers();
    client.say(...MESSAGE, ...(together ? ['QUIT'] : []));
    await world.until(() => world.intake.handed === 1);
    // What comes behind QUIT is for nobody, but must be read away for the end of it to be seen.
    for (const line of together ? [] : ['QUIT', 'NOOP']) await world.write(client, `${line}\r\n`);
    client.halfClose();
    release();
    expect(await client.reply()).toMatch(QUEUED);
    expect(await client.reply()).toMatch(/^221 /);
    expect(await client.rest()).toBe('');
    await world.expectNothingLeft();
  },
);

test('a store that takes nothing is told as temporary, and the session lives', async () => {
  world = await SmtpWorld.start();
  const client = await world.hello();
  await beginData(client);
  world.intake.suspension = { code: 'disk_full', detail: 'The disk is full.', retryAfterSeconds: 30 };
  client.say(...MESSAGE);
  expect(await client.reply()).toMatch(/^452 4\.3\.1 /);
  expect(world.intake.submissions).toEqual([]);
  world.intake.suspension = null;
  expect(await sendMessage(client)).toMatch(QUEUED);
});

test('a message that meets a fault of ours is never answered with yes', async () => {
  world = await SmtpWorld.start();
  const client = await world.inData();
  world.intake.accept = () => Promise.reject(new Error('a bug'));
  client.say(...MESSAGE);
  expect(await client.rest()).not.toMatch(/^250/m);
  expect(world.logged).toEqual(['smtp.session_failed']);
});
