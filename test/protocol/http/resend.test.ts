import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SpoolError } from '../../../src/spool/spool.ts';
import { formOf, MAIL, World } from './world.ts';

/** `POST /api/v1/messages/{id}/resend` (contract §3.3). */

let world: World;
let key: string;

beforeAll(async () => {
  world = await World.start();
  key = await world.key();
});
afterAll(() => world.close());

/** Submits a message with these fields; its id. */
async function submit(fields: object = {}, as = key): Promise<string> {
  const answer = await world.post(as, { ...MAIL, ...fields });
  expect(answer.status).toBe(202);
  return String(answer.json['id']);
}

/** Submits a finished message; its id. */
async function submitRaw(body: string): Promise<string> {
  const answer = await world.ask({
    method: 'POST',
    path: '/api/v1/messages/raw?from=a@example.com&to=b@example.org',
    key,
    headers: { 'Content-Type': 'message/rfc822' },
    body,
  });
  return String(answer.json['id']);
}

const resend = (id: string, as = key, headers: Record<string, string> = {}, body?: string) =>
  world.ask({
    method: 'POST',
    path: `/api/v1/messages/${id}/resend`,
    key: as,
    headers,
    ...(body !== undefined && { body }),
  });

/** A message's fields without what is made anew, and its body. */
const lasting = (text: string) =>
  text.replace(/^Received: .*\r\n(?:[ \t].*\r\n)*/, '').replace(/^(Date|Message-ID): .*\r\n/gm, '$1\r\n');

test('a new message with its own id, Message-ID, Date and Received, and all else as it was', async () => {
  const fields = {
    cc: ['c@example.org'],
    bcc: ['d@example.org'],
    tags: ['x'],
    metadata: { a: 'b' },
    priority: 'high',
    headers: { 'X-A': 'b', 'Reply-To': 'r@example.com' },
    attachments: [{ filename: 'a.bin', content: Buffer.alloc(5000, 1).toString('base64') }],
  };
  const id = await submit(fields);
  const [first, firstText] = [world.last, world.lastText];
  await world.clock.advance(3_600_000);
  const answer = await resend(id);
  expect([answer.status, answer.json['message'], answer.headers.location]).toEqual([
    202,
    'Queued for delivery.',
    `/api/v1/messages/${answer.json['id']}`,
  ]);
  expect(answer.json['id']).not.toBe(id);
  const { last, lastText } = world;
  expect(last).toMatchObject({
    envelope: first.envelope,
    tags: ['x'],
    metadata: { a: 'b' },
    priority: 'high',
    sendAt: null,
    idempotency: null,
  });
  expect(last.header).toEqual({
    ...first.header,
    messageId: expect.not.stringMatching(first.header.messageId),
  });
  expect(last.content.flags).toEqual(first.content.flags);
  expect(last.content.sizeBytes).toBe(lastText.length);
  expect(lasting(lastText)).toBe(lasting(firstText));
  expect(lastText.match(/^Received:/gm)).toHaveLength(1);
  expect(lastText).toContain(`Message-ID: ${last.header.messageId}\r\n`);
  const dateOf = (text: string) => Date.parse(/^Date: (.*)$/m.exec(text)?.[1] ?? '');
  expect(dateOf(lastText) - dateOf(firstText)).toBe(3_600_000);
});

test('a finished message keeps the Received fields of others', async () => {
  const body = 'Received: by other\r\nFrom: a@example.com\r\nconstructor: x\r\n\r\nHi.\r\n';
  const id = await submitRaw(body);
  expect((await resend(id)).status).toBe(202);
  expect(lasting(world.lastText)).toBe(`Date\r\nMessage-ID\r\n${body}`);
});

test('our signatures of before do not stand above fields that are others now', async () => {
  world.intake.signature = 'DKIM-Signature: v=1; a=one\r\nDKIM-Signature: v=1;\r\n a=two\r\n';
  const theirs = 'DKIM-Signature: v=1; a=theirs\r\nFrom: a@example.com\r\n\r\nHi.\r\n';
  const id = await submitRaw(theirs);
  world.intake.signature = '';
  expect((await resend(id)).status).toBe(202);
  expect(world.lastText.match(/^Received:/gm)).toHaveLength(1);
  expect(lasting(world.lastText)).toBe(`Date\r\nMessage-ID\r\n${theirs}`);
});

