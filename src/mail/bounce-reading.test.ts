import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_FEEDBACK_TEXT } from '../domain/feedback.ts';
import type { Reply } from '../domain/outcome.ts';
import { atOnce } from '../lib/clock.ts';
import { seededRandom } from '../lib/random.ts';
import { type BounceReading, readBounce } from './bounce-reading.ts';
import { MAX_REPORTED_ADDRESS, type RecipientStatus, readTypedAddress } from './delivery-status.ts';
import { MAX_BOUNCE_TEXT, MAX_NAMED_RECIPIENTS, MAX_SEARCHED_TEXT } from './plain-bounce.ts';
import { composeReport } from './report.ts';
import { type ReportedRecipient, returnedOf } from './report-parts.ts';
import { MAX_REPORT_BYTES, MAX_REPORT_DEPTH, MAX_REPORT_GROUPS, readReportParts } from './report-reading.ts';

function read(text: string, sender: string | null = ''): BounceReading {
  return readBounce(readReportParts(Buffer.from(text)), sender);
}

function statusesOf(text: string, sender: string | null = ''): readonly RecipientStatus[] {
  const reading = read(text, sender);
  return 'recipients' in reading ? reading.recipients : [];
}

function statusOf(fields: string): RecipientStatus | undefined {
  return statusesOf(
    `Content-Type: message/delivery-status\n\nFinal-Recipient: rfc822; ann@x.test\n${fields}\n`,
  )[0];
}

test('the fields of the message are read, too', () => {
  const reading = read(
    'Content-Type: message/delivery-status\n\nReporting-MTA: dns; mail.x.test (Postfix)\nReceived-From-MTA: dns; shop.test.\nOriginal-Envelope-Id: QQ314159\nArrival-Date: Fri, 20 Nov 2026 11:15:00 +0000\n\nFinal-Recipient: rfc822; ann@x.test\nAction: failed\n',
  );
  expect(reading).toMatchObject({
    kind: 'dsn',
    message: {
      reportingMta: 'mail.x.test',
      receivedFromMta: 'shop.test',
      originalEnvelopeId: 'QQ314159',
      arrivalDate: 'Fri, 20 Nov 2026 11:15:00 +0000',
    },
  });
});

describe('a diagnostic', () => {
  test.each([
    ['smtp; 550 5.1.1 No such user', 550, '5.1.1', 'No such user'],
    ['smtp;550 No such user', 550, null, 'No such user'],
    ['SMTP; 550-5.1.1 No such\n 550 5.1.1 user', 550, '5.1.1', 'No such user'],
    ['smtp; 550-No such\n 550 user', 550, null, 'No such user'],
    ['smtp; 550', 550, null, ''],
    ['smtp; 550 #5.1.0 Address rejected', 550, '5.1.0', 'Address rejected'],
    ['smtp; 550 (5.7.1) Denied', 550, '5.7.1', 'Denied'],
    ['smtp; 550 sorry, no mailbox (#5.1.1)', 550, '5.1.1', 'sorry, no mailbox (#5.1.1)'],
    ['smtp; 5.1.0 - Unknown 550-rejected', 550, '5.1.0', 'rejected'],
    ['smtp; 554 554 5.7.1 Denied', 554, '5.7.1', 'Denied'],
    ['550 5.1.1 No such user', 550, '5.1.1', 'No such user'],
    ['smtp; 10.0.0.1 timed out', null, null, '10.0.0.1 timed out'],
    ['smtp; 192.0.2.550 x', null, null, '192.0.2.550 x'],
    ['smtp; 5.1.1.1 x', null, null, '5.1.1.1 x'],
    ['x-unix; 550 is an exit code', null, null, '550 is an exit code'],
    ['x-unix; host a said: 550 5.1.1 No', 550, '5.1.1', 'No'],
    ['smtp; =?utf-8?q?550_5=2E1=2E1_Gr=C3=BC=C3=9Fe?=', 550, '5.1.1', 'Grüße'],
    ['smtp; 550 5.1.1 a\0b\u2028c   d', 550, '5.1.1', 'a b c d'],
  ])('%j is a reply', (value, code, enhancedCode, text) => {
    expect(statusOf(`Action: failed\nStatus: 5.0.0\nDiagnostic-Code: ${value}`)).toMatchObject({
      code,
      enhancedCode: enhancedCode ?? (code === null ? '5.0.0' : null),
      text,
    });
  });

  test.each([
    ['5.1.1', '550 5.7.1 x', '5.1.1'],
    ['5.0.0', '550 5.7.1 x', '5.7.1'],
    ['4.0.0', '451 4.7.1 x', '4.7.1'],
    ['5.0.0', '550 x', null],
    ['5.0.0', 'nothing', '5.0.0'],
    ['rubbish', '550 5.7.1 x', '5.7.1'],
    ['rubbish', 'nothing', null],
    ['5.1.10 (host does not accept mail)', '550 5.1.1 x', '5.1.10'],
  ])('Status %s and %j make %s', (status, reply, enhancedCode) => {
    expect(statusOf(`Status: ${status}\nDiagnostic-Code: smtp; ${reply}`)?.enhancedCode).toBe(enhancedCode);
  });

  test('the first code counts that fits the action', () => {
    expect(statusOf('Action: failed\nDiagnostic-Code: smtp; 220 mx 421 4.7.0 no')?.code).toBe(421);
    expect(statusOf('Action: delivered\nDiagnostic-Code: smtp; 250 2.0.0 ok 450')?.code).toBe(250);
  });
});

