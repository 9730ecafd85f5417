/** Bounces as any server or attacker may send them to a return path. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_FEEDBACK_TEXT, NO_MESSAGE } from '../../src/domain/feedback.ts';
import { type BounceReading, readBounce } from '../../src/mail/bounce-reading.ts';
import { type ReportedAddress, readTypedAddress } from '../../src/mail/delivery-status.ts';
import { recipientsOfFeedback } from '../../src/mail/feedback-recipient.ts';
import { readIncomingFeedback } from '../../src/mail/incoming-feedback.ts';
import { MAX_REPORT_BYTES, MAX_REPORT_GROUPS, readReportParts } from '../../src/mail/report-reading.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { textOf } from './inputs.ts';
import { inTime } from './processor-time.ts';

const RECIPIENTS = [
  { address: 'ann@example.org', orcpt: null },
  { address: 'bob@example.org', orcpt: 'rfc822;robert+2Bold@example.net' },
];
const CODE_AND_CLASS = /^[245]\.\d{1,3}\.\d{1,3}$/;
/** Control characters and line ends. */
const NOT_ONE_LINE = /[\p{Cc}\p{Zl}\p{Zp}]/u;
const MAX_ADDRESS = 1100;

const line = fc.oneof(
  fc.constantFrom(
    ...['', '--b', '--b--', ' ', 'Content-Type: message/delivery-status', 'Content-Type: message/rfc822'],
    ...['Content-Type: multipart/report; report-type=delivery-status; boundary=b', 'Action: failed'],
    ...[
      'Content-Transfer-Encoding: base64',
      'Content-Transfer-Encoding: quoted-printable',
      'Precedence: bulk',
    ],
    ...['Final-Recipient: rfc822; ann@example.org', 'Original-Recipient: rfc822;robert+2Bold@example.net'],
    ...['Status: 5.0.0', 'Message-ID: <1@x.test>', 'Return-Path: <a@x.test>', 'Hi. This is the qmail-send'],
    ...['<ann@example.org>:', '--- Below this line is a copy of the message.', 'QWN0aW9uOiBmYWlsZWQ='],
  ),
  fc
    .tuple(
      fc.constantFrom('Diagnostic-Code: smtp; ', 'Status: ', 'Remote-MTA: ', 'Subject: ', 'From: ', ''),
      textOf(
        '550 ',
        '550-',
        '5.1.1 ',
        '#',
        '(',
        ')',
        '"',
        '<',
        '>',
        '@',
        '=?utf-8?q?',
        '?=',
        '\\x{F8}',
        '+2B',
        ';',
      ),
    )
    .map((pair) => pair.join('')),
  fc
    .tuple(
      fc.constantFrom('X-Failed-Recipients: ', 'Final-Recipient: ', 'Original-Recipient: utf-8;'),
      textOf('rfc822;', 'a', '@x.test', ',', '"', '(', '<', '>', '+', '2B', '\\x{', '}', 'ü', ' ', '.'),
    )
    .map((pair) => pair.join('')),
);
const made = fc
  .tuple(fc.array(line, { maxLength: 30 }), fc.constantFrom('\n', '\r\n'))
  .map(([lines, end]) => Buffer.from(lines.join(end)));
const bounces = { made, corpus: corpus('bounces', (bytes) => bytes) };

test('any message is read as one kind, within all bounds, however its lines end', () =>
  fuzz('bounce', bounces, (bytes) => {
    const reading = read(bytes);
    if ('recipients' in reading) checkStatuses(reading);
    checkFeedback(bytes);
    expect(reading.returned?.messageId ?? '<>').toMatch(/^<[^<>\s]*>$/);
    expect(reading.returned?.returnPath ?? '').not.toMatch(/[<>\s]/);
    if (!bytes.includes('\r')) {
      const inCrlf = Buffer.from(bytes.toString('latin1').replaceAll('\n', '\r\n'), 'latin1');
      expect(read(inCrlf)).toEqual(reading);
    }
    return reading.kind !== 'undetermined';
  }));

function read(bytes: Buffer): BounceReading {
  return readBounce(readReportParts(bytes), '');
}

/** Whatever it tells, each piece is about a recipient that there is, or about nobody. */
function checkFeedback(bytes: Buffer): void {
  const { feedback } = readIncomingFeedback({ bytes, reversePath: '', token: null }, () => null);
  const places = recipientsOfFeedback(feedback, RECIPIENTS);
  expect(places).toHaveLength(feedback.length);
  for (const place of places) if (place !== null) expect(RECIPIENTS[place]).toBeDefined();
}