test('what was to be sent later is sent now', async () => {
  const id = await submit({ sendAt: new Date(world.clock.wall() + 86_400_000).toISOString() });
  await resend(id);
  expect(world.last.sendAt).toBeNull();
});

test('a resent message can be resent', async () => {
  const { json } = await resend(await submit());
  expect((await resend(String(json['id']))).status).toBe(202);
});

describe('whose', () => {
  test('the key that may not see it: 404; that may only read it: 403; that may act: a message of its own', async () => {
    const id = await submit();
    const stranger = await world.key();
    const reader = await world.key({ scopes: ['messages:send', 'messages:read_all'] });
    const admin = await world.key({
      id: 'the-admin',
      scopes: ['messages:send', 'messages:read_all', 'admin'],
    });
    const answers = [await resend(id, stranger), await resend(id, reader)];
    expect(answers.map(({ status, json }) => `${status} ${json['code']}`)).toEqual([
      '404 message_not_found',
      '403 scope_missing',
    ]);
    expect((await resend(id, admin)).status).toBe(202);
    expect(world.last.keyId).toBe('the-admin');
  });

  test('a key without messages:send', async () => {
    const reader = await world.key({ id: 'only-reads', scopes: ['messages:read'] });
    expect((await resend(await submit(), reader)).json['code']).toBe('scope_missing');
  });

  test('sender domains of the caller bind: the reverse-path, From and Sender', async () => {
    const scopes = ['messages:send', 'messages:read_all', 'admin'] as const;
    const bound = await world.key({ scopes, senderDomains: ['example.com'] });
    expect((await resend(await submit(), bound)).status).toBe(202);
    const id = await submit({ from: 'a@example.net' });
    expect((await resend(id, bound)).json['code']).toBe('sender_not_allowed');
  });
});

describe('a message that came in over SMTP with a header that nobody can read', () => {
  /** Its Received is ours, as on every message that was taken. */
  const text =
    'Received: by us\r\nFrom: root\r\nX : \x01\r\n \r\nDate: odd\r\nMessage-ID: odd\r\n\r\nno: field\r\n';

  async function accept(keyId: string): Promise<string> {
    const chunks = [Buffer.from(text)];
    await submit();
    const content = { ...world.last.content, chunks, sizeBytes: text.length };
    const [answer] = await world.intake.accept([{ ...world.last, content, keyId, source: 'smtp' }]);
    return answer?.kind === 'accepted' ? answer.id : '';
  }

  test('goes once more as it is', async () => {
    const sender = await world.key({ id: 'sends-odd-mail' });
    expect((await resend(await accept('sends-odd-mail'), sender)).status).toBe(202);
    expect(lasting(world.lastText)).toBe(lasting(text));
  });

  test('is not for a key that may send only from some domains', async () => {
    const bound = await world.key({ id: 'bound-to-domains', senderDomains: ['example.com'] });
    const { status, json } = await resend(await accept('bound-to-domains'), bound);
    expect([status, json['code']]).toEqual([403, 'sender_not_allowed']);
    expect(json['detail']).toContain('is ambiguous');
  });
});

