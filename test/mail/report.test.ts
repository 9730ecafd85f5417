/** Reports are read back by two parsers that are not ours, whatever senders and peers wrote. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';
import type { Reply } from '../../src/domain/outcome.ts';
import { atOnce } from '../../src/lib/clock.ts';
import { seededRandom } from '../../src/lib/random.ts';
import { composeReport } from '../../src/mail/report.ts';
import type { Report, ReportedRecipient } from '../../src/mail/report-parts.ts';
import { NOTHING_RETURNED, returnedOf } from '../../src/mail/report-parts.ts';
import { describeWith } from '../peers/need.ts';

const READER = fileURLToPath(new URL('./read_reports.py', import.meta.url));
const DATE = Date.UTC(2026, 10, 20, 12);
const MESSAGE =
  'Received: by mail.example.com\r\nMessage-ID: <1@x.test>\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n\r\nHello.\r\n.dot\r\n';

/** What Python's package reads. */
interface Reading {
  readonly type: string;
  readonly reportType: string;
  readonly header: readonly (readonly [string, string])[];
  readonly parts: readonly string[];
  readonly text: string;
  readonly perMessage: readonly (readonly [string, string])[];
  readonly perRecipient: readonly (readonly (readonly [string, string])[])[];
  readonly original: string | null;
  readonly defects: readonly string[];
}

function recipient(more: Partial<ReportedRecipient> = {}): ReportedRecipient {
  return {
    recipient: { address: 'b@y.test', orcpt: null },
    action: 'failed',
    expired: false,
    reply: { code: 550, enhanced: '5.1.1', cause: 'smtp_reply', text: 'No such user here' },
    host: 'mx.y.test',
    triedAt: DATE,
    triedUntil: DATE + 3_600_000,
    ...more,
  };
}

function report(more: Partial<Report> = {}): Report {
  return {
    hostname: 'mail.example.com',
    to: 'a@x.test',
    messageId: '<msg_r@mail.example.com>',
    date: DATE,
    message: { id: 'msg_1', envid: null, arrivedAt: DATE - 60_000 },
    recipients: [recipient()],
    returned: returned(MESSAGE, true),
    ...more,
  };
}

function returned(text: string | Buffer, full: boolean, isWhole = true) {
  return atOnce(returnedOf({ bytes: Buffer.from(text), isWhole }, full));
}

function written(given: Report, seed = 1) {
  const { content, ...rest } = atOnce(composeReport(given, seededRandom(seed)));
  const bytes = Buffer.concat(content.chunks);
  expect(content.sizeBytes).toBe(bytes.length);
  return { bytes, flags: content.flags, ...rest };
}

function read(messages: readonly Buffer[]): Reading[] {
  const input = messages.map((bytes) => bytes.toString('base64')).join('\n');
  const { stdout, stderr, status } = spawnSync('python3', [READER], { input, maxBuffer: 256 * 1024 * 1024 });
  if (status !== 0) throw new Error(stderr.toString());
  return stdout
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Reading);
}

function readOne(given: Report): Reading {
  const [reading] = read([written(given).bytes]);
  if (reading === undefined) throw new Error('nothing read');
  return reading;
}

/** Text as peers may send it: every kind of line end, boundaries, fields, bytes of any plane. */
const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 1000 }),
  fc
    .array(
      fc.constantFrom(
        '\r\n',
        '\n',
        '\r',
        '\r\n\r\n',
        '\0',
        '--=_',
        ' ',
        '\t',
        'Action: delivered',
        '\u2028',
        'ü',
        'x'.repeat(300),
      ),
      { maxLength: 20 },
    )
    .map((parts) => parts.join('')),
);
const reply: fc.Arbitrary<Reply> = fc.record({
  code: fc.option(fc.integer({ min: 200, max: 599 })),
  enhanced: fc.option(fc.constantFrom('5.1.1', '4.7.0', '2.0.0', '5.1.1\r\nAction: delivered', '9.9.9')),
  cause: fc.constantFrom('smtp_reply', 'connect_refused'),
  text: hostile,
});
const reported: fc.Arbitrary<ReportedRecipient> = fc.record({
  recipient: fc.record({
    address: fc.constantFrom('b@y.test', 'bö@y.test', '"a b"@y.test', 'a\\+=@y.test'),
    orcpt: fc.option(
      fc.constantFrom(
        'rfc822;b+2Bc@y.test',
        'rfc822;a+0D+0AAction:+20delivered@y.test',
        'utf-8;bö@y.test',
        'x400;/S=b/',
        'rfc822;+',
      ),
    ),
  }),
  action: fc.constantFrom('failed', 'delayed', 'relayed', 'delivered'),
  expired: fc.boolean(),
  reply: fc.option(reply),
  host: fc.option(hostile),
  triedAt: fc.option(fc.constant(DATE)),
  triedUntil: fc.constant(DATE),
});

