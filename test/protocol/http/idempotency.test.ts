import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { faultsOf, formOf, MAIL, World } from './world.ts';

/** `Idempotency-Key` (contract §2). */

let world: World;
let key: string;

beforeAll(async () => {
  world = await World.start();
  key = await world.key();
});
afterAll(() => world.close());

let count = 0;
const fresh = () => ({ 'Idempotency-Key': `key ${count++}` });

test('a repeat gets the first answer and makes no second message', async () => {
  const headers = fresh();
  const first = await world.post(key, MAIL, headers);
  const before = world.intake.submissions.length;
  await world.clock.advance(3_600_000);
  const second = await world.post(key, MAIL, headers);
  expect([second.status, second.json, second.headers.location]).toEqual([
    202,
    first.json,
    first.headers.location,
  ]);
  expect([first.headers['idempotency-replayed'], second.headers['idempotency-replayed']]).toEqual([
    undefined,
    'true',
  ]);
  expect(world.intake.submissions).toHaveLength(before);
});

test('the first answer is repeated also where it said that mail is only captured', async () => {
  const testKey = await world.key({ mode: 'test' });
  const headers = fresh();
  const first = await world.post(testKey, MAIL, headers);
  expect((await world.post(testKey, MAIL, headers)).json).toEqual(first.json);
  expect(first.json['message']).toContain('Captured');
});

