import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Suspension } from '../../../src/engine/intake.ts';
import { type Answer, MAIL, World } from './world.ts';

/** `POST /api/v1/messages/batch` (contract §2). */

let world: World;
let key: string;

beforeAll(async () => {
  world = await World.start();
  key = await world.key();
});
afterAll(() => world.close());

const PATH = '/api/v1/messages/batch';

/** Sends a batch of these messages, or a body as it is. */
function send(
  messages: readonly unknown[] | string,
  headers: Record<string, string> = {},
  as = key,
  in_ = world,
) {
  const body = typeof messages === 'string' ? messages : JSON.stringify({ messages });
  const type = { 'Content-Type': 'application/json', ...headers };
  return in_.ask({ method: 'POST', path: PATH, key: as, headers: type, body });
}

interface Item {
  readonly index: number;
  readonly id?: string;
  readonly error?: {
    readonly status: number;
    readonly code: string;
    readonly errors: readonly { readonly pointer: string }[];
  };
}
const itemsOf = (answer: Answer) => answer.json['results'] as readonly Item[];

/** What became of each: its status, and the code of a refusal. */
const fates = (answer: Answer) =>
  itemsOf(answer).map(({ id, error }) => (id === undefined ? `${error?.status} ${error?.code}` : 'taken'));

/** Messages that differ in their subject. */
const mails = (count: number, fields: object = {}) =>
  Array.from({ length: count }, (_, place) => ({ ...MAIL, subject: `No. ${place}`, ...fields }));

let count = 0;
const fresh = () => ({ 'Idempotency-Key': `batch ${count++}` });

