import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Suspension } from '../../../src/engine/contract.ts';
import { BATCH_PATH, BatchClient, fates, itemsOf, mails } from './batch-client.ts';
import { MAIL } from './world.ts';

/** `POST /api/v1/messages/batch` (contract §2): what is accepted and what refused. */

let client: BatchClient;

beforeAll(async () => {
  client = await BatchClient.start();
});
afterAll(() => client.world.close());

describe('each by itself', () => {
  test('all together are told 1,000 faults, at least one of each, and 20 suggestions', async () => {
    const names = (name: string, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, place) => [`${name}${10 + place}`, 1]));
    const answer = await client.send([
      ...Array.from({ length: 3 }, () => ({ ...MAIL, ...names('subject', 9) })),
      ...Array.from({ length: 12 }, () => ({ ...MAIL, ...names('other', 150) })),
    ]);
    const told = itemsOf(answer).map(({ error }) => error?.errors ?? []);
    expect(told.map(({ length }) => length)).toEqual([9, 9, 9, ...Array(9).fill(100), 73, 1, 1]);
    expect(told.flat().filter(({ detail }) => detail.includes('Did you mean'))).toHaveLength(20);
  });
  test('the good are accepted in one commit, in order; the bad are told what is wrong', async () => {
    const calls: number[] = [];
    const { accept } = client.world.intake;
    client.world.intake.accept = (submissions) => {
      calls.push(submissions.length);
      return accept.call(client.world.intake, submissions);
    };
    const bound = await client.world.key({ senderDomains: ['example.com'] });
    const [a, b] = mails(2);
    const answer = await client.send(
      [a, { ...MAIL, to: ['x@y.test', 'oops'] }, { ...MAIL, from: 'j@other.test' }, b, 7],
      {},
      bound,
    );
    client.world.intake.accept = accept;
    expect(answer.status).toBe(202);
    expect(fates(answer)).toEqual([
      'taken',
      '400 invalid_submission',
      '403 sender_not_allowed',
      'taken',
      '400 invalid_submission',
    ]);
    expect(itemsOf(answer).map(({ index }) => index)).toEqual([0, 1, 2, 3, 4]);
    expect(calls).toEqual([2]);
    expect(itemsOf(answer)[0]).toEqual({
      index: 0,
      id: expect.stringMatching(/^msg_/),
      message: 'Queued for delivery.',
      status: 'queued',
    });
    expect(itemsOf(answer)[1]?.error).toEqual({
      type: 'urn:waybill:problem:invalid_submission',
      title: 'Bad request',
      status: 400,
      code: 'invalid_submission',
      detail: expect.stringContaining('to/1'),
      error: expect.any(String),
      errors: [{ pointer: '/to/1', code: 'address_syntax', detail: expect.any(String) }],
    });
    expect(client.world.intake.submissions.slice(-2).map(({ header }) => header.subject)).toEqual([
      'No. 0',
      'No. 1',
    ]);
  });

  test('when none is good, nothing is handed over', async () => {
    const before = client.world.intake.submissions.length;
    const answer = await client.send([{ ...MAIL, text: '' }]);
    expect([answer.status, fates(answer)]).toEqual([202, ['400 invalid_submission']]);
    expect(client.world.intake.submissions).toHaveLength(before);
  });

  test('a dry run among them is judged only', async () => {
    const before = client.world.intake.submissions.length;
    const answer = await client.send([{ ...MAIL, dryRun: true }, MAIL]);
    expect(itemsOf(answer)[0]).toMatchObject({
      index: 0,
      verdict: { dryRun: true, recipients: [{ relay: 'out' }] },
    });
    expect(itemsOf(answer)[1]).toMatchObject({ index: 1, status: 'queued' });
    expect(client.world.intake.submissions).toHaveLength(before + 1);
  });

  test('too large a message does not stand in the way of the others', async () => {
    const attachments = (bytes: number) => [
      { filename: 'a', content: Buffer.alloc(bytes).toString('base64') },
    ];
    const answer = await client.send([
      { ...MAIL, attachments: attachments(111_000) },
      MAIL,
      { ...MAIL, attachments: attachments(120_000) },
    ]);
    expect(fates(answer)).toEqual(['413 message_too_large', 'taken', '413 content_too_large']);
    expect(answer.text).toContain('grow by 37 %');
  });

  test.each([
    ['too deep', `${'['.repeat(20)}${']'.repeat(20)}`, 'json_too_complex'],
    ['half a surrogate pair', '{"text":"\\ud800"}', 'lone_surrogate'],
    ['a name twice', '{"text":"a","text":"b"}', 'duplicate_name'],
    ['__proto__', '{"__proto__":1}', 'forbidden_name'],
  ])('%s in one message refuses that one', async (_, text, code) =>
    expect(fates(await client.send(`{"messages":[${text},${JSON.stringify(MAIL)}]}`))).toEqual([
      `400 ${code}`,
      'taken',
    ]),
  );

  test('each has the values of a single submission', async () => {
    const usual = client.world.options.limits.maxJsonValues;
    client.world.options.limits.maxJsonValues = 1000;
    const tags = Array(900).fill('');
    const answer = await client.send([
      { ...MAIL, tags },
      { ...MAIL, tags: [...tags, ...tags] },
    ]);
    client.world.options.limits.maxJsonValues = usual;
    expect(fates(answer)).toEqual(['400 invalid_submission', '400 json_too_complex']);
    expect(itemsOf(answer)[0]?.error?.errors.length).toBeLessThanOrEqual(100);
  });

  test('a full queue is told for each message that finds no room', async () => {
    const fullKey = await client.world.key();
    client.world.intake.limits = { maxBytes: 1e9, maxMessagesPerKey: 2 };
    const answer = await client.send(mails(3), {}, fullKey);
    client.world.intake.limits = undefined;
    expect([answer.status, fates(answer)]).toEqual([202, ['taken', 'taken', '503 queue_limit']]);
  });
});

