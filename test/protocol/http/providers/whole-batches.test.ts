import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { World } from '../world.ts';

/** Where a provider takes all messages of a request or none, a queue that fills within it takes none (contract-2 §C). */

const EMAIL = { from: 'jane@example.com', subject: 'Hello', text: 'Hi.' };
const TO = ['a@example.org', 'b@example.org', 'c@example.org'];

const EMAILS = TO.map((to) => ({ ...EMAIL, to }));
const MAIL = {
  personalizations: TO.map((email) => ({ to: [{ email }] })),
  from: { email: EMAIL.from },
  subject: EMAIL.subject,
  content: [{ type: 'text/plain', value: EMAIL.text }],
};

let world: World;
let key: string;

beforeAll(async () => {
  world = await World.start();
  key = await world.key({ id: 'shop' });
});
afterEach(() => {
  world.intake.limits = undefined;
});
afterAll(() => world.close());

/** Everything that is stored, whoever sent it. */
async function stored(): Promise<number> {
  const all = { owner: 'all', statuses: [], before: null, limit: 200 } as const;
  return (await world.stores.views.list(all)).messages.length;
}

/** The key has room for two more than these. */
const roomForTwo = (before: number) => {
  world.intake.limits = { maxBytes: 1e9, maxMessagesPerKey: before + 2 };
};

const send = (path: string, body: object, headers: Record<string, string> = {}) =>
  world.ask({ method: 'POST', path, key, body, headers });

test.each([
  ['emails of a batch', '/emails/batch', EMAILS, 200],
  ['personalizations', '/v3/mail/send', MAIL, 202],
])('%s are not stored in part', async (_, path, body, taken) => {
  const before = await stored();
  roomForTwo(before);
  const refused = await send(path, body);
  expect([refused.status, refused.headers['retry-after'], await stored()]).toEqual([503, '60', before]);
  world.intake.limits = undefined;
  expect([(await send(path, body)).status, await stored()]).toEqual([taken, before + TO.length]);
});

test('a refused batch has not used up its Idempotency-Key', async () => {
  const before = await stored();
  const headers = { 'Idempotency-Key': 'order-4711' };
  roomForTwo(before);
  expect((await send('/emails/batch', EMAILS, headers)).status).toBe(503);
  world.intake.limits = undefined;
  const first = await send('/emails/batch', EMAILS, headers);
  expect((await send('/emails/batch', EMAILS, headers)).json).toEqual(first.json);
  expect(await stored()).toBe(before + TO.length);
});

test('what is judged by itself is stored as far as there is room', async () => {
  const before = await stored();
  roomForTwo(before);
  const [, second, third] = EMAILS;
  const emails = [{ ...EMAIL, to: 'nobody' }, second, third, third];
  const { status, json } = await send('/emails/batch', emails, { 'x-batch-validation': 'permissive' });
  expect([status, await stored()]).toEqual([200, before + 2]);
  expect(json['data']).toHaveLength(2);
  expect(json['errors']).toMatchObject([{ index: 0 }, { index: 3, message: 'The queue is full.' }]);
});
