import { afterEach, expect, test } from 'vitest';
import type { SmtpClient } from '../../peers/smtp-client.ts';
import { beginData, ENVELOPE, MESSAGE, messageOf, QUEUED, SmtpWorld, sendMessage } from './world.ts';

/** The memory for messages that are coming in, which the API has a part in: what finds no room waits. */

let world: SmtpWorld;
afterEach(() => world.close());

const CAPACITY = 1_000_000;
/** How long a message waits for room at most before it begins, and within it, in ms. */
const PATIENCE_MS = 60_000;
const PATIENCE_WITHIN_MS = 150_000;
const NO_ROOM = /^452 4\.3\.1 /;

/** Waits until somebody waits for room. */
async function untilWaiting(count = 1): Promise<void> {
  await world.until(() => world.shared.budget.waiting === count);
}

test.each(['', ' SIZE=150000'])('354 is held back until there is room (MAIL with "%s")', async (size) => {
  world = await SmtpWorld.start({ maxBytesInFlight: CAPACITY });
  const client = await world.hello();
  const empty = world.fillBudget();
  await client.askAll(`${ENVELOPE[0]}${size}`, ENVELOPE[1] ?? '');
  const received = client.received.length;
  client.say('DATA');
  await untilWaiting();
  await world.clock.advance(PATIENCE_MS - 1000);
  expect(client.received.length).toBe(received);
  empty();
  expect(await client.reply()).toMatch(/^354 /);
  client.say(...MESSAGE);
  expect(await client.reply()).toMatch(QUEUED);
  expect(world.bytesInFlight).toBe(0);
});

test('the first chunk of BDAT waits for room as well', async () => {
  world = await SmtpWorld.start({ maxBytesInFlight: CAPACITY });
  const client = await world.hello();
  const empty = world.fillBudget();
  await client.askAll(...ENVELOPE);
  client.write('BDAT 21 LAST\r\nSubject: x\r\n\r\nHello\r\n');
  await untilWaiting();
  empty();
  expect(await client.reply()).toMatch(QUEUED);
});

test('a message that finds no room in time gets 452, and the session lives', async () => {
  world = await SmtpWorld.start({ maxBytesInFlight: CAPACITY });
  const client = await world.hello();
  const empty = world.fillBudget();
  await client.askAll(...ENVELOPE);
  client.say('DATA');
  await untilWaiting();
  await world.clock.advance(PATIENCE_MS);
  expect(await client.reply()).toMatch(NO_ROOM);
  empty();
  await client.ask('RSET');
  expect(await sendMessage(client)).toMatch(QUEUED);
});

/** Begins a message that has said nothing of its size and outgrows its share; resolves once it waits. */
async function outgrow(): Promise<{ client: SmtpClient; empty: () => void }> {
  const client = await world.inData();
  const empty = world.fillBudget();
  client.write(messageOf(150_000));
  await untilWaiting();
  return { client, empty };
}

test('a message of unknown size that outgrows its share is not read on until there is room', async () => {
  world = await SmtpWorld.start({ maxBytesInFlight: CAPACITY });
  const { client, empty } = await outgrow();
  expect(world.serverEnd(client).isPaused()).toBe(true);
  await world.clock.advance(PATIENCE_WITHIN_MS - 1000);
  expect(world.serverEnd(client).isPaused()).toBe(true);
  empty();
  expect(await client.reply()).toMatch(QUEUED);
  expect(world.lastText.length).toBeGreaterThan(150_000);
  expect(world.bytesInFlight).toBe(0);
});

test('it gets 452 at its end when no room comes, its share is given back at once, and the session lives', async () => {
  world = await SmtpWorld.start({ maxBytesInFlight: CAPACITY });
  const { client, empty } = await outgrow();
  const others = world.bytesInFlight;
  await world.clock.advance(PATIENCE_WITHIN_MS);
  expect(await client.reply()).toMatch(NO_ROOM);
  expect(world.bytesInFlight).toBeLessThan(others);
  empty();
  expect(world.bytesInFlight).toBe(0);
  expect(await sendMessage(client)).toMatch(QUEUED);
  expect(world.intake.submissions.length).toBe(1);
});

test('a message whose last piece finds no room is refused too, never taken empty', async () => {
  world = await SmtpWorld.start({ maxBytesInFlight: CAPACITY });
  const client = await world.inData();
  const empty = world.fillBudget();
  // It comes in whole, with its end.
  client.write(messageOf(20_000));
  await untilWaiting();
  await world.clock.advance(PATIENCE_WITHIN_MS);
  expect(await client.reply()).toMatch(NO_ROOM);
  expect(world.intake.submissions).toEqual([]);
  empty();
  expect(await sendMessage(client)).toMatch(QUEUED);
  expect(world.bytesInFlight).toBe(0);
});

test('whoever waits for room is not timed out for it', async () => {
  world = await SmtpWorld.start({
    maxBytesInFlight: CAPACITY,
    settings: { commandTimeoutSeconds: 10, dataTimeoutSeconds: 10, minDataBytesPerSecond: 1000 },
  });
  const { client, empty } = await outgrow();
  await world.clock.advance(30_000);
  empty();
  expect(await client.reply()).toMatch(QUEUED);
});