/** What a sender may have handed in: any header that the listener takes. */
const original = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom('Subject', 'Message-ID', 'X-A', '.X', 'References', 'To'), hostile), {
      maxLength: 6,
    }),
    hostile,
  )
  .map(([fields, body]) => {
    const line = (text: string) => text.replace(/[\r\n\0]+/g, ' ');
    return `${fields.map(([name, value]) => `${name}: ${line(value)}\r\n`).join('')}\r\n${line(body)}\r\n`;
  });

describeWith(['python3'], 'a report', () => {
  test('is a multipart/report in three parts, each of which says its own', () => {
    const envid = 'QQ314+3D159';
    const orcpt = 'rfc822;Bob+2Btag@y.test';
    const reading = readOne(
      report({
        message: { id: 'msg_1', envid, arrivedAt: DATE - 60_000 },
        recipients: [recipient({ recipient: { address: 'b@y.test', orcpt } })],
      }),
    );
    expect(reading).toMatchObject({
      type: 'multipart/report',
      reportType: 'delivery-status',
      parts: ['text/plain', 'message/delivery-status', 'message/rfc822'],
      perMessage: [
        ['Reporting-MTA', 'dns; mail.example.com'],
        ['Original-Envelope-Id', 'QQ314=159'],
        ['Arrival-Date', 'Fri, 20 Nov 2026 11:59:00 +0000'],
        ['X-Waybill-Id', 'msg_1'],
      ],
      perRecipient: [
        [
          ['Original-Recipient', 'rfc822; Bob+tag@y.test'],
          ['Final-Recipient', 'rfc822; b@y.test'],
          ['Action', 'failed'],
          ['Status', '5.1.1'],
          ['Remote-MTA', 'dns; mx.y.test'],
          ['Diagnostic-Code', 'smtp; 550 5.1.1 No such user here'],
          ['Last-Attempt-Date', 'Fri, 20 Nov 2026 12:00:00 +0000'],
        ],
      ],
      original: MESSAGE,
      defects: [],
    });
    expect(Object.fromEntries(reading.header)).toMatchObject({
      From: 'Mail delivery <MAILER-DAEMON@mail.example.com>',
      To: '<a@x.test>',
      Subject: 'Your message could not be delivered',
      'Message-ID': '<msg_r@mail.example.com>',
      'In-Reply-To': '<1@x.test>',
      References: '<1@x.test>',
      'Auto-Submitted': 'auto-replied',
    });
    expect(reading.text).toContain('mx.y.test said: 550 5.1.1 No such user here');
    expect(reading.text).toContain('Look for a typing error in the address');
    expect(reading.text).toContain('Subject:   Grüße');
  });

  test('names every recipient once, each with its own action and status', () => {
    const deferred = { code: 451, enhanced: '4.7.1', cause: 'smtp_reply', text: 'Greylisted' };
    const taken = { code: 250, enhanced: null, cause: 'smtp_reply', text: 'Ok' };
    const to = (address: string) => ({ recipient: { address, orcpt: null } });
    const { perRecipient } = readOne(
      report({
        recipients: [
          recipient(to('failed@y.test')),
          recipient({ ...to('expired@y.test'), expired: true, reply: deferred }),
          recipient({ ...to('never-tried@y.test'), expired: true, reply: null, triedAt: null, host: null }),
          recipient({ ...to('late@y.test'), action: 'delayed', reply: deferred }),
          recipient({ ...to('passed@y.test'), action: 'relayed', reply: taken }),
          recipient({ ...to('kept@y.test'), action: 'delivered', reply: null, host: null }),
        ],
      }),
    );
    const told = perRecipient.map((fields) => {
      const { Action, Status, ...rest } = Object.fromEntries(fields);
      return [rest['Final-Recipient'], Action, Status, rest['Will-Retry-Until'] !== undefined];
    });
    expect(told).toEqual([
      ['rfc822; failed@y.test', 'failed', '5.1.1', false],
      ['rfc822; expired@y.test', 'failed', '4.4.7', false],
      ['rfc822; never-tried@y.test', 'failed', '4.4.7', false],
      ['rfc822; late@y.test', 'delayed', '4.7.1', true],
      ['rfc822; passed@y.test', 'relayed', '2.0.0', false],
      ['rfc822; kept@y.test', 'delivered', '2.0.0', false],
    ]);
  });

  test('stays 7-bit with addresses that are not ASCII, and is SMTPUTF8 only where the sender is not', () => {
    const bob = recipient({ recipient: { address: 'bö+@y.test', orcpt: 'utf-8;bö@y.test' } });
    const plain = written(report({ recipients: [bob] }));
    expect(plain.flags).toEqual({ eightBit: false, utf8: false, dotStuffing: true });
    const [reading] = read([plain.bytes]);
    expect(reading?.perRecipient[0]).toContainEqual(['Final-Recipient', 'utf-8; b\\x{F6}\\x{2B}@y.test']);
    expect(reading?.perRecipient[0]).toContainEqual(['Original-Recipient', 'utf-8; b\\x{F6}@y.test']);
    expect(written(report({ to: 'jörg@x.test' })).flags).toMatchObject({ eightBit: true, utf8: true });
  });

  test('whatever senders and peers wrote, is 7-bit, well formed, and says what happened and no more', () => {
    const cases = fc.sample(
      fc.record({
        recipients: fc.array(reported, { minLength: 1, maxLength: 4 }),
        original,
        full: fc.boolean(),
        envid: fc.option(fc.constantFrom('a+0D+0AAction:+20x', 'plain', '+20x')),
      }),
      { numRuns: 300, seed: 3461 },
    );
    const reports = cases.map(({ recipients, original: text, full, envid }) =>
      report({
        recipients,
        returned: returned(text, full),
        message: { id: 'msg_1', envid, arrivedAt: DATE },
      }),
    );
    const messages = reports.map((given, seed) => written(given, seed));
    const readings = read(messages.map(({ bytes }) => bytes));
    for (const [place, { bytes, flags }] of messages.entries()) {
      const text = bytes.toString('latin1');
      expect(text).toMatch(/^[\t\r\n\x20-\x7f\0-\x08\x0b\x0c\x0e-\x1f]*$/);
      expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
      expect(Math.max(...text.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998);
      expect(flags.dotStuffing).toBe(/\r\n\./.test(text));
      const given = cases[place];
      const reading = readings[place];
      expect(reading?.defects).toEqual([]);
      expect(reading?.perMessage.map(([name]) => name)).toEqual([
        'Reporting-MTA',
        ...(given?.envid === null ? [] : ['Original-Envelope-Id']),
        'Arrival-Date',
        'X-Waybill-Id',
      ]);
      const actions = reading?.perRecipient.map((fields) => fields.filter(([name]) => name === 'Action'));
      expect(actions).toEqual(given?.recipients.map(({ action }) => [['Action', action]]));
    }
  });
});

test("a peer's reply is one line of printable ASCII, without runs of blanks and of bounded length", () => {
  const text = ' no\r\nAction:  delivered\t\u0000 \u2028für  dich';
  const told = (given: string) => {
    const answer = { code: 550, enhanced: '5.1.1', cause: 'smtp_reply', text: given };
    const lines = written(report({ recipients: [recipient({ reply: answer })] })).bytes.toString();
    return /^Diagnostic-Code: ((?:.*\r\n )*.*)\r\n/m.exec(lines)?.[1]?.replaceAll('\r\n', '');
  };
  expect(told(text)).toBe('smtp; 550 5.1.1 no Action: delivered? f?r dich');
  expect(told('x'.repeat(5000))).toBe(`smtp; 550 5.1.1 ${'x'.repeat(500)}`);
});

test("a provider's answer is told as one of HTTP", () => {
  const reply = { code: 422, enhanced: '5.1.1', cause: 'provider_406', text: 'Inactive recipient' };
  const lines = written(report({ recipients: [recipient({ reply })] })).bytes.toString();
  expect(lines).toContain('\r\nDiagnostic-Code: x-http; 422 Inactive recipient\r\n');
  expect(lines).toContain('\r\nStatus: 5.1.1\r\n');
});

test.each([
  ['192.0.2.1', '[192.0.2.1]'],
  ['2001:db8::1', '[IPv6:2001:db8::1]'],
  ['mx1.192.test', 'mx1.192.test'],
])('the host %s is told as %s', (host, told) => {
  const lines = written(report({ recipients: [recipient({ host })] })).bytes.toString();
  expect(lines).toContain(`\r\nRemote-MTA: dns; ${told}\r\n`);
});

test('another parser finds the same parts', async () => {
  const { attachments, text } = await PostalMime.parse(written(report()).bytes, {
    rfc822Attachments: true,
    forceRfc822Attachments: true,
  });
  expect(attachments.map(({ mimeType }) => mimeType)).toEqual(['message/delivery-status', 'message/rfc822']);
  expect(text).toContain('b@y.test');
});

test.each([
  ['a message that is 7-bit, where it was asked for', MESSAGE, true, true, 'message/rfc822; 7bit'],
  ['its header, where it was not', MESSAGE, false, true, 'text/rfc822-headers; 7bit'],
  [
    'the header of one with 8-bit text',
    'Subject: x\r\n\r\nGrüße\r\n',
    true,
    true,
    'text/rfc822-headers; 7bit',
  ],
  [
    'the header of one that is too large',
    `Subject: x\r\n\r\n${'x\r\n'.repeat(22_000)}`,
    true,
    true,
    'text/rfc822-headers; 7bit',
  ],
  ['the header of one that is not all there', MESSAGE, true, false, 'text/rfc822-headers; 7bit'],
  [
    'a header in UTF-8, encoded',
    'Subject: Grüße\r\n\r\nx\r\n',
    false,
    true,
    'text/rfc822-headers; quoted-printable',
  ],
  [
    'a header in any charset, encoded',
    Buffer.from('Subject: Gr\xfc\xdfe\r\n\r\nx\r\n', 'latin1'),
    false,
    true,
    'text/rfc822-headers; quoted-printable',
  ],
  ['nothing of a message without a header', '\r\nx\r\n', false, true, null],
] as const)('returned is %s', (_, message, full, isWhole, expected) => {
  const { part } = returned(Buffer.from(message), full, isWhole);
  const fields =
    part?.fields.replace(/Content-Type: (.*)\r\nContent-Transfer-Encoding: (.*)\r\n/, '$1; $2') ?? null;
  expect(fields).toBe(expected);
});

test('of a header that is too large, the fields come that are there in full', () => {
  const header = `Subject: x\r\nX-Long: ${'a\r\n '.repeat(30_000)}b\r\n\r\n`;
  const { part } = returned(header, false, false);
  expect(Buffer.concat(part?.body as Uint8Array[]).toString()).toBe('Subject: x\r\n');
});

test('only a Message-ID that can be referred to is', () => {
  const idOf = (value: string) => returned(`Message-ID: ${value}\r\n\r\n`, false).messageId;
  expect(idOf('<1@x.test>')).toBe('<1@x.test>');
  for (const value of ['1@x.test', '<1@x.test> (a)', `<${'a'.repeat(300)}@x>`, '<ü@x>', '<a b@x>'])
    expect(idOf(value)).toBeNull();
});

test('a boundary that somebody foresaw is drawn anew', () => {
  const first = written(report({ returned: NOTHING_RETURNED })).bytes.toString();
  const boundary = /boundary="?(=_[0-9a-f]+)"?/.exec(first)?.[1] ?? '';
  const returnedBody = returned(`Subject: x\r\n\r\n--${boundary}--\r\n`, true);
  const text = written(report({ returned: returnedBody })).bytes.toString();
  expect(boundary).not.toBe('');
  expect(/boundary="?(=_[0-9a-f]+)"?/.exec(text)?.[1]).not.toBe(boundary);
});

test('very many recipients are all named for programs, and the first hundred for people', () => {
  const recipients = Array.from({ length: 1000 }, (_, place) =>
    recipient({ recipient: { address: `b${place}@y.test`, orcpt: null } }),
  );
  const text = written(report({ recipients })).bytes.toString();
  expect(text.match(/^Final-Recipient:/gm)).toHaveLength(1000);
  expect(text).toContain('and 900 more, which the attached delivery status names.');
});
