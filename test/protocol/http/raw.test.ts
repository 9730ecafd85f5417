import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { faultsOf, World } from './world.ts';

/** `POST /api/v1/messages/raw` (contract §2): finished messages. */

let world: World;
let key: string;

beforeAll(async () => {
  world = await World.start();
  key = await world.key();
});
afterAll(() => world.close());

const HEADER = [
  'Date: Fri, 20 Nov 2026 10:00:00 +0100',
  'From: Jane <jane@example.com>',
  'To: Bob <bob@example.org>',
  'Subject: Hello',
  'Message-ID: <1@example.com>',
];

/** A message of these header lines, or of the usual ones. */
const messageOf = (lines: readonly string[] = HEADER, body = 'Hi.\r\n') =>
  `${lines.join('\r\n')}\r\n\r\n${body}`;

/** The usual header lines, one of them replaced or left out. */
const headerWith = (name: string, ...lines: readonly string[]) => [
  ...HEADER.filter((line) => !line.startsWith(`${name}:`)),
  ...lines,
];

const ENVELOPE = 'from=jane%40example.com&to=bob%40example.org';

interface RawAsk {
  readonly query?: string;
  readonly headers?: Record<string, string>;
  readonly as?: string;
}

function send(body: string | Buffer, { query = ENVELOPE, headers = {}, as = key }: RawAsk = {}) {
  const type = { 'Content-Type': 'message/rfc822', ...headers };
  return world.ask({ method: 'POST', path: `/api/v1/messages/raw?${query}`, key: as, headers: type, body });
}

/** Sends what must be taken, and gives it as it will be sent without the Received field on top. */
async function take(body: string | Buffer, ask: RawAsk = {}): Promise<string> {
  const answer = await send(body, ask);
  expect([answer.status, answer.json['detail']]).toEqual([202, undefined]);
  const [received = ''] = /^Received: .*\r\n(?:[ \t].*\r\n)*/.exec(world.lastText) ?? [];
  return world.lastText.slice(received.length);
}

/** Sends what must be refused; `pointer code` of each fault. */
async function refuse(body: string | Buffer, ask: RawAsk = {}): Promise<string[]> {
  const answer = await send(body, ask);
  expect([answer.status, answer.json['code']]).toEqual([400, 'invalid_submission']);
  return faultsOf(answer);
}

