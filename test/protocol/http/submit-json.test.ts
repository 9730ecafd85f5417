import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAIL, World } from './world.ts';

/** `POST /api/v1/messages` with JSON as a whole (contract §2). */

let world: World;
let key: string;

beforeAll(async () => {
  world = await World.start();
  key = await world.key({ id: 'sender' });
});
afterAll(() => world.close());

const post = (fields: object) => world.post(key, { ...MAIL, ...fields });
const accept = (fields: object) => world.accept(key, fields);
const refuse = (fields: object) => world.refuse(key, fields);

describe('the answer', () => {
  test('is 202 with id, message and status, and Location points to the record', async () => {
    const answer = await post({});
    expect(answer.status).toBe(202);
    expect(answer.json).toEqual({
      id: expect.stringMatching(/^msg_[0-9a-z]{26}$/),
      message: 'Queued for delivery.',
      status: 'queued',
    });
    expect(answer.headers.location).toBe(`/api/v1/messages/${answer.json['id']}`);
    expect((await world.ask({ key, path: answer.headers.location ?? '' })).status).toBe(200);
  });

  test('says so when the mail will only be captured', async () => {
    const testKey = await world.key({ mode: 'test' });
    const answer = await world.post(testKey, MAIL);
    expect(answer.json['message']).toBe('Captured in the local inbox; nothing will be sent.');
    expect(world.last.test).toBe(true);
  });
});

describe('the whole', () => {
  test('all faulty fields are reported at once', async () => {
    expect(
      await refuse({
        from: 'x',
        to: ['a@x.test', 'bad', 'worse'],
        cc: 7,
        subject: 'a\nb',
        text: '',
        headers: { From: 'x', 'X-A': 'a\rb' },
        tags: [''],
        sendAt: 'x',
        metadata: { 'a b': 'x' },
        priority: 'x',
        bc: 'typo@x.test',
        ccc: 1,
      }),
    ).toEqual([
      '/cc type',
      '/bc unknown_field',
      '/ccc unknown_field',
      '/from address_syntax',
      '/to/1 address_syntax',
      '/to/2 address_syntax',
      '/subject subject_value',
      '/text required',
      '/headers/From header_forbidden',
      '/headers/X-A header_value',
      '/tags/0 tag',
      '/metadata/a b metadata_name',
      '/sendAt timestamp',
      '/priority priority',
    ]);
  });
  test('so are those beside an element, a name or a property of another type, in their places', async () => {
    expect(
      await refuse({
        to: ['good@x.test', 5, 'bad', null, 'worse'],
        bcc: [1],
        headers: { 'X-A': 5, From: 'x' },
        tags: [1, '\u0001'],
        metadata: { k: 5, 'a b': 'x' },
        attachments: [
          'x',
          { filename: 'a/b', content: 5, mime: 'x', contentType: 'x' },
          { content: '#' },
          { filename: 'good.txt', content: 'eA==' },
        ],
      }),
    ).toEqual([
      '/to/1 type',
      '/to/3 required',
      '/bcc/0 type',
      '/headers/X-A type',
      '/attachments/0 type',
      '/attachments/1/content type',
      '/attachments/1/mime unknown_field',
      '/tags/0 type',
      '/metadata/k type',
      '/to/2 address_syntax',
      '/to/4 address_syntax',
      '/headers/From header_forbidden',
      '/attachments/1/filename attachment_filename',
      '/attachments/1/contentType attachment_content_type',
      '/attachments/2/filename required',
      '/attachments/2/content base64',
      '/tags/1 tag',
      '/metadata/a b metadata_name',
    ]);
  });
  test('the detail names the first fault and how many more there are', async () => {
    const answer = await post({ priority: 'x', tags: [''] });
    expect(answer.json['detail']).toBe(
      'tags/0: A tag is 1 to 128 printable characters. (and 1 more; see errors)',
    );
  });
  test('unknown fields are named, so that a typo never loses a bcc', async () =>
    expect(await refuse({ BCC: ['x@y.test'] })).toEqual(['/BCC unknown_field']));
  test.each(['constructor', 'toString', 'hasOwnProperty'])('%s is an unknown field', async (name) =>
    expect(await refuse({ [name]: 'x' })).toEqual([`/${name} unknown_field`]),
  );
  test('no more than 1,000 faults are told', async () => {
    const answer = await post(Object.fromEntries(Array.from({ length: 1500 }, (_, i) => [`f${i}`, 1])));
    expect(answer.json.errors).toHaveLength(1000);
  });
  test.each(['unknown', 'metadata', 'headers'])('a long name is told cut short: %s', async (place) => {
    const name = 'n'.repeat(60_000);
    const answer = await post(place === 'unknown' ? { [name]: 1 } : { [place]: { [name]: 'x' } });
    expect([answer.status, answer.text.length < 2000]).toEqual([400, true]);
  });
  test.each([
    ['an array', '[]', 'invalid_submission'],
    ['a string', '"x"', 'invalid_submission'],
    ['null', 'null', 'invalid_submission'],
    ['nothing', '', 'malformed_json'],
    ['half a text', '{"from":', 'malformed_json'],
    ['a text with a tail', '{} x', 'malformed_json'],
    ['a field twice', '{"to":"a@x.test","to":"b@x.test"}', null],
    ['__proto__', '{"__proto__":{"dryRun":true}}', null],
    ['__proto__ in the metadata', '{"metadata":{"__proto__":"x"}}', null],
    ['what is not UTF-8', Buffer.from([0x22, 0xff, 0x22]), null],
    ['half a surrogate pair', '{"text":"\\ud800"}', null],
    ['nesting without end', `${'['.repeat(5000)}${']'.repeat(5000)}`, null],
    ['too many values', `{"to":[${'1,'.repeat(49_999)}1]}`, null],
  ])('%s instead of an object is 400', async (_, body, code) => {
    const answer = await world.ask({
      method: 'POST',
      key,
      body,
      headers: { 'Content-Type': 'application/json' },
    });
    expect(answer.status).toBe(400);
    expect(answer.headers['content-type']).toBe('application/problem+json');
    if (code !== null) expect(answer.json['code']).toBe(code);
  });
  test('the message begins with a Received field that names the client, us and the way', async () => {
    await accept({});
    const received = world.lastText.slice(0, world.lastText.indexOf('\r\nDate:')).replaceAll('\r\n', '');
    expect(received).toMatch(
      /^Received: from \[127\.0\.0\.1\] by mx\.waybill\.test with HTTP id \w+ for <bob@example\.org>; Fri, 20 Nov 2026/,
    );
  });
  test('Received names the recipient only when there is one', async () => {
    await accept({ bcc: ['hidden@x.test'] });
    expect(world.lastText).not.toContain(' for <');
  });
  test('our Message-ID is unique and on our name', async () => {
    const ids = [(await accept({})).header.messageId, (await accept({})).header.messageId];
    for (const id of ids) expect(id).toMatch(/^<[0-9a-z]{26}@mx\.waybill\.test>$/);
    expect(new Set(ids).size).toBe(2);
  });
  test('what is handed over came through the API of no provider', async () =>
    expect((await accept({})).door).toBeUndefined());
  test('what is handed over knows its key, source and way', async () =>
    expect(await accept({})).toMatchObject({
      keyId: 'sender',
      source: 'api',
      sourceAddress: '127.0.0.1',
      test: false,
      idempotency: null,
    }));
});
