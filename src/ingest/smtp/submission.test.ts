import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mailboxOf, reversePathOf } from '../../../test/support/handing-in.ts';
import type { ApiKey, NamedSource } from '../../domain/key.ts';
import type { Submission } from '../../domain/message.ts';
import { MAX_HANDED_IN_HEADER } from '../../mail/handed-in.ts';
import type { ForwardPath, ReversePath, TakenEnvelope } from '../../smtp/receiver/effect.ts';
import type { Origin } from './origin.ts';
import { buildSubmission, type MessageContext } from './submission.ts';

const NOW = Date.UTC(2026, 10, 20, 11, 15);
const CONTEXT: MessageContext = {
  id: 'msg_01',
  now: NOW,
  hostname: 'mail.example.com',
  postmaster: 'chief@example.com',
  requestId: 'request-1',
  hello: 'client.test',
  protocol: 'ESMTPSA',
  receivedClient: true,
  limits: { maxTags: 10, maxMetadata: 20 },
  domains: new Set(['registered.test']),
};
const NOBODY = { source: null, key: null, box: null };
const STRANGER: Origin = { ...NOBODY, address: '192.0.2.7', isHidden: false, allowed: true };
const SOURCE: NamedSource = {
  name: 'printers',
  cidr: '192.0.2.0/24',
  senderDomains: [],
  ratePerMinute: 0,
  tags: ['paper', 'a'],
};
const KEY: ApiKey = {
  id: 'key_1',
  name: 'shop',
  mode: 'live',
  prefix: 'wb_live_x',
  scopes: ['messages:send'],
  createdAt: 0,
  lastUsedAt: null,
  expiresAt: null,
  revokedAt: null,
  rateLimit: null,
  cidrs: [],
  senderDomains: [],
  contentDays: null,
  recordDays: null,
};
const KEYED: Origin = { ...STRANGER, key: KEY };
const NAMED: Origin = { ...STRANGER, source: SOURCE };
const BOUND: Origin = { ...STRANGER, key: { ...KEY, senderDomains: ['x.test'] } };
const TRACE =
  'Received: from client.test ([192.0.2.7]) by mail.example.com\r\n with ESMTPSA id msg_01 for <b@y.test>; Fri, 20 Nov 2026 11:15:00 +0000\r\n';
const WHOLE = 'Date: Fri, 20 Nov 2026 10:00:00 +0000\r\nMessage-ID: <1@x.test>\r\n';

function to(address: string | null, parameters: Partial<ForwardPath> = {}): ForwardPath {
  return { mailbox: address === null ? null : mailboxOf(address), notify: null, orcpt: null, ...parameters };
}

function envelope(
  from: string | null,
  paths: readonly ForwardPath[],
  more: Partial<ReversePath> = {},
): TakenEnvelope {
  return { reversePath: { ...reversePathOf(from ?? ''), ...more }, forwardPaths: paths };
}

const USUAL = envelope('a@x.test', [to('b@y.test')]);

function build(
  text: string | Buffer,
  origin = STRANGER,
  taken = USUAL,
  context: Partial<MessageContext> = {},
) {
  const bytes = Buffer.from(text);
  const content = { chunks: [bytes], sizeBytes: bytes.length, dotStuffing: false };
  return buildSubmission(taken, content, origin, { ...CONTEXT, ...context });
}

function submit(...given: Parameters<typeof build>): Submission {
  const built = build(...given);
  if (!built.ok) throw new Error(built.refusal.reply.text);
  return built.submission;
}

function refused(...given: Parameters<typeof build>): string {
  const built = build(...given);
  if (built.ok) return 'not refused';
  const { reply, denied } = built.refusal;
  return `${denied} ${reply.code} ${reply.enhanced} ${reply.text}`;
}

const sent = (submission: Submission) => Buffer.concat(submission.content.chunks).toString();

test('a message goes on as it is, with our Received on top', () => {
  const text = `From: Jane <a@x.test>\r\nTo: b@y.test\r\nSubject: =?utf-8?q?=C3=A4?=\r\n${WHOLE}\r\nHi.\r\n`;
  const submission = submit(text);
  expect(sent(submission)).toBe(TRACE + text);
  expect(submission).toMatchObject({
    id: 'msg_01',
    envelope: {
      reversePath: 'a@x.test',
      recipients: [{ address: 'b@y.test', kind: 'to', notify: null, orcpt: null }],
      ret: null,
      envid: null,
    },
    content: {
      sizeBytes: (TRACE + text).length,
      flags: { eightBit: false, utf8: false, dotStuffing: false },
    },
    header: { from: 'Jane <a@x.test>', subject: 'ä', messageId: '<1@x.test>' },
    tags: [],
    metadata: {},
    sendAt: null,
    priority: 'normal',
    source: 'smtp',
    sourceAddress: '192.0.2.7',
    requestId: 'request-1',
    keyId: null,
    test: false,
    idempotency: null,
  });
});