describe('an address', () => {
  test.each([
    ['rfc822; ann@x.test', 'rfc822', 'ann@x.test', 'ann@x.test'],
    ['RFC822;<ann@X.TEST>', 'rfc822', 'ann@x.test', 'ann@x.test'],
    ['rfc822; "ann"@x.test (Ann (A.))', 'rfc822', 'ann@x.test', 'ann@x.test'],
    ["rfc822;'ann@x.test'", 'rfc822', 'ann@x.test', 'ann@x.test'],
    ['rfc822; "ann@x.test"', 'rfc822', 'ann@x.test', 'ann@x.test'],
    ['rfc822; "a b"@x.test', 'rfc822', '"a b"@x.test', '"a b"@x.test'],
    ['rfc822;ann+2Bshop@x.test', 'rfc822', 'ann+2Bshop@x.test', 'ann+shop@x.test'],
    ['rfc822;a+20b@x.test', 'rfc822', 'a+20b@x.test', 'a b@x.test'],
    ['rfc822;a+0D+0Ab@x.test', 'rfc822', 'a+0D+0Ab@x.test', 'a+0D+0Ab@x.test'],
    ['utf-8; bj\\x{F8}rn@x.test', 'utf-8', 'bjørn@x.test', 'bjørn@x.test'],
    ['utf-8; bjørn@grüße.test', 'utf-8', 'bjørn@xn--gre-6ka8l.test', 'bjørn@xn--gre-6ka8l.test'],
    ['utf-8; a\\x{110000}@x.test', 'utf-8', 'a\\x{110000}@x.test', 'a\\x{110000}@x.test'],
    ['utf-8; a\\x{D800}@x.test', 'utf-8', 'a\\x{D800}@x.test', 'a\\x{D800}@x.test'],
    ['rfc822;@a.test,@b.test:ann@x.test', 'rfc822', 'ann@x.test', 'ann@x.test'],
    ['x400;/S=ann/', 'x400', '/S=ann/', '/S=ann/'],
    ['ann@x.test', null, 'ann@x.test', 'ann@x.test'],
    ['rfc822; ann', 'rfc822', 'ann', 'ann'],
  ])('%j is read', (value, type, address, decoded) => {
    expect(readTypedAddress(value)).toEqual({ type, address, decoded });
  });

  test.each([[''], ['rfc822;'], ['rfc822; <>'], ['rfc822; (nobody)'], [`rfc822;${'a'.repeat(2000)}@x.test`]])(
    '%j is none',
    (value) => {
      expect(readTypedAddress(value)).toBeNull();
    },
  );
});