describe('each by itself', () => {
  test('the good are accepted in one commit, in order; the bad are told what is wrong', async () => {
    const calls: number[] = [];
    const { accept } = world.intake;
    world.intake.accept = (submissions) => {
      calls.push(submissions.length);
      return accept.call(world.intake, submissions);
    };
    const bound = await world.key({ senderDomains: ['example.com'] });
    const [a, b] = mails(2);
    const answer = await send(
      [a, { ...MAIL, to: ['x@y.test', 'oops'] }, { ...MAIL, from: 'j@other.test' }, b, 7],
      {},
      bound,
    );
    world.intake.accept = accept;
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
    expect(world.intake.submissions.slice(-2).map(({ header }) => header.subject)).toEqual([
      'No. 0',
      'No. 1',
    ]);
  });

  test('when none is good, nothing is handed over', async () => {
    const before = world.intake.submissions.length;
    const answer = await send([{ ...MAIL, text: '' }]);
    expect([answer.status, fates(answer)]).toEqual([202, ['400 invalid_submission']]);
    expect(world.intake.submissions).toHaveLength(before);
  });

  test('a dry run among them is judged only', async () => {
    const before = world.intake.submissions.length;
    const answer = await send([{ ...MAIL, dryRun: true }, MAIL]);
    expect(itemsOf(answer)[0]).toMatchObject({
      index: 0,
      verdict: { dryRun: true, recipients: [{ relay: 'out' }] },
    });
    expect(itemsOf(answer)[1]).toMatchObject({ index: 1, status: 'queued' });
    expect(world.intake.submissions).toHaveLength(before + 1);
  });

  test('too large a message does not stand in the way of the others', async () => {
    const attachments = (bytes: number) => [
      { filename: 'a', content: Buffer.alloc(bytes).toString('base64') },
    ];
    const answer = await send([
      { ...MAIL, attachments: attachments(111_000) },
      MAIL,
      { ...MAIL, attachments: attachments(120_000) },
    ]);
    expect(fates(answer)).toEqual(['413 message_too_large', 'taken', '413 message_too_large']);
    expect(answer.text).toContain('grow by 37 %');
  });

  test.each([
    ['too deep', `${'['.repeat(20)}${']'.repeat(20)}`, 'json_too_complex'],
    ['half a surrogate pair', '{"text":"\\ud800"}', 'lone_surrogate'],
    ['a name twice', '{"text":"a","text":"b"}', 'duplicate_name'],
    ['__proto__', '{"__proto__":1}', 'forbidden_name'],
  ])('%s in one message refuses that one', async (_, text, code) =>
    expect(fates(await send(`{"messages":[${text},${JSON.stringify(MAIL)}]}`))).toEqual([
      `400 ${code}`,
      'taken',
    ]),
  );

  test('each has the values of a single submission', async () => {
    const usual = world.options.limits.maxJsonValues;
    world.options.limits.maxJsonValues = 1000;
    const tags = Array(900).fill('');
    const answer = await send([
      { ...MAIL, tags },
      { ...MAIL, tags: [...tags, ...tags] },
    ]);
    world.options.limits.maxJsonValues = usual;
    expect(fates(answer)).toEqual(['400 invalid_submission', '400 json_too_complex']);
    expect(itemsOf(answer)[0]?.error?.errors.length).toBeLessThanOrEqual(100);
  });

  test('a full queue is told for each message that finds no room', async () => {
    const fullKey = await world.key();
    world.intake.limits = { maxBytes: 1e9, maxMessagesPerKey: 2 };
    const answer = await send(mails(3), {}, fullKey);
    world.intake.limits = undefined;
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
    const before = world.intake.submissions.length;
    const answer = await send(body);
    expect([answer.status, answer.json['code'], answer.json.errors?.[0]?.pointer]).toEqual([
      400,
      code,
      pointer,
    ]);
    expect(world.intake.submissions).toHaveLength(before);
  });

  test('as many messages as configured, and not one more', async () => {
    expect(fates(await send(mails(20)))).toEqual(Array(20).fill('taken'));
    const answer = await send(mails(21));
    expect([answer.status, answer.json.errors?.[0]]).toEqual([
      400,
      { pointer: '/messages', code: 'too_many', detail: expect.stringContaining('more than 20 messages') },
    ]);
  });

  test.each([
    ['told by Content-Length', {}],
    ['found while reading', { 'Transfer-Encoding': 'chunked' }],
  ])('a body over the limit, %s: 413 that says what to do', async (_, headers: Record<string, string>) => {
    const answer = await send([{ ...MAIL, text: 'x'.repeat(500_000) }], headers);
    expect([answer.status, answer.json['code']]).toEqual([413, 'content_too_large']);
    expect(answer.json['detail']).toMatch(/at most 500000 bytes.*37 %.*api\.max_batch_bytes/);
  });

  test('other media types, parameters and keys are refused as everywhere', async () => {
    expect((await send([MAIL], { 'Content-Type': 'text/plain' })).status).toBe(415);
    expect((await send([MAIL], { 'Idempotency-Key': '' })).json.errors).toMatchObject([
      { pointer: '/Idempotency-Key' },
    ]);
    const body = { messages: [MAIL] };
    expect((await world.ask({ method: 'POST', path: `${PATH}?x=1`, key, body })).json['code']).toBe(
      'invalid_query',
    );
    expect((await world.ask({ path: PATH, key })).status).toBe(405);
  });

  test('when nothing can be stored, no message is to blame: 503 for all', async () => {
    const suspension: Suspension = { code: 'disk_full', detail: 'The disk is full.', retryAfterSeconds: 9 };
    world.intake.suspension = suspension;
    const early = await send([MAIL]);
    world.intake.suspension = null;
    const { accept } = world.intake;
    world.intake.accept = async (submissions) => submissions.map(() => ({ kind: 'suspended', suspension }));
    const late = await send([MAIL, { ...MAIL, text: '' }]);
    world.intake.accept = accept;
    for (const { status, json, headers } of [early, late])
      expect([status, json['code'], headers['retry-after']]).toEqual([503, 'disk_full', '9']);
  });
});

describe('messages a minute', () => {
  test('a batch that does not fit is refused whole, until it fits', async () => {
    const limited = await World.start({ limits: { batchMessagesPerMinute: 10 } });
    const as = await limited.key();
    expect(fates(await send(mails(6), {}, as, limited))).toHaveLength(6);
    const refused = await send(mails(5), {}, as, limited);
    expect([refused.status, refused.json['code'], refused.headers['retry-after']]).toEqual([
      429,
      'batch_rate_limited',
      '60',
    ]);
    expect(refused.json['detail']).toContain('4 are left');
    expect((await send(mails(4), {}, as, limited)).status).toBe(202);
    expect((await send(mails(1), {}, await limited.key(), limited)).status).toBe(202);
    await limited.clock.advance(60_000);
    expect((await send(mails(10), {}, as, limited)).status).toBe(202);
    expect((await send(mails(11), {}, as, limited)).json['detail']).toContain('smaller batches');
    expect(limited.denied).toEqual(['batch_rate_limited', 'batch_rate_limited']);
    await limited.close();
  });

  test('one batch is one request', async () => {
    const as = await world.key({ rateLimit: 1 });
    expect((await send(mails(5), {}, as)).headers['ratelimit-remaining']).toBe('0');
    expect((await send(mails(1), {}, as)).json['code']).toBe('rate_limited');
  });
});