describe('delivered as it is', () => {
  test('every byte but our Received on top', async () => {
    const message = messageOf(HEADER, '.dot\r\n..\r\nGr\u00fc\u00dfe \r\n\r\n--x\r\n\r\n');
    expect(await take(message)).toBe(Buffer.from(message).toString('latin1'));
    expect(world.lastText).toMatch(
      /^Received: from \[127\.0\.0\.1\] by mx\.waybill\.test\r\n with HTTP id \S+/,
    );
    expect(world.last.content.flags).toEqual({ eightBit: true, utf8: false, dotStuffing: true });
    expect(world.last.content.sizeBytes).toBe(Buffer.byteLength(world.lastText, 'latin1'));
  });

  test('the answer, the record and the envelope', async () => {
    const answer = await send(messageOf(), {
      query: `${ENVELOPE}&to=Eve+%3Ceve%40example.net%3E,x%40y.test&to=bob%40example.org`,
    });
    expect([answer.status, answer.json['message'], answer.headers.location]).toEqual([
      202,
      'Queued for delivery.',
      `/api/v1/messages/${answer.json['id']}`,
    ]);
    expect(world.last.envelope.reversePath).toBe('jane@example.com');
    expect(world.last.envelope.recipients.map(({ address }) => address)).toEqual([
      'bob@example.org',
      'eve@example.net',
      'x@y.test',
    ]);
    const record = await world.ask({ path: `/api/v1/messages/${answer.json['id']}`, key });
    expect(record.json).toMatchObject({
      from: 'Jane <jane@example.com>',
      subject: 'Hello',
      messageId: '<1@example.com>',
      source: 'api',
    });
  });

  test.each([
    ['lines that end in LF become CRLF', messageOf().replaceAll('\r\n', '\n'), messageOf()],
    ['the last line is ended', messageOf(HEADER, 'Hi.'), messageOf()],
    ['Bcc goes', messageOf([...HEADER, 'Bcc: a@x.test,\r\n b@x.test']), messageOf()],
    ['Resent-Bcc goes', messageOf(['Resent-Bcc: a@x.test', ...HEADER]), messageOf()],
    [
      'Received of others stay',
      messageOf(['Received: by x; Fri, 20 Nov 2026 10:00:00 +0100', ...HEADER]),
      null,
    ],
    ['a signature stays', messageOf(['DKIM-Signature: v=1; a=rsa-sha256;\r\n\tb=abc=', ...HEADER]), null],
    ['no body', `${HEADER.join('\r\n')}\r\n`, null],
    ['an empty body', messageOf(HEADER, ''), null],
  ])('%s', async (_, given, expected) => expect(await take(given)).toBe(expected ?? given));

  test('a missing Date and Message-ID are added', async () => {
    const sent = await take(messageOf(['From: jane@example.com']));
    const { messageId } = world.last.header;
    expect(messageId).toMatch(/^<[0-9a-z]{26}@mx\.waybill\.test>$/);
    expect(sent).toBe(
      messageOf([
        'Date: Fri, 20 Nov 2026 00:00:00 +0000',
        `Message-ID: ${messageId}`,
        'From: jane@example.com',
      ]),
    );
  });

  test.each([
    ['ASCII', messageOf(), ENVELOPE, { eightBit: false, utf8: false, dotStuffing: false }],
    [
      'a subject in UTF-8',
      messageOf(headerWith('Subject', 'Subject: Gr\u00fc\u00dfe')),
      ENVELOPE,
      { eightBit: true, utf8: true, dotStuffing: false },
    ],
    [
      'a body in UTF-8',
      messageOf(HEADER, 'Gr\u00fc\u00dfe\r\n'),
      ENVELOPE,
      { eightBit: true, utf8: false, dotStuffing: false },
    ],
    [
      'a recipient in UTF-8',
      messageOf(),
      'from=a%40example.com&to=j%C3%BCrgen%40example.org',
      { eightBit: false, utf8: true, dotStuffing: false },
    ],
  ])('flags of %s', async (_, message, query, flags) => {
    await take(message, { query });
    expect(world.last.content.flags).toEqual(flags);
  });

  test.each([
    [
      'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=\r\n =?utf-8?B?IGF1cyBLw7Zsbg==?=',
      'Gr\u00fc\u00dfe aus K\u00f6ln',
    ],
    ['Subject: Gr\u00fc\u00dfe', 'Gr\u00fc\u00dfe'],
    ['Subject: a\r\n b', 'a b'],
    [`Subject:${' word'.repeat(180)}`, `word${' word'.repeat(179)}`],
    ['X-No-Subject: 1', ''],
  ])('%# the subject is shown decoded', async (line, subject) => {
    await take(messageOf(headerWith('Subject', line)));
    expect(world.last.header.subject).toBe(subject);
  });

  test('the author is shown decoded, the first of several', async () => {
    const lines = headerWith(
      'From',
      'From: =?utf-8?Q?J=C3=B6rg?= <j@example.com>, k@example.com',
      'Sender: s@example.com',
    );
    await take(messageOf(lines));
    expect(world.last.header.from).toBe('"J\u00f6rg" <j@example.com>'.replaceAll('"', ''));
  });
});

describe('what goes with it', () => {
  test('tags, priority, sendAt', async () => {
    await take(messageOf(headerWith('Date')), {
      query: `${ENVELOPE}&tag=a&tag=b&tag=a&priority=bulk&sendAt=2026-11-21T00:00:00Z`,
    });
    expect(world.last).toMatchObject({ tags: ['a', 'b'], priority: 'bulk', sendAt: Date.UTC(2026, 10, 21) });
    expect(world.lastText).toContain('Date: Sat, 21 Nov 2026 00:00:00 +0000');
  });

  test('the envelope in the header of the request', async () => {
    const headers = { From: 'jane@example.com', To: 'a@x.test, "B, C" <b@x.test>' };
    await take(messageOf(), { query: 'to=c@x.test', headers });
    expect(world.last.envelope).toMatchObject({ reversePath: 'jane@example.com' });
    expect(world.last.envelope.recipients.map(({ address }) => address)).toEqual([
      'c@x.test',
      'a@x.test',
      'b@x.test',
    ]);
  });

  test('an address in UTF-8 in the header of the request', async () => {
    const To = Buffer.from('j\u00fcrgen@x.test').toString('latin1');
    // As bytes: Node would write the header in the encoding of a body that is text.
    await take(Buffer.from(messageOf()), { query: 'from=jane@example.com', headers: { To } });
    expect(world.last.envelope.recipients[0]?.address).toBe('j\u00fcrgen@x.test');
  });

  test('a dry run', async () => {
    const before = world.intake.submissions.length;
    const answer = await send(messageOf(), { query: `${ENVELOPE}&dryRun=true` });
    expect([answer.status, answer.json['dryRun'], answer.json['from']]).toEqual([
      200,
      true,
      'jane@example.com',
    ]);
    expect(world.intake.submissions).toHaveLength(before);
  });

  test('a test key', async () => {
    await take(messageOf(), { as: await world.key({ mode: 'test' }) });
    expect(world.last.test).toBe(true);
  });

  test('Idempotency-Key: a repeat, and another message or envelope', async () => {
    const headers = { 'Idempotency-Key': 'raw' };
    const first = await send(messageOf(headerWith('Message-ID')), { headers });
    const second = await send(messageOf(headerWith('Message-ID')), { headers });
    expect([second.json, second.headers['idempotency-replayed']]).toEqual([first.json, 'true']);
    const other = [
      await send(messageOf(), { headers }),
      await send(messageOf(headerWith('Message-ID')), { headers, query: `${ENVELOPE}&to=x%40y.test` }),
      await send(messageOf(headerWith('Message-ID')), { headers, query: `${ENVELOPE}&tag=x` }),
    ];
    expect(other.map(({ json }) => json['code'])).toEqual(Array(3).fill('idempotency_mismatch'));
  });
});