test('a missing Date and Message-ID are added; the date is that of the sending', () => {
  const added = (at: string) =>
    `Date: Fri, 20 Nov 2026 ${at} +0000\r\nMessage-ID: <msg_01@mail.example.com>\r\n`;
  const submission = submit('Subject: x\r\n\r\n');
  expect(sent(submission)).toBe(`${TRACE}${added('11:15:00')}Subject: x\r\n\r\n`);
  expect(submission.header).toEqual({
    from: 'a@x.test',
    subject: 'x',
    messageId: '<msg_01@mail.example.com>',
  });
  const later = submit('X-Waybill-Send-At: 2026-11-20T13:00:00Z\r\n\r\n', KEYED);
  expect(sent(later)).toBe(`${TRACE}${added('13:00:00')}\r\n`);
  expect(later.sendAt).toBe(Date.UTC(2026, 10, 20, 13));
});

test('a message without a header gets one, and an empty line behind it', () => {
  const text = sent(submit('disk is full\r\nhelp: me\r\n'));
  expect(text.startsWith(TRACE)).toBe(true);
  expect(text.endsWith('@mail.example.com>\r\n\r\ndisk is full\r\nhelp: me\r\n')).toBe(true);
});

test('Bcc and everything that is ours are removed, whoever sends', () => {
  const ours = 'Bcc: c@z.test\r\nResent-Bcc : d@z.test\r\nX-Waybill-Tag: a\r\nIdempotency-Key: k\r\n';
  for (const origin of [STRANGER, KEYED, NAMED])
    expect(sent(submit(`${ours}${WHOLE}\r\n`, origin))).toBe(`${TRACE}${WHOLE}\r\n`);
  expect(sent(submit(`X-Waybill-Foo: a\r\n${WHOLE}\r\n`))).toBe(`${TRACE}${WHOLE}\r\n`);
});

describe('instructions act', () => {
  const text =
    'X-Waybill-Tag: a\r\nX-Waybill-Priority: high\r\nIdempotency-Key: k\r\nX-Waybill-Metadata-n: v\r\n\r\n';

  test('for a key, whose messages these are', () =>
    expect(submit(text, { ...KEYED, source: SOURCE })).toMatchObject({
      keyId: 'key_1',
      tags: ['a'],
      metadata: { n: 'v' },
      priority: 'high',
      idempotency: { key: 'k', hash: submit(`${text}other\r\n`, KEYED).idempotency?.hash },
    }));

  test('for a named source, whose tags are added', () =>
    expect(submit(text, NAMED)).toMatchObject({
      keyId: 'source:printers',
      tags: ['a', 'paper'],
      metadata: { n: 'v' },
      priority: 'high',
      idempotency: { key: 'k' },
    }));

  test('for nobody else', () =>
    expect(submit(text)).toMatchObject({
      keyId: null,
      tags: [],
      metadata: {},
      priority: 'normal',
      idempotency: null,
    }));

  test('and a faulty one refuses the message of those alone', () => {
    expect(refused('X-Waybill-Foo: a\r\n\r\n', KEYED)).toMatch(/^null 550 5.6.0 X-Waybill-Foo: /);
    expect(refused('X-Waybill-Priority: x\r\n\r\n', NAMED)).toMatch(/^null 550 5.6.0 X-Waybill-Priority: /);
    expect(refused('X-Waybill-Priority: x\r\n\r\n')).toBe('not refused');
  });
});

test("a test key's mail is marked", () =>
  expect(submit('\r\n', { ...STRANGER, key: { ...KEY, mode: 'test' } }).test).toBe(true));

describe('the envelope', () => {
  test('has each recipient once, the first with its parameters, and the postmaster under his address', () => {
    const paths = [
      to('b@y.test', { notify: 'NEVER', orcpt: 'rfc822;b@y.test' }),
      to(null),
      to('b@Y.test', { notify: 'DELAY' }),
      to('B@y.test'),
      to('chief@example.com'),
    ];
    const taken = envelope(null, paths, { ret: 'HDRS', envid: 'E1' });
    const submission = submit('To: b@y.test\r\nCc: <chief@example.com>\r\n\r\n', STRANGER, taken);
    expect(submission.envelope).toEqual({
      reversePath: '',
      recipients: [
        { address: 'b@y.test', kind: 'to', notify: 'NEVER', orcpt: 'rfc822;b@y.test' },
        { address: 'chief@example.com', kind: 'cc', notify: null, orcpt: null },
        { address: 'B@y.test', kind: 'to', notify: null, orcpt: null },
      ],
      ret: 'HDRS',
      envid: 'E1',
    });
    expect(submission.header.from).toBe('');
  });

  test('with several recipients is not told in Received', () => {
    const both = envelope('a@x.test', [to('b@y.test'), to('secret@y.test')]);
    expect(sent(submit('\r\n', STRANGER, both))).not.toContain('y.test');
    const twice = envelope('a@x.test', [to('b@y.test'), to('b@y.test')]);
    expect(sent(submit(`${WHOLE}\r\n`, STRANGER, twice))).toBe(`${TRACE}${WHOLE}\r\n`);
  });
});