describe('Idempotency-Key', () => {
  test('a repeat replays each accepted message and makes none', async () => {
    const headers = fresh();
    const first = await send(mails(3), headers);
    const before = world.intake.submissions.length;
    const second = await send(mails(3), headers);
    expect([second.status, second.json]).toEqual([202, first.json]);
    expect([first.headers['idempotency-replayed'], second.headers['idempotency-replayed']]).toEqual([
      undefined,
      'true',
    ]);
    expect(world.intake.submissions).toHaveLength(before);
  });

  test('what was refused the first time is accepted the second, the rest replayed', async () => {
    const headers = fresh();
    const [a, b, c] = mails(3);
    const first = await send([a, { ...b, text: '' }, c], headers);
    const second = await send([a, b, c], headers);
    expect(fates(first)).toEqual(['taken', '400 invalid_submission', 'taken']);
    expect(fates(second)).toEqual(['taken', 'taken', 'taken']);
    expect([itemsOf(second)[0]?.id, itemsOf(second)[2]?.id]).toEqual([
      itemsOf(first)[0]?.id,
      itemsOf(first)[2]?.id,
    ]);
    expect(second.headers['idempotency-replayed']).toBeUndefined();
  });

  test('another message in the same place is told by itself', async () => {
    const headers = fresh();
    await send(mails(2), headers);
    const answer = await send([MAIL, mails(2)[1]], headers);
    expect(fates(answer)).toEqual(['409 idempotency_mismatch', 'taken']);
  });

  test('equal messages of one batch are not one', async () => {
    const answer = await send([MAIL, MAIL], fresh());
    expect(new Set(itemsOf(answer).map(({ id }) => id)).size).toBe(2);
  });

  test('while the first is being accepted, the second is told so', async () => {
    const headers = fresh();
    const entered = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const { accept } = world.intake;
    world.intake.accept = async (submissions) => {
      entered.resolve();
      await gate.promise;
      return accept.call(world.intake, submissions);
    };
    const first = send(mails(2), headers);
    await entered.promise;
    const second = await send(mails(2), headers);
    expect([second.status, second.json['code']]).toEqual([409, 'idempotency_in_progress']);
    world.intake.accept = accept;
    gate.resolve();
    expect(fates(await first)).toEqual(['taken', 'taken']);
  });
});

describe('memory', () => {
  test('what messages grow to beyond their text is taken from the budget, or the batch is refused whole', async () => {
    // Equals signs take three bytes each in quoted-printable.
    const growing = mails(4, { text: '='.repeat(40_000) });
    const narrow = await World.start({ maxBytesInFlight: 250_000 });
    const as = await narrow.key();
    const refused = await send(growing, {}, as, narrow);
    expect([refused.status, refused.json['code']]).toEqual([503, 'overloaded']);
    expect(narrow.intake.submissions).toHaveLength(0);
    expect(fates(await send(growing.slice(0, 1), {}, as, narrow))).toEqual(['taken']);
    await narrow.close();
  });

  test('others get their turn while a batch is composed', async () => {
    let turns = 0;
    let composing = true;
    const spin = () => {
      turns += 1;
      if (composing) setImmediate(spin);
    };
    const wide = await World.start({ limits: { maxBatchMessages: 320 } });
    const as = await wide.key();
    const { accept } = wide.intake;
    let seen = 0;
    wide.intake.accept = (submissions) => {
      seen = turns;
      return accept.call(wide.intake, submissions);
    };
    wide.intake.suspended = () => {
      turns = 0;
      spin();
      return null;
    };
    expect(fates(await send(mails(320), {}, as, wide))).toHaveLength(320);
    composing = false;
    expect(seen).toBeGreaterThanOrEqual(320 / 16);
    await wide.close();
  });
});