describe('the whole request', () => {
  test.each([
    ['no JSON', 'x', 'malformed_json', undefined],
    ['nothing', '', 'malformed_json', undefined],
    ['cut off', '{"messages":[{"a":1}', 'malformed_json', undefined],
    ['cut off in a message', '{"messages":[{"a":', 'malformed_json', undefined],
    ['a superfluous comma', '{"messages":[1,]}', 'malformed_json', undefined],
    ['a message that is no JSON', '{"messages":[1,{a:1}]}', 'malformed_json', '/messages/1'],
    ['a bare list', '[{"from":"a@x.test"}]', 'invalid_submission', ''],
    ['another name', '{"message":[1]}', 'invalid_submission', '/messages'],
    ['a superfluous name', '{"messages":[1],"from":"a@x.test"}', 'invalid_submission', '/from'],
    ['no list', '{"messages":{}}', 'invalid_submission', '/messages'],
    ['an empty list', '{"messages":[]}', 'invalid_submission', '/messages'],
    ['the list twice', '{"messages":[1],"messages":[2]}', 'duplicate_name', '/messages'],
  ])('%s: 400', async (_, body, code, pointer) => {
    const before = client.world.intake.submissions.length;
    const answer = await client.send(body);
    expect([answer.status, answer.json['code'], answer.json.errors?.[0]?.pointer]).toEqual([
      400,
      code,
      pointer,
    ]);
    expect(client.world.intake.submissions).toHaveLength(before);
  });

  test('as many messages as configured, and not one more', async () => {
    expect(fates(await client.send(mails(20)))).toEqual(Array(20).fill('taken'));
    const answer = await client.send(mails(21));
    expect([answer.status, answer.json.errors?.[0]]).toEqual([
      400,
      { pointer: '/messages', code: 'too_many', detail: expect.stringContaining('more than 20 messages') },
    ]);
  });

  test.each([
    ['told by Content-Length', {}],
    ['found while reading', { 'Transfer-Encoding': 'chunked' }],
  ])('a body over the limit, %s: 413 that says what to do', async (_, headers: Record<string, string>) => {
    const answer = await client.send([{ ...MAIL, text: 'x'.repeat(500_000) }], headers);
    expect([answer.status, answer.json['code']]).toEqual([413, 'content_too_large']);
    expect(answer.json['detail']).toMatch(/at most 500000 bytes.*37 %.*api\.max_batch_bytes/);
  });

  test('other media types, parameters and keys are refused as everywhere', async () => {
    expect((await client.send([MAIL], { 'Content-Type': 'text/plain' })).status).toBe(415);
    expect((await client.send([MAIL], { 'Idempotency-Key': '' })).json.errors).toMatchObject([
      { pointer: '/Idempotency-Key' },
    ]);
    const body = { messages: [MAIL] };
    expect(
      (await client.world.ask({ method: 'POST', path: `${BATCH_PATH}?x=1`, key: client.key, body })).json[
        'code'
      ],
    ).toBe('invalid_query');
    expect((await client.world.ask({ path: BATCH_PATH, key: client.key })).status).toBe(405);
  });

  test('when nothing can be stored, no message is to blame: 503 for all', async () => {
    const suspension: Suspension = { code: 'disk_full', detail: 'The disk is full.', retryAfterSeconds: 9 };
    client.world.intake.suspension = suspension;
    const early = await client.send([MAIL]);
    client.world.intake.suspension = null;
    const { accept } = client.world.intake;
    client.world.intake.accept = async (submissions) =>
      submissions.map(() => ({ kind: 'suspended', suspension }));
    const late = await client.send([MAIL, { ...MAIL, text: '' }]);
    client.world.intake.accept = accept;
    for (const { status, json, headers } of [early, late])
      expect([status, json['code'], headers['retry-after']]).toEqual([503, 'disk_full', '9']);
  });
});

describe('told for what it is', () => {
  test('a byte order mark', async () =>
    expect((await client.send('\ufeff{"messages":[{}]}')).json['detail']).toContain('byte order mark'));

  test('a message that is no object', async () =>
    expect(itemsOf(await client.send([[]]))[0]?.error).toMatchObject({
      detail: expect.stringMatching(/^The message: Must be an object/),
    }));
});

describe('messages a minute', () => {
  test('a batch that does not fit is refused whole, until it fits', async () => {
    const limited = await BatchClient.start({ limits: { batchMessagesPerMinute: 10 } });
    expect(fates(await limited.send(mails(6)))).toHaveLength(6);
    const refused = await limited.send(mails(5));
    expect([refused.status, refused.json['code'], refused.headers['retry-after']]).toEqual([
      429,
      'batch_rate_limited',
      '60',
    ]);
    expect(refused.json['detail']).toContain('4 are left');
    expect((await limited.send(mails(4))).status).toBe(202);
    expect((await limited.send(mails(1), {}, await limited.world.key())).status).toBe(202);
    await limited.world.clock.advance(60_000);
    expect((await limited.send(mails(10))).status).toBe(202);
    expect((await limited.send(mails(11))).json['detail']).toContain('smaller batches');
    expect(limited.world.denied).toEqual(['batch_rate_limited', 'batch_rate_limited']);
    await limited.world.close();
  });

  test('one batch is one request', async () => {
    const as = await client.world.key({ rateLimit: 1 });
    expect((await client.send(mails(5), {}, as)).headers['ratelimit-remaining']).toBe('0');
    expect((await client.send(mails(1), {}, as)).json['code']).toBe('rate_limited');
  });
});