test('listener.received_client can hide the name and the address of the client', () => {
  const text = sent(submit('\r\n', STRANGER, USUAL, { receivedClient: false }));
  expect(text).toMatch(/^Received: by mail\.example\.com with ESMTPSA id msg_01 for <b@y\.test>;/);
  expect(text).not.toContain('client.test');
});

test('what a client calls itself cannot break the field', () =>
  expect(sent(submit('\r\n', STRANGER, USUAL, { hello: 'a b)\r\nX: y' }))).toMatch(
    /^Received: from \[192\.0\.2\.7\] \(\[192\.0\.2\.7\]\) by/,
  ));

test('more than 50 Received fields are a loop', () => {
  expect(refused(`${'Received: x\r\n'.repeat(50)}\r\n`)).toBe('not refused');
  expect(refused(`${'Received: x\r\n'.repeat(51)}\r\n`)).toMatch(/^null 554 5.4.6 .*loop/);
});

test('a header beyond the limit is refused', () => {
  const header = (bytes: number) => `A: ${'x'.repeat(bytes - 5)}\r\n\r\nbody\r\n`;
  expect(refused(header(MAX_HANDED_IN_HEADER))).toBe('not refused');
  expect(refused(header(MAX_HANDED_IN_HEADER + 1))).toMatch(/^null 552 5.3.4 .*shorten it/);
});

describe('bound to sender domains', () => {
  const CURE = 'sender_not_allowed 550 5.7.1 This key may not send as z.test, only as x.test; ';

  test.each([
    ['the envelope', envelope('a@z.test', [to('b@y.test')]), 'From: a@x.test\r\n\r\n', CURE],
    ['From', USUAL, 'From: a@z.test\r\n\r\n', CURE],
    ['every From', USUAL, 'From: a@x.test, b@z.test\r\nSender: a@x.test\r\n\r\n', CURE],
    ['a second From', USUAL, 'From: a@x.test\r\nFrom : a@z.test\r\n\r\n', CURE],
    ['Sender', USUAL, 'From: a@x.test\r\nSender: a@z.test\r\n\r\n', CURE],
    [
      'what can be read',
      USUAL,
      'From: root\r\n\r\n',
      'sender_not_allowed 550 5.7.1 From or Sender is ambiguous',
    ],
  ])('%s is held to them', (_, taken, text, told) => {
    expect(refused(text, BOUND, taken)).toContain(told);
    expect(refused(text, KEYED, taken)).toBe('not refused');
    expect(refused(text, { ...NAMED, source: { ...SOURCE, senderDomains: ['x.test'] } }, taken)).toMatch(
      /^sender_not_allowed 550 5.7.1 /,
    );
  });

  test('their own addresses pass, and a message that names no author', () => {
    for (const text of [
      'From: A <a@X.test>\r\nSender: b@x.test (B)\r\n\r\n',
      'Subject: x\r\n\r\n',
      'text\r\n',
    ])
      expect(refused(text, BOUND)).toBe('not refused');
    expect(refused('From: a@x.test\r\n\r\n', BOUND, envelope(null, [to('b@y.test')]))).toBe('not refused');
  });
});

describe('what a hop must be able to take', () => {
  const flags = (text: string, taken = USUAL) => submit(text, STRANGER, taken).content.flags;
  const plain = { eightBit: false, utf8: false, dotStuffing: false };
  const utf8 = envelope('a@x.test', [to('b@y.test')], { utf8: true });

  test('SMTPUTF8 only when the client said so and something needs it', () => {
    expect(flags('Subject: x\r\n\r\nx\r\n', utf8)).toEqual(plain);
    expect(flags('Subject: é\r\n\r\nx\r\n', utf8)).toEqual({ ...plain, eightBit: true, utf8: true });
    expect(flags('Subject: x\r\n\r\né\r\n', utf8)).toEqual({ ...plain, eightBit: true });
    expect(flags('\r\n', envelope('é@x.test', [to('b@y.test')], { utf8: true }))).toEqual({
      ...plain,
      utf8: true,
    });
    expect(flags('\r\n', envelope('a@x.test', [to('é@y.test')], { utf8: true }))).toEqual({
      ...plain,
      utf8: true,
    });
  });

  test('raw 8-bit text in a header without SMTPUTF8 is 8-bit text and no more', () =>
    expect(flags('Subject: é\r\n\r\nx\r\n')).toEqual({ ...plain, eightBit: true }));
});