describe('a message that is no delivery status', () => {
  const BOUNCE = 'Subject: failed\n\nThe server said:\n550 5.1.1 No such user\n';

  test.each([
    ['', 'bounce'],
    ['<>', 'bounce'],
    ['MAILER-DAEMON@x.test', 'bounce'],
    ['<Postmaster@x.test>', 'bounce'],
    ['mailer-daemon', 'bounce'],
    ['ann@x.test', 'undetermined'],
    ['mailer-daemon.ann@x.test', 'undetermined'],
    [null, 'undetermined'],
  ])('from the reverse-path %j is read as %s', (sender, kind) => {
    expect(read(BOUNCE, sender).kind).toBe(kind);
  });

  test.each([
    ['Return-Path: <>\n', 'bounce'],
    ['Return-Path: <ann@x.test>\n', 'undetermined'],
    ['Return-Path: <ann@x.test>\nFrom: "Mail" <MAILER-DAEMON@x.test>\n', 'bounce'],
    ['From: MAILER-DAEMON (Mail System)\n', 'bounce'],
    ['From: Postmaster <ann@x.test>\n', 'bounce'],
    ['From: Ann <ann@x.test>\n', 'undetermined'],
  ])('tells with %j who sent it, where the reverse-path is not known', (fields, kind) => {
    expect(read(fields + BOUNCE, null).kind).toBe(kind);
  });

  test.each([
    ['Auto-Submitted: auto-replied', 'reply'],
    ['Auto-Submitted: Auto-Generated (vacation); x=y', 'reply'],
    ['Auto-Submitted: no', 'bounce'],
    ['X-Autoreply: yes', 'reply'],
    ['X-Autoreply: no', 'bounce'],
    ['Precedence: junk', 'reply'],
    ['Precedence: list', 'bounce'],
    ['Auto-Submitted: auto-replied\nFrom: MAILER-DAEMON@x.test', 'bounce'],
    ['Precedence: bulk\nX-Failed-Recipients: ann@x.test', 'bounce'],
  ])('with %j is read as %s', (fields, kind) => {
    expect(read(`${fields}\n${BOUNCE}`).kind).toBe(kind);
  });

  test.each([
    ['Out of Office', 'reply'],
    ['OUT OF OFFICE: until May', 'reply'],
    ['Out of officers', 'undetermined'],
    ['Re: out of office', 'undetermined'],
    ['Message d’absence', 'reply'],
    ['=?utf-8?q?Re=CC=81ponse_automatique?=', 'reply'],
    ['不在通知', 'reply'],
    ['Autosvaret', 'undetermined'],
    ['Your order', 'undetermined'],
  ])('with the subject %j is read as %s', (subject, kind) => {
    expect(read(`From: ann@x.test\nSubject: ${subject}\n\nHello.\n`).kind).toBe(kind);
  });

  test.each([
    ['said: 550 5.1.1 gone', 550, '5.1.1', 'gone'],
    ['said: 550\n    5.1.1 gone', 550, '5.1.1', 'gone'],
    ['<<< 552-5.2.2 full\n<<< 552 5.2.2 mailbox', 552, '5.2.2', 'full <<< mailbox'],
    ['550 gone\nfor ever\n\nGood bye', 550, null, 'gone for ever'],
    ['after 250 tries: 421 later', 421, null, 'later'],
  ])('%j has a reply', (text, code, enhancedCode, said) => {
    expect(statusesOf(`Subject: failed\n\n${text}\n`)).toMatchObject([
      { action: 'failed', code, enhancedCode, text: said, finalRecipient: null, originalRecipient: null },
    ]);
  });

  test.each([['in 1550 days'], ['port 4650 '], ['a550 x'], ['(550)'], ['350 x'], ['650 x'], ['5.1.1 gone']])(
    '%j has none',
    (text) => {
      expect(read(`Subject: failed\n\n${text}\n`).kind).toBe('undetermined');
    },
  );

  test.each([
    ['Subject: Warning: delayed 24 hours\n\n451 later', 'delayed'],
    ['Subject: x\n\nIt has not yet been delivered: 451 later', 'delayed'],
    ['Subject: x\n\n451 later. We will keep trying.', 'delayed'],
    ['Subject: x\n\n451 later. We will not continue trying.', 'failed'],
  ])('%j is %s', (text, action) => {
    expect(statusesOf(`${text}\n`)).toMatchObject([{ action, code: 451 }]);
  });

  test('the text is found in HTML, without styles and scripts', () => {
    const html =
      'Content-Type: text/html\n\n<html><style>a { width: 500 px }</style><SCRIPT>if (500 < 600) 450 </SCRIPT><p>Sorry, &lt;ann@x.test&gt;: <b>550</b> 5.1.1 <i>gone</i></p><p>Bye</p></html>';
    expect(statusesOf(html)).toMatchObject([{ code: 550, enhancedCode: '5.1.1', text: 'gone' }]);
  });

  test('an unknown charset does not matter', () => {
    const text = 'Content-Type: text/plain; charset=x-unknown\n\n550 gr\xfc\xdfe\n';
    expect(readBounce(readReportParts(Buffer.from(text, 'latin1')), '')).toMatchObject({
      recipients: [{ text: 'grüße' }],
    });
  });

  test("qmail's form ends with a paragraph that begins with a hyphen, in any words", () => {
    const text =
      'Hi. This is the qmail-send\n\n<ann@x.test>:\n550 gone\n\n--- Anbei.\n\n<bob@x.test>:\n550 gone\n';
    expect(statusesOf(`\n${text}`).map(({ finalRecipient }) => finalRecipient?.address)).toEqual([
      'ann@x.test',
    ]);
  });

  test('what repeats the message is not searched', () => {
    expect(read('Subject: x\n\nIt failed.\n--- Original message ---\n\nI owe you 500 euros.\n').kind).toBe(
      'undetermined',
    );
  });
});

