import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENVELOPE, HEADER, headerWith, messageOf, RawClient } from './raw-client.ts';

/** `POST /api/v1/messages/raw` (contract §2): finished messages that are taken. */

let client: RawClient;

beforeAll(async () => {
  client = await RawClient.start();
});
afterAll(() => client.world.close());

describe('delivered as it is', () => {
  test('every byte but our Received on top', async () => {
    const message = messageOf(HEADER, '.dot\r\n..\r\nGr\u00fc\u00dfe \r\n\r\n--x\r\n\r\n');
    expect(await client.take(message)).toBe(Buffer.from(message).toString('latin1'));
    expect(client.world.lastText).toMatch(
      /^Received: from \[127\.0\.0\.1\] by mx\.waybill\.test\r\n with HTTP id \S+/,
    );
    expect(client.world.last.content.flags).toEqual({ eightBit: true, utf8: false, dotStuffing: true });
    expect(client.world.last.content.sizeBytes).toBe(Buffer.byteLength(client.world.lastText, 'latin1'));
  });

  test('comments of RFC 5322 in From, Date and Message-ID are no part of what they say', async () => {
    const message = [
      'From: jane@example.com (Jane Doe)',
      'Date: Fri,20 Nov 2026 11:15:00 -0300 (GMT-03:00, day saving)',
      'Message-ID: <a@example.com> (added by x)',
      '',
      'Hi.',
      '',
    ].join('\r\n');
    expect(await client.take(message)).toBe(message);
    expect(client.world.last.header).toMatchObject({
      from: 'jane@example.com',
      messageId: '<a@example.com>',
    });
  });

  test('the answer, the record and the envelope', async () => {
    const answer = await client.send(messageOf(), {
      query: `${ENVELOPE}&to=Eve+%3Ceve%40example.net%3E,x%40y.test&to=bob%40example.org`,
    });
    expect([answer.status, answer.json['message'], answer.headers.location]).toEqual([
      202,
      'Queued for delivery.',
      `/api/v1/messages/${answer.json['id']}`,
    ]);
    expect(client.world.last.envelope.reversePath).toBe('jane@example.com');
    expect(client.world.last.envelope.recipients.map(({ address }) => address)).toEqual([
      'bob@example.org',
      'eve@example.net',
      'x@y.test',
    ]);
    const record = await client.world.ask({ path: `/api/v1/messages/${answer.json['id']}`, key: client.key });
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
  ])('%s', async (_, given, expected) => expect(await client.take(given)).toBe(expected ?? given));

  test('a missing Date and Message-ID are added', async () => {
    const sent = await client.take(messageOf(['From: jane@example.com']));
    const { messageId } = client.world.last.header;
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
    await client.take(message, { query });
    expect(client.world.last.content.flags).toEqual(flags);
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
    await client.take(messageOf(headerWith('Subject', line)));
    expect(client.world.last.header.subject).toBe(subject);
  });

  test('the author is shown decoded, the first of several', async () => {
    const lines = headerWith(
      'From',
      'From: =?utf-8?Q?J=C3=B6rg?= <j@example.com>, k@example.com',
      'Sender: s@example.com',
    );
    await client.take(messageOf(lines));
    expect(client.world.last.header.from).toBe('"J\u00f6rg" <j@example.com>'.replaceAll('"', ''));
  });
});

describe('what goes with it', () => {
  test('tags, priority, sendAt', async () => {
    await client.take(messageOf(headerWith('Date')), {
      query: `${ENVELOPE}&tag=a&tag=b&tag=a&priority=bulk&sendAt=2026-11-21T00:00:00Z`,
    });
    expect(client.world.last).toMatchObject({
      tags: ['a', 'b'],
      priority: 'bulk',
      sendAt: Date.UTC(2026, 10, 21),
    });
    expect(client.world.lastText).toContain('Date: Sat, 21 Nov 2026 00:00:00 +0000');
  });

  test('the envelope in the header of the request', async () => {
    const headers = { From: 'jane@example.com', To: 'a@x.test, "B, C" <b@x.test>' };
    await client.take(messageOf(), { query: 'to=c@x.test', headers });
    expect(client.world.last.envelope).toMatchObject({ reversePath: 'jane@example.com' });
    expect(client.world.last.envelope.recipients.map(({ address }) => address)).toEqual([
      'c@x.test',
      'a@x.test',
      'b@x.test',
    ]);
  });

  test('an address in UTF-8 in the header of the request', async () => {
    const To = Buffer.from('j\u00fcrgen@x.test').toString('latin1');
    // As bytes: Node would write the header in the encoding of a body that is text.
    await client.take(Buffer.from(messageOf()), { query: 'from=jane@example.com', headers: { To } });
    expect(client.world.last.envelope.recipients[0]?.address).toBe('j\u00fcrgen@x.test');
  });

  test('a dry run', async () => {
    const before = client.world.intake.submissions.length;
    const answer = await client.send(messageOf(), { query: `${ENVELOPE}&dryRun=true` });
    expect([answer.status, answer.json['dryRun'], answer.json['from']]).toEqual([
      200,
      true,
      'jane@example.com',
    ]);
    expect(client.world.intake.submissions).toHaveLength(before);
  });

  test('a test key', async () => {
    await client.take(messageOf(), { as: await client.world.key({ mode: 'test' }) });
    expect(client.world.last.test).toBe(true);
  });

  test('an empty Date is replaced, a blind copy that is not ASCII needs nothing of a hop', async () => {
    const text = await client.take(messageOf(headerWith('Date', 'Date:', 'Bcc: J\u00f6rg <j@x.test>')));
    expect(text.match(/^Date:.*$/gm)).toEqual([expect.stringMatching(/^Date: \w{3}, /)]);
    expect(client.world.last.content.flags).toEqual({ eightBit: false, utf8: false, dotStuffing: false });
  });

  test('Idempotency-Key: the time that is meant counts', async () => {
    const headers = { 'Idempotency-Key': 'raw time' };
    const at = new Date(client.world.clock.wall() + 3_600_000).toISOString();
    const first = await client.send(messageOf(), { headers, query: `${ENVELOPE}&sendAt=${at}` });
    const again = encodeURIComponent(at.replace('Z', '+00:00'));
    const second = await client.send(messageOf(), { headers, query: `${ENVELOPE}&sendAt=${again}` });
    expect([second.json, second.headers['idempotency-replayed']]).toEqual([first.json, 'true']);
  });

  test('Idempotency-Key: a repeat, and another message or envelope', async () => {
    const headers = { 'Idempotency-Key': 'raw' };
    const first = await client.send(messageOf(headerWith('Message-ID')), { headers });
    const second = await client.send(messageOf(headerWith('Message-ID')), { headers });
    expect([second.json, second.headers['idempotency-replayed']]).toEqual([first.json, 'true']);
    const other = [
      await client.send(messageOf(), { headers }),
      await client.send(messageOf(headerWith('Message-ID')), { headers, query: `${ENVELOPE}&to=x%40y.test` }),
      await client.send(messageOf(headerWith('Message-ID')), { headers, query: `${ENVELOPE}&tag=x` }),
    ];
    expect(other.map(({ json }) => json['code'])).toEqual(Array(3).fill('idempotency_mismatch'));
  });
});