const line = fc.constantFrom(
  ...[
    'A: kept',
    ' folded kept',
    'Bcc: gone@x.test',
    ' gone-folded',
    'X-Waybill-Tag: gone',
    'x-waybill-x: gone',
  ],
  ...[
    'Idempotency-Key : gone',
    'Resent-Bcc: gone',
    'no field gone',
    '',
    'Date: kept',
    'Message-ID: <kept@x>',
    '.',
  ],
);

test('what is sent is Received, the header that is kept and the same body, however it was cut', () => {
  const lines = fc.array(line, { maxLength: 12 });
  const property = fc.property(lines, fc.array(fc.nat(200), { maxLength: 5 }), (given, places) => {
    const bytes = Buffer.from(`${WHOLE}${given.map((text) => `${text}\r\n`).join('')}`);
    const ends = [...places.map((at) => Math.min(at, bytes.length)), bytes.length].sort((a, b) => a - b);
    const chunks = ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
    const content = { chunks, sizeBytes: bytes.length, dotStuffing: true };
    const built = buildSubmission(USUAL, content, STRANGER, CONTEXT);
    if (!built.ok) throw new Error(built.refusal.reply.text);
    const end = given.findIndex((text) => text === '' || /^(?:no|\.)/.test(text));
    const headerLines = end < 0 ? given : given.slice(0, end);
    const body = given.slice(headerLines.length);
    let gone = false;
    const kept = headerLines.filter((text) => {
      if (!text.startsWith(' ')) gone = /gone/.test(text);
      return !gone;
    });
    const between = body.length > 0 && body[0] !== '' ? [''] : [];
    const expected = [...kept, ...between, ...body].map((text) => `${text}\r\n`).join('');
    expect(sent(built.submission)).toBe(`${TRACE}${WHOLE}${expected}`);
    expect(built.submission.content.sizeBytes).toBe(Buffer.byteLength(sent(built.submission)));
  });
  fc.assert(property, { numRuns: 5000 });
});

describe('reports may go to', () => {
  const reportable = (origin: Origin, from: string | null = 'a@x.test') =>
    submit('Subject: x\r\nFrom: a@x.test\r\n\r\n', origin, envelope(from, [to('b@y.test')])).reportable;

  test.each<[string, Origin, boolean]>([
    ['a key that is bound to the domain', BOUND, true],
    ['a named source that is', { ...NAMED, source: { ...SOURCE, senderDomains: ['x.test'] } }, true],
    ['not a key that may send from any domain', KEYED, false],
    ['nor a named source that may', NAMED, false],
    ['nor a source without a name', STRANGER, false],
    ['nor a test key', { ...BOUND, key: { ...KEY, mode: 'test', senderDomains: ['x.test'] } }, false],
    [
      'nor a key that may send from any domain, from a source that is bound',
      { ...KEYED, source: { ...SOURCE, senderDomains: ['x.test'] } },
      false,
    ],
  ])('%s', (_, origin, expected) => {
    expect(reportable(origin)).toBe(expected);
  });

  test.each<[string, Origin, string, boolean]>([
    ['a key that may send from any domain', KEYED, 'a@registered.test', true],
    ['a named source', NAMED, 'a@registered.test', true],
    ['a source without a name that may relay', STRANGER, 'a@registered.test', true],
    ['not a stranger', { ...STRANGER, allowed: false }, 'a@registered.test', false],
    [
      'nor the stranger behind a proxy',
      { ...STRANGER, allowed: false, isHidden: true },
      'a@registered.test',
      false,
    ],
    ['nor a test key', { ...KEYED, key: { ...KEY, mode: 'test' } }, 'a@registered.test', false],
    ['nor at a name below it', KEYED, 'a@sub.registered.test', false],
  ])('a registered domain, for %s', (_, origin, from, expected) => {
    expect(reportable(origin, from)).toBe(expected);
  });

  test('nobody at the null reverse-path', () => {
    expect(reportable(BOUND, null)).toBe(false);
  });
});

test('what is demanded of TLS is what MAIL says, else what the header says', () => {
  const demandOf = (header: string, requireTls = false) =>
    submit(`${header}\r\n\r\nx\r\n`, STRANGER, envelope('a@x.test', [to('b@y.test')], { requireTls })).tls;
  expect(demandOf('TLS-Required: No', true)).toBe('required');
  expect(demandOf('TLS-Required: No')).toBe('optional');
  expect(demandOf('Subject: x')).toBeUndefined();
});