describe('refused', () => {
  test.each([
    ['nothing', '', ['/message/From required']],
    ['mixed line ends', messageOf(HEADER, 'a\r\nb\n'), ['/message mixed_line_endings']],
    ['a bare CR', messageOf(HEADER, 'a\rb\r\n'), ['/message bare_cr']],
    ['a line end smuggled in', messageOf(HEADER, 'a\r\n.\rMAIL FROM:<x@y.test>\r\n'), ['/message bare_cr']],
    ['NUL', messageOf(HEADER, 'a\0b\r\n'), ['/message nul']],
    ['a long line', messageOf(HEADER, `${'x'.repeat(999)}\r\n`), ['/message line_too_long']],
    ['no header field', 'Hi.\r\n', ['/message header_syntax']],
    ['a body without a blank line', `${HEADER.join('\r\n')}\r\nHi there\r\n`, ['/message header_syntax']],
    ['mbox', `From jane Fri Nov 20\r\n${messageOf()}`, ['/message header_syntax']],
    ['no From', messageOf(headerWith('From')), ['/message/From required']],
    ['an empty From', messageOf(headerWith('From', 'From:')), ['/message/From required']],
    ['two From', messageOf([...HEADER, 'From: jane@example.com']), ['/message/From header_repeated']],
    ['a From without address', messageOf(headerWith('From', 'From: Jane')), ['/message/From header_address']],
    [
      'a group in From',
      messageOf(headerWith('From', 'From: us: jane@example.com;')),
      ['/message/From header_address'],
    ],
    [
      'a faulty Sender',
      messageOf([...HEADER, 'Sender: a@x.test, b@x.test']),
      ['/message/Sender header_address'],
    ],
    [
      'several authors and no Sender',
      messageOf(headerWith('From', 'From: a@example.com, b@example.com')),
      ['/message/Sender required'],
    ],
    [
      'a faulty Message-ID',
      messageOf(headerWith('Message-ID', 'Message-ID: 1@example.com')),
      ['/message/Message-ID header_message_id'],
    ],
    [
      'names of ours',
      messageOf([...HEADER, 'x-waybill-tag: a']),
      ['/message/x-waybill-tag header_forbidden'],
    ],
    ['51 hops', messageOf([...Array(51).fill('Received: by x'), ...HEADER]), ['/message/Received mail_loop']],
    [
      'several things',
      messageOf(['Subject: a', 'subject: b', 'To: a@x.test', 'TO: b@x.test']),
      ['/message/subject header_repeated', '/message/TO header_repeated', '/message/From required'],
    ],
  ])('%s', async (_, message, faults) => {
    const before = world.intake.submissions.length;
    expect(await refuse(message)).toEqual(faults);
    expect(world.intake.submissions).toHaveLength(before);
  });

  test('the line is named', async () =>
    expect((await send(messageOf(HEADER, 'a\r\nb\n'))).json['detail']).toContain('Line 8 ends otherwise'));

  test('a header that is neither ASCII nor UTF-8', async () =>
    expect(
      await refuse(Buffer.from(messageOf(headerWith('Subject', 'Subject: Gr\xfc\xdfe')), 'latin1')),
    ).toEqual(['/message header_encoding']));

  test('50 hops are taken', async () =>
    void (await take(messageOf([...Array(50).fill('Received: by x'), ...HEADER]))));

  test('as many fields as configured besides the usual ones, and not one more; as many bytes', async () => {
    const many = (count: number) => messageOf([...HEADER, ...Array(count).fill('X-A: b')]);
    await take(many(50));
    expect(await refuse(many(51))).toEqual(['/message header_count']);
    const long = (bytes: number) => messageOf([...HEADER, `X-A: b${'\r\n xxxxxxx'.repeat(bytes / 10)}`]);
    await take(long(65_000));
    expect(await refuse(long(66_000))).toEqual(['/message header_size']);
  });

  test.each([
    ['no from', 'to=a%40x.test', ['/from required']],
    ['no to', 'from=a%40x.test', ['/to required']],
    ['an empty to', 'from=a%40x.test&to=', ['/to required']],
    ['a faulty from', 'from=jane&to=a%40x.test', ['/from address_syntax']],
    ['a faulty to', `${ENVELOPE}&to=oops`, ['/to/1 address_syntax']],
    ['a faulty tag', `${ENVELOPE}&tag=a%00`, ['/tag/0 tag']],
    ['a faulty time', `${ENVELOPE}&sendAt=soon`, ['/sendAt timestamp']],
    [
      'too many recipients',
      `from=a%40x.test&to=${Array.from({ length: 11 }, (_, n) => `r${n}%40x.test`).join(',')}`,
      ['/to too_many_recipients'],
    ],
  ])('%s', async (_, query, faults) => expect(await refuse(messageOf(), { query })).toEqual(faults));

  test('from twice', async () =>
    expect(await refuse(messageOf(), { headers: { From: 'a@x.test' } })).toEqual(['/from repeated']));

  test('an address in another charset in the header of the request', async () => {
    const ask = { query: 'from=a@x.test', headers: { To: 'j\xfcrgen@x.test' } };
    expect(await refuse(Buffer.from(messageOf()), ask)).toEqual(['/to header_encoding']);
  });

  test('faults of the envelope, the key and the message at once', async () =>
    expect(await refuse('Hi.\r\n', { query: 'to=a%40x.test', headers: { 'Idempotency-Key': '' } })).toEqual([
      '/Idempotency-Key idempotency_key',
      '/from required',
      '/message header_syntax',
    ]));

  test.each([
    ['an unknown parameter', `${ENVELOPE}&subject=x`, '/subject unknown_parameter'],
    ['priority', `${ENVELOPE}&priority=urgent`, '/priority priority'],
    ['dryRun', `${ENVELOPE}&dryRun=1`, '/dryRun type'],
  ])('%s', async (_, query, fault) => {
    const answer = await send(messageOf(), { query });
    expect([answer.status, answer.json['code'], faultsOf(answer)]).toEqual([400, 'invalid_query', [fault]]);
  });

  test.each(['application/json', 'text/plain', 'multipart/form-data; boundary=x'])(
    '%s: 415',
    async (type) => {
      const answer = await send(messageOf(), { headers: { 'Content-Type': type } });
      expect([answer.status, answer.headers.accept]).toEqual([415, 'message/rfc822']);
    },
  );

  test('too large a body, and a message too large as it would be sent', async () => {
    const lines = (bytes: number) => messageOf(HEADER, `${'x'.repeat(98)}\r\n`.repeat(bytes / 100));
    for (const [bytes, code] of [
      [150_100, 'content_too_large'],
      [149_800, 'message_too_large'],
    ] as const) {
      const answer = await send(lines(bytes));
      expect([answer.status, answer.json['code']]).toEqual([413, code]);
      expect(answer.json['detail']).toMatch(/at most 150000 bytes.*37 %.*api\.max_message_bytes/);
    }
    await take(lines(149_000));
  });
});

describe('sender domains bind', () => {
  test.each([
    ['all of them', 'from=a%40example.com', HEADER, 202],
    ['not the envelope', 'from=a%40example.net', HEADER, 403],
    ['not From', 'from=a%40example.com', headerWith('From', 'From: a@example.net'), 403],
    [
      'not a second author',
      'from=a%40example.com',
      headerWith('From', 'From: a@example.com, b@example.net', 'Sender: a@example.com'),
      403,
    ],
    ['not Sender', 'from=a%40example.com', [...HEADER, 'Sender: a@example.net'], 403],
  ])('%s', async (_, from, lines, status) => {
    const as = await world.key({ senderDomains: ['example.com'] });
    const answer = await send(messageOf(lines), { query: `${from}&to=a%40x.test`, as });
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.json['code']).toBe('sender_not_allowed');
  });
});