describe('limits:', () => {
  test('a reply is searched in the beginning of a text', () => {
    const text = (length: number) => `Subject: x\n\n${'x\n'.repeat(length / 2)}550 gone\n`;
    expect(read(text(MAX_SEARCHED_TEXT - 20)).kind).toBe('bounce');
    expect(read(text(MAX_SEARCHED_TEXT)).kind).toBe('undetermined');
  });

  test('a repeated header is searched in more of it', () => {
    const text = (length: number) =>
      `Subject: x\n\n550 gone\n${'x\n'.repeat(length / 3)}--- Original message ---\n\nMessage-ID: <1@x.test>\n`;
    expect(read(text(MAX_BOUNCE_TEXT - 200)).returned).toEqual({ messageId: '<1@x.test>', returnPath: null });
    expect(read(text(MAX_BOUNCE_TEXT)).returned).toBeNull();
  });

  test('not all recipients that a bounce names are taken', () => {
    const many = MAX_NAMED_RECIPIENTS + 10;
    const addresses = Array.from({ length: many }, (_, index) => `a${index}@x.test`);
    expect(statusesOf(`X-Failed-Recipients: ${addresses.join(', ')}\n\n550 gone\n`)).toHaveLength(
      MAX_NAMED_RECIPIENTS,
    );
    const repeated = addresses.map((address) => `X-Failed-Recipients: ${address}\n`).join('');
    expect(statusesOf(`${repeated}\n550 gone\n`)).toHaveLength(MAX_NAMED_RECIPIENTS);
    const qmail = addresses.map((address) => `<${address}>:\n550 x\n\n`).join('');
    expect(statusesOf(`\nHi. This is the qmail-send\n\n${qmail}`)).toHaveLength(MAX_NAMED_RECIPIENTS);
  });

  test('recipients, texts and addresses of a delivery status are cut', () => {
    const groups = 'Final-Recipient: rfc822; ann@x.test\nAction: failed\n\n'.repeat(MAX_REPORT_GROUPS + 9);
    expect(statusesOf(`Content-Type: message/delivery-status\n\n${groups}`)).toHaveLength(MAX_REPORT_GROUPS);
    const status = statusOf(`Diagnostic-Code: smtp; 550 ${'y'.repeat(MAX_FEEDBACK_TEXT + 1)}`);
    expect(status?.text).toHaveLength(MAX_FEEDBACK_TEXT);
    expect(statusOf(`Remote-MTA: dns; ${'m'.repeat(300)}`)?.remoteMta).toHaveLength(255);
    expect(readTypedAddress(`x;${'a'.repeat(MAX_REPORTED_ADDRESS)}`)).not.toBeNull();
    expect(readTypedAddress(`x;${'a'.repeat(MAX_REPORTED_ADDRESS + 1)}`)).toBeNull();
  });

  test('a status behind too many levels, or behind the bytes that are read, is not found', () => {
    const status =
      'Content-Type: message/delivery-status\n\nFinal-Recipient: rfc822; ann@x.test\nAction: failed\n';
    expect(read(`Content-Type: message/rfc822\n\n`.repeat(MAX_REPORT_DEPTH) + status).kind).toBe('dsn');
    expect(read(`Content-Type: message/rfc822\n\n`.repeat(MAX_REPORT_DEPTH + 1) + status).kind).toBe(
      'undetermined',
    );
    const behind = `Content-Type: multipart/mixed; boundary=b\n\n--b\n\n${'x\n'.repeat(MAX_REPORT_BYTES / 2)}--b\n${status}--b--\n`;
    expect(read(behind).kind).toBe('undetermined');
  });

  test('nothing is decompressed', () => {
    const zip = 'UEsDBBQAAAAIAA==';
    const text = `Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: application/zip\nContent-Transfer-Encoding: base64\n\n${zip}\n--b\nContent-Type: message/delivery-status\nContent-Encoding: gzip\n\nH4sIAAAAAAAA\n--b--\n`;
    expect(read(text).kind).toBe('undetermined');
  });
});

