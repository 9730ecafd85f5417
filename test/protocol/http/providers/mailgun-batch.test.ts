import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { World } from '../world.ts';
import { basicAuth, caught, type MailgunClient, mailgunClient } from './mailgun-sdk.ts';

/** `recipient-variables`: a message of its own for each recipient, all accepted or none (contract-2 §C5). */

const MAIL = {
  from: 'Jane <jane@example.com>',
  to: ['Bob <bob@example.org>', 'ann@example.org'],
  subject: 'Hey %recipient.first%',
  text: 'Number %recipient.id%.',
  html: '<b>%recipient.first%</b>',
  'h:X-Number': '%recipient.id%',
  'v:number': '%recipient.id%',
  'recipient-variables': JSON.stringify({
    'bob@example.org': { first: 'Bob', id: 1 },
    'ann@example.org': { first: 'Ann', id: 2 },
  }),
};

let world: World;
let key: string;
let mailgun: MailgunClient;

beforeAll(async () => {
  world = await World.start();
  key = await world.key({ id: 'shop' });
  mailgun = mailgunClient(world, key);
});
afterAll(() => world.close());
afterEach(() => {
  world.intake.limits = undefined;
});

/** What was handed over since then. */
const since = (count: number) => world.intake.submissions.slice(count);

test('mailgun.js sends each recipient a message of its own, which shows no other', async () => {
  const before = world.intake.submissions.length;
  const answer = await mailgun.messages.create('example.com', MAIL);
  const [bob, ann, ...more] = since(before);
  expect(more).toEqual([]);
  expect(answer).toMatchObject({
    status: 200,
    id: bob?.header.messageId,
    message: 'Queued for delivery.',
  });
  const seen = [bob, ann].map((one) => [
    one?.envelope.recipients.map(({ address }) => address),
    one?.header.subject,
    one?.metadata,
    one?.door,
  ]);
  expect(seen).toEqual([
    [['bob@example.org'], 'Hey Bob', { number: '1' }, 'mailgun'],
    [['ann@example.org'], 'Hey Ann', { number: '2' }, 'mailgun'],
  ]);
  const text = world.lastText;
  for (const part of ['Number 2.', '<b>Ann</b>', 'X-Number: 2', 'To: ann@example.org'])
    expect(text).toContain(part);
  expect(text).not.toMatch(/bob|Bob/);
  expect(bob?.header.messageId).not.toBe(ann?.header.messageId);
});

test('a large attachment is in each of them, though composing frees its memory', async () => {
  const limits = { maxMessageBytes: 2_000_000, maxBatchBytes: 10_000_000 };
  const large = await World.start({ limits, maxBytesInFlight: 50_000_000 });
  const client = mailgunClient(large, await large.key({ id: 'shop' }));
  const data = Buffer.alloc(600_000, 'x');
  await client.messages.create('example.com', { ...MAIL, attachment: { data, filename: 'x.bin' } });
  const sizes = large.intake.submissions.map(({ content }) => content.sizeBytes);
  await large.close();
  expect(sizes).toHaveLength(2);
  for (const size of sizes) expect(size).toBeGreaterThan(800_000);
});

test.each([
  ['one fault refuses all', { to: ['bob@example.org', 'nobody'] }, 400, /^to\/1: nobody is not an address/],
  ['as does one in the values', { 'recipient-variables': '{' }, 400, /^recipient-variables: Is not/],
  ['as does one that only one of them has', { 'h:X-Number': '%recipient.bad%' }, 400, /^h:X-Number: /],
  ['a copy would show them to others', { cc: 'c@example.org' }, 400, /^cc: Cannot be given/],
  [
    'all faults are told',
    { to: '', from: 'jane', 'recipient-variables': '[]' },
    400,
    /^recipient-variables: .* from: .* to: /,
  ],
  ['nobody to send to', { to: '' }, 400, /^to: At least one recipient/],
  ['what is too large together', { text: 'x'.repeat(130_000), to: many(5) }, 413, /api.max_batch_bytes/],
  ['what is too large before its values are in', emptied(5), 413, /api.max_batch_bytes/],
])('%s', async (_, fields, status, details) => {
  const before = world.intake.submissions.length;
  const values = { 'bob@example.org': {}, 'ann@example.org': { bad: 'a\nb' } };
  const sent = mailgun.messages.create('example.com', {
    ...MAIL,
    'recipient-variables': JSON.stringify(values),
    ...fields,
  });
  expect(await caught(sent)).toMatchObject({ status, details: expect.stringMatching(details) });
  expect(since(before)).toEqual([]);
});

function many(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `u${n}@example.org`);
}