test('the Mailgun path repeats its first id', async () => {
  const headers = {
    Authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}`,
    'Content-Type': 'application/x-www-form-urlencoded',
    ...fresh(),
  };
  const ask = {
    method: 'POST',
    path: '/v3/x.test/messages',
    headers,
    body: 'from=a%40x.test&to=b%40x.test&text=x',
  };
  const first = await world.ask(ask);
  const second = await world.ask(ask);
  expect(second.json).toEqual(first.json);
  expect(second.headers['idempotency-replayed']).toBe('true');
});

test('the time that is meant, the letter case of header names and the default media type are the same', async () => {
  const headers = fresh();
  const file = { filename: 'a.bin', content: 'QUJD' };
  const at = (zone: string) => ({
    sendAt: new Date(world.clock.wall() + 3_600_000).toISOString().replace('Z', zone),
  });
  const first = await world.post(
    key,
    { ...MAIL, ...at('Z'), headers: { 'X-A': 'b', 'X-B': 'c' }, attachments: [file] },
    headers,
  );
  const attachments = [{ ...file, contentType: 'application/octet-stream', disposition: 'attachment' }];
  const again = await world.post(
    key,
    { ...MAIL, ...at('+00:00'), headers: { 'x-b': 'c', 'x-a': 'b' }, attachments },
    headers,
  );
  expect([again.json, again.headers['idempotency-replayed']]).toEqual([first.json, 'true']);
  const other = await world.post(key, { ...MAIL, ...at('+01:00'), attachments }, headers);
  expect(other.json['code']).toBe('idempotency_mismatch');
});

test('long texts and attachments are compared too', async () => {
  const headers = fresh();
  const long = 'x'.repeat(70_000);
  const first = await world.post(key, { ...MAIL, text: long }, headers);
  expect((await world.post(key, { ...MAIL, text: long }, headers)).json).toEqual(first.json);
  expect((await world.post(key, { ...MAIL, text: `${long}y` }, headers)).json['code']).toBe(
    'idempotency_mismatch',
  );
  expect((await world.post(key, { ...MAIL, text: null, html: long }, headers)).json['code']).toBe(
    'idempotency_mismatch',
  );
});

test('submissions are compared as parsed: order of names, spelling and form make no difference', async () => {
  const headers = fresh();
  const attachments = [{ filename: 'a.txt', content: 'QUJD', contentType: 'text/plain' }];
  const first = await world.post(
    key,
    { ...MAIL, attachments, metadata: { a: '1', b: '2' }, tags: ['x'] },
    headers,
  );
  const again = {
    tags: ['x', 'x'],
    metadata: { b: '2', a: '1' },
    ...MAIL,
    to: 'bob@EXAMPLE.org',
    attachments,
  };
  expect((await world.post(key, again, headers)).json).toEqual(first.json);
  const form = formOf([
    ['v:b', '2'],
    ['v:a', '1'],
    ['o:tag', 'x'],
    ['subject', MAIL.subject],
    ['from', MAIL.from],
    ['to', 'bob@example.org'],
    ['text', MAIL.text],
    ['attachment', new File(['ABC'], 'a.txt', { type: 'text/plain' })],
  ]);
  const encoded = new Response(form);
  const type = { 'Content-Type': encoded.headers.get('content-type') ?? '', ...headers };
  const answer = await world.ask({
    method: 'POST',
    key,
    headers: type,
    body: Buffer.from(await encoded.arrayBuffer()),
  });
  expect(answer.json).toEqual(first.json);
});

test.each([
  ['subject', { subject: 'Other' }],
  ['text', { text: 'Other.' }],
  ['html', { html: 'x' }],
  ['from', { from: 'other@example.com' }],
  ['to', { to: ['other@example.org'] }],
  ['cc', { cc: ['other@example.org'] }],
  ['bcc', { bcc: ['other@example.org'] }],
  ['headers', { headers: { 'X-A': 'b' } }],
  ['attachments', { attachments: [{ filename: 'a', content: 'QQ==' }] }],
  ['tags', { tags: ['a'] }],
  ['metadata', { metadata: { a: 'b' } }],
  ['sendAt', { sendAt: '2026-11-21T00:00:00Z' }],
  ['priority', { priority: 'high' }],
])('another %s under the same key is 409', async (_, change) => {
  const headers = fresh();
  await world.post(key, MAIL, headers);
  const answer = await world.post(key, { ...MAIL, ...change }, headers);
  expect([answer.status, answer.json['code']]).toEqual([409, 'idempotency_mismatch']);
});

test('only accepted submissions are remembered', async () => {
  const headers = fresh();
  expect((await world.post(key, { ...MAIL, text: '' }, headers)).status).toBe(400);
  const answer = await world.post(key, MAIL, headers);
  expect([answer.status, answer.headers['idempotency-replayed']]).toEqual([202, undefined]);
});

test('the keys of two API keys are apart', async () => {
  const headers = fresh();
  const first = await world.post(key, MAIL, headers);
  const second = await world.post(await world.key(), MAIL, headers);
  expect(second.json['id']).not.toBe(first.json['id']);
});

test.each([
  ['256 characters', 'x'.repeat(256), 202],
  ['257 characters', 'x'.repeat(257), 400],
  ['nothing', '', 400],
  ['beyond ASCII', 'ü', 400],
  ['a tab', 'a\tb', 400],
])('of %s: %#', async (_, value, status) => {
  const answer = await world.post(key, MAIL, { 'Idempotency-Key': value });
  expect(answer.status).toBe(status);
  if (status === 400) expect(faultsOf(answer)).toEqual(['/Idempotency-Key idempotency_key']);
});

test('a faulty key is told together with the faulty fields', async () => {
  const answer = await world.post(key, { ...MAIL, priority: 'x' }, { 'Idempotency-Key': '' });
  expect(answer.json['code']).toBe('invalid_submission');
  expect(faultsOf(answer)).toEqual(['/Idempotency-Key idempotency_key', '/priority priority']);
});

describe('while the first is being accepted', () => {
  const basic = () => ({ Authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}` });
  const form = 'from=a%40x.test&to=b%40x.test&text=x';
  const mailgun = (headers: Record<string, string>) =>
    world.ask({
      method: 'POST',
      path: '/v3/x.test/messages',
      headers: { ...basic(), 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
      body: form,
    });

  /** Holds the intake's next answer back until it is let go; `entered` resolves when it was asked. */
  function hold() {
    const entered = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const accept = world.intake.accept;
    world.intake.accept = async (submissions) => {
      world.intake.accept = accept;
      entered.resolve();
      await gate.promise;
      return accept.call(world.intake, submissions);
    };
    return { entered: entered.promise, letGo: gate.resolve };
  }

  test('a second one is told so, another key and no key go on; afterwards it gets the first answer', async () => {
    const headers = fresh();
    const { entered, letGo } = hold();
    const first = world.post(key, MAIL, headers);
    await entered;
    const second = await world.post(key, MAIL, headers);
    expect([second.status, second.json['code'], second.headers['retry-after']]).toEqual([
      409,
      'idempotency_in_progress',
      '1',
    ]);
    const others = await Promise.all([
      world.post(key, MAIL, fresh()),
      world.post(key, MAIL),
      world.post(await world.key(), MAIL, headers),
      world.post(key, { ...MAIL, dryRun: true }, headers),
    ]);
    expect(others.map(({ status }) => status)).toEqual([202, 202, 202, 200]);
    letGo();
    expect((await first).status).toBe(202);
    const third = await world.post(key, MAIL, headers);
    expect([third.json, third.headers['idempotency-replayed']]).toEqual([(await first).json, 'true']);
  });

  test('the Mailgun path tells it too', async () => {
    const headers = fresh();
    const { entered, letGo } = hold();
    const first = mailgun(headers);
    await entered;
    const second = await mailgun(headers);
    expect([second.status, second.json]).toEqual([
      409,
      { message: expect.stringContaining('still being accepted') },
    ]);
    letGo();
    expect((await mailgun(headers)).status).toBe((await first).status);
  });

  test('a first one that fails leaves the key free', async () => {
    const headers = fresh();
    const { accept } = world.intake;
    world.intake.accept = () => Promise.reject(new Error('a bug'));
    expect((await world.post(key, MAIL, headers)).status).toBe(500);
    world.intake.accept = accept;
    expect((await world.post(key, MAIL, headers)).status).toBe(202);
  });

  test('many at once make one message', async () => {
    const headers = fresh();
    const before = world.intake.submissions.length;
    const answers = await Promise.all(Array.from({ length: 20 }, () => world.post(key, MAIL, headers)));
    const taken = answers.filter(({ status }) => status === 202);
    expect(new Set(taken.map(({ json }) => json['id'])).size).toBe(1);
    expect(
      answers.every(({ status, json }) => status === 202 || json['code'] === 'idempotency_in_progress'),
    ).toBe(true);
    expect(world.intake.submissions).toHaveLength(before + 1);
  });
});
