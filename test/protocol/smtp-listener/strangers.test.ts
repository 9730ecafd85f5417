import { afterEach, expect, test } from 'vitest';
import { MAX_STRANGER_BYTES } from '../../../src/ingest/smtp/policy.ts';
import type { SmtpClient } from '../../peers/smtp-client.ts';
import { cidrs } from '../../support/cidrs.ts';
import { MESSAGE, QUEUED, SmtpWorld, type SmtpWorldOptions } from './world.ts';

/** What those may take of us who may send to the postmaster only: little memory, little disk, whoever they say they are. */

let world: SmtpWorld;
afterEach(() => world.close());

const TO_POSTMASTER = ['MAIL FROM:<a@example.com>', 'RCPT TO:<postmaster>'];
const TOO_LARGE = new RegExp(
  `^552 5\\.3\\.4 127\\.0\\.0\\.\\d+ may send only to <postmaster>, at most ${MAX_STRANGER_BYTES} bytes; .*API key`,
);

/** A listener to which every address is a stranger's. */
async function startForStrangers(options: SmtpWorldOptions = {}): Promise<void> {
  world = await SmtpWorld.start({
    limits: { maxMessageBytes: 1_000_000 },
    ...options,
    others: { allowedCidrs: cidrs('192.0.2.1') },
  });
}

/** A stranger whose MAIL and RCPT were taken. */
async function stranger(from = '127.0.0.1', size?: number): Promise<SmtpClient> {
  const client = await world.hello({ from });
  const [mail = '', rcpt = ''] = TO_POSTMASTER;
  const replies = await client.askAll(size === undefined ? mail : `${mail} SIZE=${size}`, rcpt);
  expect(replies.map((reply) => reply.slice(0, 3))).toEqual(['250', '250']);
  return client;
}

/** A message of exactly so many bytes. */
function contentOf(bytes: number): string {
  const head = 'Subject: x\r\n\r\n';
  const line = `${'x'.repeat(998)}\r\n`;
  const lines = Math.floor((bytes - head.length) / line.length) - 1;
  const rest = bytes - head.length - lines * line.length;
  const half = Math.floor(rest / 2);
  return `${head}${line.repeat(lines)}${'y'.repeat(half - 2)}\r\n${'z'.repeat(rest - half - 2)}\r\n`;
}

test('a large message of a stranger is refused at MAIL, with the cure, and the session lives', async () => {
  await startForStrangers();
  const client = await world.hello();
  const [mail = ''] = TO_POSTMASTER;
  expect(await client.ask(`${mail} SIZE=${MAX_STRANGER_BYTES + 1}`)).toMatch(TOO_LARGE);
  expect(world.denied).toEqual(['relay_not_allowed']);
  expect(await client.ask(`${mail} SIZE=${MAX_STRANGER_BYTES}`)).toMatch(/^250 /);
});

test.each([
  ['DATA', (text: string) => `DATA\r\n${text}.\r\n`, /^354 /],
  ['one BDAT', (text: string) => `BDAT ${text.length} LAST\r\n${text}`, null],
])('one that says no size is refused at its end (%s), once, and the session lives', async (_, framed, go) => {
  await startForStrangers();
  const client = await stranger();
  client.write(framed(contentOf(MAX_STRANGER_BYTES + 1)));
  if (go !== null) expect(await client.reply()).toMatch(go);
  expect(await client.reply()).toMatch(TOO_LARGE);
  expect(world.denied).toEqual(['relay_not_allowed']);
  expect(world.bytesInFlight).toBe(0);
  expect(world.intake.submissions).toEqual([]);
  await client.askAll(...TO_POSTMASTER, 'DATA');
  client.say(...MESSAGE);
  expect(await client.reply()).toMatch(QUEUED);
});

test('of one that comes in chunks the memory is given back as soon as it is too large', async () => {
  await startForStrangers();
  const client = await stranger();
  const text = contentOf(MAX_STRANGER_BYTES);
  client.write(`BDAT ${text.length}\r\n${text}`);
  expect(await client.reply()).toMatch(/^250 /);
  const more = contentOf(5000);
  client.write(`BDAT ${more.length}\r\n${more}`);
  await client.reply();
  expect(world.bytesInFlight).toBe(0);
  expect(await client.ask('BDAT 0 LAST')).toMatch(TOO_LARGE);
});

test('one that has as much as it may is taken, and a key lifts the limit', async () => {
  await startForStrangers();
  const client = await stranger();
  await client.ask('DATA');
  client.write(`${contentOf(MAX_STRANGER_BYTES)}.\r\n`);
  expect(await client.reply()).toMatch(QUEUED);
  const keyed = await world.secured();
  const secret = await world.key({});
  const plain = Buffer.from(`\0app\0${secret}`).toString('base64');
  expect(await keyed.ask(`AUTH PLAIN ${plain}`)).toMatch(/^235 /);
  await keyed.askAll(...TO_POSTMASTER, 'DATA');
  keyed.write(`${contentOf(MAX_STRANGER_BYTES * 2)}.\r\n`);
  expect(await keyed.reply()).toMatch(QUEUED);
});

test('a smaller limit for everybody is theirs too', async () => {
  await startForStrangers({ limits: { maxMessageBytes: 100_000 } });
  const client = await stranger();
  await client.ask('DATA');
  client.write(`${contentOf(100_001)}.\r\n`);
  expect(await client.reply()).toMatch(/^552 5\.3\.4 .* at most 100000 bytes/);
  expect(world.bytesInFlight).toBe(0);
});

test('strangers hold no more memory than they may send, whatever they say or begin', async () => {
  await startForStrangers();
  const client = await stranger();
  const text = contentOf(MAX_STRANGER_BYTES - 10);
  client.write(`BDAT ${text.length}\r\n${text}`);
  expect(await client.reply()).toMatch(/^250 /);
  expect(world.bytesInFlight).toBeLessThanOrEqual(MAX_STRANGER_BYTES);
});

test('strangers of many addresses get together what one holder may have, and others send large messages', async () => {
  await startForStrangers({ maxBytesInFlight: 1_000_000 });
  const size = 200_000;
  const strangers = await Promise.all(
    Array.from({ length: 10 }, (_, i) => stranger(`127.0.0.${i + 2}`, size)),
  );
  for (const client of strangers) client.write('BDAT 1\r\nx');
  // A fourth would fit for a holder of its own.
  await world.until(() => world.shared.budget.waiting === 7);
  expect(world.bytesInFlight).toBe(3 * size);
  world.options.allowedCidrs = cidrs('127.0.0.1');
  const client = await world.hello();
  await client.askAll(`MAIL FROM:<a@example.com> SIZE=300000`, 'RCPT TO:<b@example.org>');
  expect(await client.ask('DATA')).toMatch(/^354 /);
});