/** A text of 130,000 characters, nothing of which is left. */
function emptied(count: number): object {
  const name = 'n'.repeat(118);
  const values = many(count).map((address) => [address, { [name]: '' }]);
  return {
    to: many(count),
    text: `%recipient.${name}%`.repeat(1000),
    'recipient-variables': JSON.stringify(Object.fromEntries(values)),
  };
}

test('a text that leaves nothing goes to as many as it may before its values are in', async () => {
  const before = world.intake.submissions.length;
  await mailgun.messages.create('example.com', { ...MAIL, ...emptied(3) });
  expect(since(before)).toHaveLength(3);
});

test('after 20 messages at fault the others are not looked at, though all have the same', async () => {
  const values = many(30).map((address, n) => [address, n < 20 ? { bad: 'a\nb' } : { worse: 'a\nb' }]);
  const sent = mailgun.messages.create('example.com', {
    ...MAIL,
    to: many(30),
    'h:X-Bad': '%recipient.bad%',
    'h:X-Worse': '%recipient.worse%',
    'recipient-variables': JSON.stringify(Object.fromEntries(values)),
  });
  expect(await caught(sent)).toMatchObject({
    status: 400,
    details: expect.stringMatching(/^h:X-Bad: ((?!X-Worse).)*$/s),
  });
});

test('a text of 20 KB goes to 1,000 recipients with the limits of an installation', async () => {
  const limits = { maxMessageBytes: 25 * 2 ** 20, maxBatchBytes: 100 * 2 ** 20 };
  const usual = await World.start({ limits, maxBytesInFlight: 500_000_000 });
  const client = mailgunClient(usual, await usual.key({ id: 'shop' }));
  await client.messages.create('example.com', {
    ...MAIL,
    to: many(1000),
    text: 'Some text. %recipient.first%\n'.repeat(700),
    'recipient-variables': '{}',
  });
  const { length } = usual.intake.submissions;
  await usual.close();
  expect(length).toBe(1000);
});

test('a queue that fills within it takes none of them', async () => {
  const filling = mailgunClient(world, await world.key({ id: 'filling' }));
  const all = { owner: { keyId: 'filling' }, statuses: [], before: null, limit: 200 } as const;
  const stored = async () => (await world.stores.views.list(all)).messages.length;
  world.intake.limits = { maxBytes: 1e9, maxMessagesPerKey: 1 };
  expect(await caught(filling.messages.create('example.com', MAIL))).toMatchObject({ status: 503 });
  expect(await stored()).toBe(0);
  world.intake.limits = undefined;
  await filling.messages.create('example.com', MAIL);
  expect(await stored()).toBe(2);
});

test('a sender that the key may not use is 403 for all', async () => {
  const bound = mailgunClient(world, await world.key({ id: 'bound', senderDomains: ['example.net'] }));
  expect(await caught(bound.messages.create('example.com', MAIL))).toMatchObject({
    status: 403,
    details: expect.stringContaining('example.com'),
  });
});

test('more messages than the key may send in batches is 429, with the time to wait', async () => {
  const limited = await World.start({ limits: { batchMessagesPerMinute: 3 } });
  const client = mailgunClient(limited, await limited.key({ id: 'shop' }));
  await client.messages.create('example.com', MAIL);
  expect(await caught(client.messages.create('example.com', MAIL))).toMatchObject({ status: 429 });
  await limited.close();
});

describe('under an Idempotency-Key', () => {
  const post = (fields: object) =>
    world.ask({
      method: 'POST',
      path: '/v3/example.com/messages',
      headers: {
        Authorization: basicAuth(key),
        'Content-Type': 'application/x-www-form-urlencoded',
        'Idempotency-Key': 'campaign-1',
      },
      body: new URLSearchParams({ ...MAIL, to: MAIL.to.join(', '), ...fields }).toString(),
    });

  test('a repeat gets the first id; others are refused', async () => {
    const first = await post({});
    const before = world.intake.submissions.length;
    const again = await post({});
    expect([again.status, again.json, again.headers['idempotency-replayed']]).toEqual([
      200,
      first.json,
      'true',
    ]);
    for (const fields of [{ text: 'other' }, { to: 'bob@example.org' }, { to: many(3).join(',') }])
      expect((await post(fields)).status).toBe(409);
    expect(since(before).length).toBeLessThanOrEqual(2);
  });
});

test('a dry run checks all of them, and stores nothing', async () => {
  const before = world.intake.submissions.length;
  const answer = await mailgun.messages.create('example.com', { ...MAIL, 'o:dry-run': 'yes' });
  expect(answer).toMatchObject({ dryRun: true });
  expect(since(before)).toEqual([]);
});

test('a message to one, without other fields of Mailgun, needs no batch', async () => {
  await mailgun.messages.create('example.com', { ...MAIL, to: 'bob@example.org' });
  expect(world.last.header.subject).toBe('Hey Bob');
});