function checkStatuses(reading: Extract<BounceReading, { recipients: unknown }>): void {
  const { recipients } = reading;
  expect(recipients.length).toBeGreaterThan(0);
  expect(recipients.length).toBeLessThanOrEqual(MAX_REPORT_GROUPS);
  for (const status of recipients) {
    expect(status.text.length).toBeLessThanOrEqual(MAX_FEEDBACK_TEXT);
    expect(status.text).not.toMatch(NOT_ONE_LINE);
    expect(status.code ?? 200).toBeGreaterThanOrEqual(200);
    expect(status.code ?? 200).toBeLessThan(600);
    expect(status.enhancedCode ?? '5.0.0').toMatch(CODE_AND_CLASS);
    expect(status.status ?? '5.0.0').toMatch(CODE_AND_CLASS);
    checkAddress(status.originalRecipient);
    checkAddress(status.finalRecipient);
  }
}

function checkAddress(reported: ReportedAddress | null): void {
  for (const address of reported === null ? [] : [reported.address, reported.decoded]) {
    expect(address).not.toMatch(NOT_ONE_LINE);
    expect(address.length).toBeLessThan(MAX_ADDRESS);
    // What is an address stays the same, read again.
    if (reported?.address === reported?.decoded && /^[\w.]+@[a-z.]+$/.test(address))
      expect(readTypedAddress(address)?.address).toBe(address);
  }
}

/** Beginnings of messages, by what follows them over and over. */
const STATUS = 'Content-Type: message/delivery-status\n\n';
const MULTIPARTS = Array.from(
  { length: 12 },
  (_, depth) =>
    `Content-Type: multipart/mixed; boundary=${'a'.repeat(depth + 1)}\n\n--${'a'.repeat(depth + 1)}\n`,
).join('');
const LONG: readonly (readonly [beginning: string, unit: string])[] = [
  ['', 'a'],
  ['', '\n'],
  ['', '\r'],
  ['', 'A: b\n'],
  ['', 'A:\n '],
  ['', 'Content-Type: message/rfc822\n\n'],
  ['Subject: ', '=?utf-8?q?a?= '],
  ['From: ', '(<"'],
  ['X-Failed-Recipients: ', 'a@x.test,'],
  ['Content-Type: ', ';a="'],
  ['Content-Type: multipart/mixed; boundary=b\n\n', '--b\n\n'],
  ['Content-Type: multipart/mixed; boundary=b\n\n', '--b x\n'],
  ['Content-Type: multipart/mixed; boundary=b\n\n', '--b\nContent-Type: multipart/mixed; boundary=b\n\n'],
  [MULTIPARTS, '--aaaaaaaaaaaaaaa\n'],
  [MULTIPARTS, '--a\n'],
  [STATUS, 'Final-Recipient: rfc822; a@x.test\nAction: failed\n\n'],
  [`${STATUS}Final-Recipient: rfc822; a@x.test\nDiagnostic-Code: smtp; `, '550 5.1.1 '],
  [`${STATUS}Final-Recipient: rfc822; a@x.test\nDiagnostic-Code: smtp; `, '550-5.1.1\n'],
  [`${STATUS}Final-Recipient: rfc822; `, '"(<\\x{F8}+2B'],
  [STATUS, 'no field\n'],
  [STATUS, ' \t\n'],
  ['Content-Type: text/html\n\n', '<'],
  ['Content-Type: text/html\n\n', '<style>'],
  ['Content-Type: text/html\n\n', '&lt;'],
  ['\nHi. This is the qmail-send\n\n', '<a@x.test>:\n\n'],
  ['\nHi. This is the qmail-send\n\n', '<'],
  ['\n', '-- copy of '],
  ['\n', '- - original message\n'],
  ['\n', '\n \t'],
  ['\n', 'message '],
  ['\n', 'will '],
  ['Content-Transfer-Encoding: base64\n\n', 'QUJD\n'],
  ['Content-Transfer-Encoding: quoted-printable\n\n', '=\n'],
];

test.each(LONG)('a message of %j and then %j over and over takes linear time', (beginning, unit) => {
  const message = Buffer.from(beginning + unit.repeat(MAX_REPORT_BYTES / unit.length));
  inTime(`${JSON.stringify(unit)} over and over`, () => read(message));
});

test('much feedback is compared with many recipients in linear time', () => {
  const recipients = Array.from({ length: 10_000 }, (_, index) => ({
    address: `a${index}@x.test`,
    orcpt: `rfc822;b+2B${index}@x.test`,
  }));
  const feedback = Array.from({ length: MAX_REPORT_GROUPS }, (_, index) => ({
    message: NO_MESSAGE,
    recipient: `B+${index * 9}@x.test`,
  }));
  inTime('the comparison', () => {
    expect(recipientsOfFeedback(feedback, recipients)).toEqual(feedback.map((_, index) => index * 9));
  });
});