describe('refused', () => {
  test.each(['msg_00000000000000000000000000', 'nonsense'])('%s: 404', async (id) =>
    expect((await resend(id)).json['code']).toBe('message_not_found'),
  );

  test("a test key's message, whoever asks", async () => {
    const testKey = await world.key({ id: 'test-key', mode: 'test' });
    const id = await submit({}, testKey);
    const admin = await world.key({ scopes: ['messages:send', 'messages:read_all', 'admin'] });
    for (const as of [testKey, admin]) {
      const answer = await resend(id, as);
      expect([answer.status, answer.json['code']]).toEqual([409, 'test_key']);
    }
  });

  test('a message that o:testmode was to capture is told as that', async () => {
    const form = formOf([...Object.entries({ ...MAIL, to: 'b@example.org' }), ['o:testmode', 'yes']]);
    const { json } = await world.postForm(key, form);
    const answer = await resend(String(json['id']));
    expect([answer.json['code'], answer.json['detail']]).toEqual([
      'test_key',
      expect.stringContaining('without o:testmode'),
    ]);
  });

  test.each([
    ['content_missing', 409, 'content_expired'],
    ['spool_closed', 503, 'store_unavailable'],
    ['spool_unavailable', 503, 'store_unavailable'],
    ['spool_failed', 503, 'store_unavailable'],
    ['content_damaged', 500, 'internal_error'],
  ] as const)('when the spool says %s: %i', async (code, status, told) => {
    const id = await submit();
    const { read } = world.intake;
    world.intake.read = () => Promise.reject(new SpoolError(code, 'x'));
    const answer = await resend(id);
    world.intake.read = read;
    expect([answer.status, answer.json['code']]).toEqual([status, told]);
  });

  test('what retention has removed', async () => {
    const id = await submit();
    await world.intake.cancel(id);
    const now = world.clock.wall() + 1000;
    const ages = { contentAgeMs: 0, capturedAgeMs: 0, recordAgeMs: 1e9, eventAgeMs: 1e9, feedbackAgeMs: 1e9 };
    const policy = { ...ages, contentMaxBytes: 0, capturedMaxBytes: 0, maxUnsubscribeLinks: 9 };
    await world.stores.store.purge(policy, 100, { node: 'test', now });
    const answer = await resend(id);
    expect([answer.status, answer.json['code']]).toEqual([409, 'content_expired']);
  });

  test('a message that is larger than what is taken now', async () => {
    const id = await submit({ text: 'x\n'.repeat(1000) });
    const { limits } = world.options;
    const { maxMessageBytes } = limits;
    limits.maxMessageBytes = 1000;
    const answer = await resend(id);
    limits.maxMessageBytes = maxMessageBytes;
    expect([answer.status, answer.json['code']]).toEqual([413, 'message_too_large']);
  });

  test('while intake is suspended', async () => {
    const id = await submit();
    world.intake.suspension = { code: 'disk_full', detail: 'The disk is full.', retryAfterSeconds: 9 };
    const answer = await resend(id);
    world.intake.suspension = null;
    expect([answer.status, answer.json['code'], answer.headers['retry-after']]).toEqual([
      503,
      'disk_full',
      '9',
    ]);
  });

  test('a body, a parameter, another method', async () => {
    const id = await submit();
    const type = { 'Content-Type': 'application/json' };
    expect((await resend(id, key, type, '{}')).status).toBe(202);
    expect((await resend(id, key, type, '{"to":["x@y.test"]}')).json['code']).toBe('body_not_empty');
    expect(
      (await world.ask({ method: 'POST', path: `/api/v1/messages/${id}/resend?to=x`, key })).json['code'],
    ).toBe('invalid_query');
    const get = await world.ask({ path: `/api/v1/messages/${id}/resend`, key });
    expect([get.status, get.headers.allow]).toEqual([405, expect.stringContaining('POST')]);
  });
});

describe('Idempotency-Key', () => {
  test('a repeat gets the first answer; another message under it, or a submission, is 409', async () => {
    const headers = { 'Idempotency-Key': 'again' };
    const id = await submit();
    const first = await resend(id, key, headers);
    const second = await resend(id, key, headers);
    expect([second.json, second.headers['idempotency-replayed']]).toEqual([first.json, 'true']);
    expect((await resend(await submit(), key, headers)).json['code']).toBe('idempotency_mismatch');
    expect((await world.post(key, MAIL, headers)).json['code']).toBe('idempotency_mismatch');
  });

  test('a repeat gets the first answer, whatever has become of the content or the sender since', async () => {
    const headers = { 'Idempotency-Key': 'later' };
    const id = await submit();
    const first = await resend(id, key, headers);
    const { read } = world.intake;
    world.intake.read = () => Promise.reject(new SpoolError('content_missing', 'x'));
    const second = await resend(id, key, headers);
    const other = await resend(await submit(), key, headers);
    world.intake.read = read;
    expect([second.json, second.headers['idempotency-replayed']]).toEqual([first.json, 'true']);
    expect(other.json['code']).toBe('content_expired');
  });

  test('a malformed one', async () =>
    expect((await resend(await submit(), key, { 'Idempotency-Key': '' })).json.errors).toMatchObject([
      { pointer: '/Idempotency-Key', code: 'idempotency_key' },
    ]));
});