/** What one of our servers tells another. */
const reply: fc.Arbitrary<Reply> = fc.record({
  code: fc.option(fc.integer({ min: 400, max: 599 })),
  enhanced: fc.option(fc.constantFrom('5.1.1', '4.2.2', '5.7.26')),
  cause: fc.constantFrom('smtp_reply', 'connect_refused'),
  text: fc.string({ unit: 'binary', maxLength: 200 }),
});
const reported: fc.Arbitrary<ReportedRecipient> = fc.record({
  recipient: fc.record({
    address: fc.constantFrom('b@y.test', 'bö@y.test', '"a b"@y.test', 'a+2B@y.test', 'ann+tag@y.test'),
    orcpt: fc.option(fc.constantFrom('rfc822;b+2Bc@y.test', 'utf-8;bö@y.test', 'x400;/S=b/')),
  }),
  action: fc.constantFrom('failed', 'delayed', 'relayed', 'delivered'),
  expired: fc.boolean(),
  reply: fc.option(reply),
  host: fc.option(fc.constantFrom('mx.y.test', '192.0.2.1', '2001:db8::1')),
  triedAt: fc.constant(null),
  triedUntil: fc.constant(0),
});
const ORIGINAL = Buffer.from('Message-ID: <1@x.test>\r\nReturn-Path: <b-token@x.test>\r\n\r\nHello.\r\n');

test('what our own reports say is read', () => {
  fc.assert(
    fc.property(fc.array(reported, { minLength: 1, maxLength: 5 }), fc.boolean(), (recipients, full) => {
      const returned = atOnce(returnedOf({ bytes: ORIGINAL, isWhole: true }, full));
      const report = {
        hostname: 'mail.example.com',
        to: 'a@x.test',
        messageId: '<msg_r@mail.example.com>',
        date: 0,
        message: { id: 'msg_1', envid: 'QQ+2B1', arrivedAt: 0 },
        recipients,
        returned,
      };
      const { content } = atOnce(composeReport(report, seededRandom(1)));
      const reading = readBounce(readReportParts(Buffer.concat(content.chunks)), '');
      expect(reading).toMatchObject({
        kind: 'dsn',
        message: { reportingMta: 'mail.example.com', originalEnvelopeId: 'QQ+1' },
        returned: { messageId: '<1@x.test>', returnPath: 'b-token@x.test' },
      });
      const statuses = 'recipients' in reading ? reading.recipients : [];
      expect(statuses.map(({ action, finalRecipient }) => [action, finalRecipient?.address])).toEqual(
        recipients.map(({ action, recipient }) => [action, recipient.address]),
      );
      for (const [index, { code, status }] of statuses.entries()) {
        const { reply: given, action } = recipients[index] ?? {};
        const isTold = given?.code !== null && (action === 'failed' || action === 'delayed');
        if (isTold) expect(code).toBe(given?.code ?? null);
        expect(status).toMatch(/^[245]\.\d+\.\d+$/);
      }
    }),
    { numRuns: 300 },
  );
});