test.each([
  ['of one source', () => '127.0.0.2'],
  ['of many sources', (i: number) => `127.0.0.${i + 2}`],
])(
  'large messages of unknown size %s are all taken, though they do not fit together',
  async (_case, from) => {
    world = await SmtpWorld.start({ maxBytesInFlight: CAPACITY });
    const senders = await Promise.all(Array.from({ length: 20 }, (_, i) => world.inData({ from: from(i) })));
    const content = messageOf(150_000);
    for (const client of senders) client.write(content);
    // No time passes.
    for (const client of senders) expect(await client.reply()).toMatch(QUEUED);
    expect(world.intake.submissions.length).toBe(senders.length);
    expect(world.bytesInFlight).toBe(0);
  },
);

test('messages that wait for each other are all answered in time, and every yes is kept', async () => {
  world = await SmtpWorld.start({ maxBytesInFlight: CAPACITY });
  // So many that their beginnings leave no room for the rest of any.
  const senders = await Promise.all(
    Array.from({ length: 50 }, (_, i) => world.inData({ from: `127.0.0.${i + 2}` })),
  );
  const content = messageOf(150_000);
  for (const client of senders) client.write(content);
  const replies = await world.passing(Promise.all(senders.map((client) => client.reply())));
  const taken = replies.filter((reply) => QUEUED.test(reply));
  expect(replies.filter((reply) => !QUEUED.test(reply) && !NO_ROOM.test(reply))).toEqual([]);
  expect(taken.length).toBeGreaterThan(0);
  expect(world.intake.submissions.length).toBe(taken.length);
  expect(world.bytesInFlight).toBe(0);
});

test('messages that say their size are all taken, however many come at once', async () => {
  world = await SmtpWorld.start({ maxBytesInFlight: CAPACITY });
  const content = messageOf(150_000);
  const send = async (from: string): Promise<string> => {
    const client = await world.hello({ from });
    await client.askAll(`${ENVELOPE[0]} SIZE=${content.length}`, ENVELOPE[1] ?? '');
    expect(await client.ask('DATA')).toMatch(/^354 /);
    client.write(content);
    return await client.reply();
  };
  const all = Promise.all(Array.from({ length: 40 }, (_, i) => send(`127.0.0.${2 + (i % 4)}`)));
  for (const reply of await world.passing(all)) expect(reply).toMatch(QUEUED);
  expect(world.bytesInFlight).toBe(0);
});

test('a source with large messages does not keep others from sending small ones', async () => {
  world = await SmtpWorld.start({ maxBytesInFlight: CAPACITY });
  const greedy = await Promise.all(Array.from({ length: 10 }, () => world.hello({ from: '127.0.0.2' })));
  for (const client of greedy) client.say(`${ENVELOPE[0]} SIZE=150000`, ENVELOPE[1] ?? '', 'DATA');
  await world.until(() => world.shared.budget.waiting > 0);
  const other = await world.hello({ from: '127.0.0.3' });
  for (let count = 0; count < 20; count++) expect(await sendMessage(other)).toMatch(QUEUED);
});

test.each([
  ['taken', MESSAGE.join('\r\n'), QUEUED],
  ['refused as too large', messageOf(250_000).slice(0, -2), /^552 /],
  ['refused for a bare LF', 'a\nb\r\n.', /^550 /],
])('a message that is %s gives its share back', async (_case, content, reply) => {
  world = await SmtpWorld.start();
  const client = await world.inData();
  expect(world.bytesInFlight).toBeGreaterThan(0);
  client.say(content);
  expect(await client.reply()).toMatch(reply);
  expect(world.bytesInFlight).toBe(0);
});

test.each(['RSET', 'EHLO client.test'])(
  'a transaction of BDAT that %s ends gives its share back',
  async (line) => {
    world = await SmtpWorld.start();
    const client = await world.hello();
    await client.askAll(...ENVELOPE);
    client.write('BDAT 5\r\nabc\r\n');
    expect(await client.reply()).toMatch(/^250 /);
    expect(world.bytesInFlight).toBeGreaterThan(0);
    expect(await client.ask(line)).toMatch(/^250/);
    expect(world.bytesInFlight).toBe(0);
  },
);

test('a message that is being stored keeps its share until it is, though its client has gone', async () => {
  world = await SmtpWorld.start();
  const client = await world.inData();
  const release = world.intake.holdAnswers();
  client.say(...MESSAGE);
  await world.until(() => world.intake.handed === 1);
  client.reset();
  await world.until(() => world.sockets === 0);
  expect(world.bytesInFlight).toBeGreaterThan(0);
  release();
  await world.expectNothingLeft();
});

test('a second message of a session begins with a share of its own', async () => {
  world = await SmtpWorld.start();
  const client = await world.hello();
  await beginData(client);
  const first = world.bytesInFlight;
  client.write(messageOf(100_000));
  expect(await client.reply()).toMatch(QUEUED);
  await beginData(client);
  expect(world.bytesInFlight).toBe(first);
});
