import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeForm, formOf, MAIL, World } from './world.ts';

/** What a client is told when a message is too large (contract §5): limit, size, what base64 costs, and the cure. */

let world: World;
let key: string;

beforeAll(async () => {
  world = await World.start();
  key = await world.key();
});
afterAll(() => world.close());

const CURE =
  'Attachments grow by 37 % in transit (base64): together they may have about 109489 bytes. Send a link instead, or raise api.max_message_bytes.';

/** What the 413 says. */
async function told(ask: Parameters<World['ask']>[0]): Promise<unknown[]> {
  const { status, json } = await world.ask({ method: 'POST', key, ...ask });
  return [status, json['code'], json['detail']];
}

/** A submission of exactly this many bytes of JSON. */
const bodyOf = (bytes: number) =>
  JSON.stringify({ ...MAIL, text: 'x'.repeat(bytes - JSON.stringify({ ...MAIL, text: '' }).length) });
const JSON_TYPE = { 'Content-Type': 'application/json' };

describe('a body', () => {
  test('told by Content-Length alone, before anything is read', async () =>
    expect(await told({ headers: JSON_TYPE, body: bodyOf(150_001) })).toEqual([
      413,
      'content_too_large',
      `The body may have at most 150000 bytes, but this one has 150001 bytes. ${CURE}`,
    ]));

  test('of unknown length, found while reading', async () =>
    expect(
      await told({ headers: { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' }, body: bodyOf(150_001) }),
    ).toEqual([
      413,
      'content_too_large',
      `The body may have at most 150000 bytes, but this one is larger. ${CURE}`,
    ]));

  test('as a form, on the Mailgun path too', async () => {
    const file = new File([Buffer.alloc(150_000)], 'a.bin');
    const form = await encodeForm(
      formOf([
        ['from', MAIL.from],
        ['to', 'b@x.test'],
        ['attachment', file],
      ]),
    );
    expect((await told(form))[2]).toContain(CURE);
    const headers = {
      ...form.headers,
      Authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}`,
    };
    const answer = await world.ask({ method: 'POST', path: '/v3/x.test/messages', ...form, headers });
    expect([answer.status, answer.json['message']]).toEqual([413, expect.stringContaining(CURE)]);
  });

  test('of the very size is taken', async () =>
    // The message itself is then larger than the body, and it is that which is told.
    expect((await told({ headers: JSON_TYPE, body: bodyOf(150_000) }))[1]).toBe('message_too_large'));
});

test('a message as it would be sent: a form carries files as they are, the mail does not', async () => {
  const file = new File([Buffer.alloc(120_000)], 'a.bin');
  const form = formOf([
    ['from', MAIL.from],
    ['to', 'b@x.test'],
    ['attachment', file],
  ]);
  const answer = await world.postForm(key, form);
  expect([answer.status, answer.json['code']]).toEqual([413, 'message_too_large']);
  expect(answer.json['detail']).toMatch(
    /^The message may have at most 150000 bytes as it would be sent, but this one has 16\d{4}\. Attachments grow by 37 %/,
  );
});
