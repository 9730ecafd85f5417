import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENVELOPE, HEADER, headerWith, messageOf, RawClient } from './raw-client.ts';
import { faultsOf } from './world.ts';

/** `POST /api/v1/messages/raw` (contract §2): what is refused of finished messages, and why. */

let client: RawClient;

beforeAll(async () => {
  client = await RawClient.start();
});
afterAll(() => client.world.close());

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
    [
      'several things',
      messageOf(['Subject: a', 'subject: b', 'To: a@x.test', 'TO: b@x.test']),
      ['/message/subject header_repeated', '/message/TO header_repeated', '/message/From required'],
    ],
  ])('%s', async (_, message, faults) => {
    const before = client.world.intake.submissions.length;
    expect(await client.refuse(message)).toEqual(faults);
    expect(client.world.intake.submissions).toHaveLength(before);
  });

  test('the line is named', async () =>
    expect((await client.send(messageOf(HEADER, 'a\r\nb\n'))).json['detail']).toContain(
      'Line 8 ends differently',
    ));

  test('a header that is neither ASCII nor UTF-8', async () =>
    expect(
      await client.refuse(Buffer.from(messageOf(headerWith('Subject', 'Subject: Gr\xfc\xdfe')), 'latin1')),
    ).toEqual(['/message header_encoding']));

  test('50 hops are taken, and 51 are a loop', async () => {
    const withHops = (hops: number) => messageOf([...Array(hops).fill('Received: by x'), ...HEADER]);
    await client.take(withHops(50));
    expect(await client.refuse(withHops(51))).toEqual(['/message/Received mail_loop']);
  });

  test('as many fields as configured besides the usual ones, and not one more; as many bytes', async () => {
    const many = (count: number) => messageOf([...HEADER, ...Array(count).fill('X-A: b')]);
    await client.take(many(50));
    expect(await client.refuse(many(51))).toEqual(['/message header_count']);
    const long = (bytes: number) => messageOf([...HEADER, `X-A: b${'\r\n xxxxxxx'.repeat(bytes / 10)}`]);
    await client.take(long(65_000));
    expect(await client.refuse(long(66_000))).toEqual(['/message header_size']);
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
  ])('%s', async (_, query, faults) => expect(await client.refuse(messageOf(), { query })).toEqual(faults));

  test('from twice', async () =>
    expect(await client.refuse(messageOf(), { headers: { From: 'a@x.test' } })).toEqual(['/from repeated']));

  test('an address in another charset in the header of the request', async () => {
    const ask = { query: 'from=a@x.test', headers: { To: 'j\xfcrgen@x.test' } };
    expect(await client.refuse(Buffer.from(messageOf()), ask)).toEqual(['/to header_encoding']);
  });

  test('faults of the envelope, the key and the message at once', async () =>
    expect(
      await client.refuse('Hi.\r\n', { query: 'to=a%40x.test', headers: { 'Idempotency-Key': '' } }),
    ).toEqual(['/Idempotency-Key idempotency_key', '/from required', '/message header_syntax']));

  test('faults of the query, of the header and of the message at once', async () => {
    const query = 'subject=x&priority=urgent';
    expect(await client.refuse('Hi.\r\n', { query, headers: { 'Idempotency-Key': '' } })).toEqual([
      '/Idempotency-Key idempotency_key',
      '/subject unknown_parameter',
      '/priority priority',
      '/message header_syntax',
    ]);
  });

  test.each([
    ['from=jane+x@example.com&to=a@x.test', '/from address_local_part', '%2B'],
    ['from=jane@example.com&to=a+b@x.test', '/to address_local_part', '%2B'],
    ['from=%3C%3E&to=a@x.test', '/from address_missing', 'failure reports'],
  ])('%s is told with its cure', async (query, fault, cure) => {
    const answer = await client.send(messageOf(), { query });
    expect(faultsOf(answer)).toEqual([fault]);
    expect(answer.json['detail']).toContain(cure);
  });

  test('a blank before the colon is told', async () =>
    expect((await client.send(messageOf([...HEADER, 'Bcc : x@y.test']))).json['detail']).toContain(
      'write "Bcc:"',
    ));

  test('an invalid Date', async () =>
    expect(await client.refuse(messageOf(headerWith('Date', 'Date: tomorrow')))).toEqual([
      '/message/Date header_date',
    ]));

  test('a message whose line ends make it too large: 413, whatever else is wrong', async () => {
    const answer = await client.send('\n'.repeat(80_000), { query: 'to=oops' });
    expect([answer.status, answer.json['code']]).toEqual([413, 'message_too_large']);
  });

  test.each([
    ['an unknown parameter', `${ENVELOPE}&subject=x`, '/subject unknown_parameter'],
    ['priority', `${ENVELOPE}&priority=urgent`, '/priority priority'],
    ['dryRun', `${ENVELOPE}&dryRun=1`, '/dryRun type'],
  ])('%s', async (_, query, fault) => {
    const answer = await client.send(messageOf(), { query });
    expect([answer.status, answer.json['code'], faultsOf(answer)]).toEqual([400, 'invalid_query', [fault]]);
  });

  test.each(['application/json', 'text/plain', 'multipart/form-data; boundary=x'])(
    '%s: 415',
    async (type) => {
      const answer = await client.send(messageOf(), { headers: { 'Content-Type': type } });
      expect([answer.status, answer.headers.accept]).toEqual([415, 'message/rfc822']);
    },
  );

  test('too large a body, and a message too large as it would be sent', async () => {
    const lines = (bytes: number) => messageOf(HEADER, `${'x'.repeat(98)}\r\n`.repeat(bytes / 100));
    for (const [bytes, code] of [
      [150_100, 'content_too_large'],
      [149_800, 'message_too_large'],
    ] as const) {
      const answer = await client.send(lines(bytes));
      expect([answer.status, answer.json['code']]).toEqual([413, code]);
      expect(answer.json['detail']).toMatch(/at most 150000 bytes.*37 %.*api\.max_message_bytes/);
    }
    await client.take(lines(149_000));
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
    const as = await client.world.key({ senderDomains: ['example.com'] });
    const answer = await client.send(messageOf(lines), { query: `${from}&to=a%40x.test`, as });
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.json['code']).toBe('sender_not_allowed');
  });
});

test.each([
  ['an escape that is no UTF-8', 'b%ff@example.org'],
  ['an escape without its digits', 'b%zz@example.org'],
])('%s in an address is refused, not patched into another address', async (_, to) => {
  const before = client.world.intake.submissions.length;
  const answer = await client.send(messageOf(), { query: `from=jane%40example.com&to=${to}` });
  expect([answer.status, answer.json['code'], faultsOf(answer)]).toEqual([
    400,
    'invalid_query',
    ['/to malformed_escape'],
  ]);
  expect(client.world.intake.submissions).toHaveLength(before);
});
