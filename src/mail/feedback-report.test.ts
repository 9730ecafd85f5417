import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { FeedbackToken } from '../domain/feedback.ts';
import {
  MAX_REPORTED_DOMAINS,
  MAX_REPORTED_RECIPIENTS,
  MAX_REPORTED_VALUE,
  MAX_UNSUBSCRIBE_URIS,
  MAX_USER_AGENT,
} from './feedback-fields.ts';
import { feedbackOfReport, readFeedbackReport } from './feedback-report.ts';
import { MAX_REPORT_BYTES, readReportParts } from './report-reading.ts';

// test/mail/feedback-report.test.ts reads the reports that providers send.

const read = (mail: string) => readFeedbackReport(readReportParts(Buffer.from(mail)));

/** A report with these fields, and perhaps the header of the message. */
function report(fields: string, returned = ''): string {
  const end = returned === '' ? '' : `--b\nContent-Type: text/rfc822-headers\n\n${returned}\n`;
  return `Date: Fri, 20 Nov 2026 11:15:00 +0000
Content-Type: multipart/report; report-type=feedback-report; boundary=b

--b
Content-Type: message/feedback-report

Feedback-Type: abuse
${fields}
${end}--b--
`;
}

/** Recognises `ours-2@…` as recipient 2 of its message, and `ours-all@…` as all of them. */
function recognise(text: string): FeedbackToken | null {
  const [, number] = /ours-(all|\d+)/.exec(text) ?? [];
  return number === undefined ? null : { id: text, recipient: number === 'all' ? null : Number(number) };
}

function feedback(fields: string, returned?: string) {
  const read = readFeedbackReport(readReportParts(Buffer.from(report(fields, returned))));
  return read === null ? null : feedbackOfReport(read, recognise);
}

const RETURNED = `Return-Path: <ours-2@x.test>
X-Envelope-From: <ours-3@x.test>
Authentication-Results: mx.test; spf=pass smtp.mailfrom=ours-4@x.test
Received-SPF: pass envelope-from=ours-5@x.test
List-Unsubscribe: <mailto:u-ours-6@x.test>`;

test('a token is looked for where it is surest', () => {
  const id = (fields: string, returned: string) => feedback(fields, returned)?.[0]?.message.token?.id;
  const lines = RETURNED.split('\n');
  const after = (count: number) => lines.slice(count).join('\n');
  expect(id('Original-Mail-From: <ours-1@x.test>', RETURNED)).toBe('ours-1@x.test');
  expect(id('Original-Mail-From: <forged@x.test>', RETURNED)).toBe('ours-2@x.test');
  expect(id('', after(1))).toBe('ours-3@x.test');
  expect(id('', after(2))).toBe('ours-4@x.test');
  expect(id('', after(3))).toBe('ours-5@x.test');
  expect(id('', after(4))).toBe('mailto:u-ours-6@x.test');
  expect(id('', 'Subject: ours-7@x.test')).toBeUndefined();
});

test('feedback has what the report says, and nothing else', () => {
  expect(
    feedback('Original-Rcpt-To: <Ann@Y.test>', 'Return-Path: <ours-all@x.test>\nMessage-ID: <1@x.test>'),
  ).toEqual([
    {
      kind: 'complaint',
      source: 'arf',
      message: {
        token: { id: 'ours-all@x.test', recipient: null },
        id: null,
        providerMessageId: null,
        messageId: '<1@x.test>',
      },
      recipient: 'Ann@y.test',
      bounce: { type: null, code: null, enhancedCode: null, text: '' },
      at: Date.UTC(2026, 10, 20, 11, 15),
    },
  ]);
});

test('of several recipients nobody is meant for sure, unless the token tells', () => {
  const several = 'Original-Rcpt-To: a@y.test\nOriginal-Rcpt-To: b@y.test';
  expect(feedback(several)).toMatchObject([
    { recipient: 'a@y.test', oneOfSeveral: true },
    { recipient: 'b@y.test', oneOfSeveral: true },
  ]);
  const told = feedback(`${several}\nOriginal-Mail-From: ours-1@x.test`);
  expect(told).toMatchObject([{ recipient: null, message: { token: { recipient: 1 } } }]);
  expect(told?.[0]).not.toHaveProperty('oneOfSeveral');
  expect(feedback(`${several}\nOriginal-Mail-From: ours-all@x.test`)).toHaveLength(2);
});

test('without a recipient the mailbox counts that the receiver wrote down, never the one that the sender did', () => {
  const whom = (returned: string) => feedback('', returned)?.map(({ recipient }) => recipient);
  expect(whom('To: ann@y.test\nCc: bob@y.test')).toEqual([null]);
  expect(whom('To: ann@y.test\nDelivered-To: bob@y.test')).toEqual(['bob@y.test']);
  expect(whom('X-Apparently-To: ann@y.test via 192.0.2.1; today\nDelivered-To: bob@y.test')).toEqual([
    'ann@y.test',
  ]);
  expect(whom('Delivered-To: bob@y.test\nX-HmXmrOriginalRecipient: ann@y.test')).toEqual(['ann@y.test']);
  expect(feedback('Original-Rcpt-To: cat@y.test', 'Delivered-To: bob@y.test')).toMatchObject([
    { recipient: 'cat@y.test' },
  ]);
});

test('a type that no RFC defines is said, and means nothing', () => {
  const mail = report('').replace('abuse', 'Miscategorized');
  const unknown = read(mail);
  expect(unknown).toMatchObject({ kind: 'unknown', feedbackType: 'miscategorized' });
  expect(unknown && feedbackOfReport(unknown, recognise)).toEqual([]);
  expect(read(mail.replace('Feedback-Type', 'Type'))).toMatchObject({ kind: 'unknown', feedbackType: '' });
});

test('the first of two types counts', () => {
  expect(read(report('Feedback-Type: not-spam'))).toMatchObject({ kind: 'complaint' });
});

test.each([
  ['', ''],
  ['a letter', 'From: ann@y.test\nSubject: spam\n\nStop it!'],
  ['a bounce', report('').replaceAll('feedback-report', 'delivery-status')],
  [
    'a bounce that returns a report',
    `Content-Type: multipart/report; boundary=c\n\n--c\nContent-Type: message/rfc822\n\n${report('')}\n--c--`,
  ],
  [
    'a bounce from an address that sends complaints',
    'From: staff@hotmail.com\nContent-Type: multipart/report; report-type=delivery-status; boundary=c\n\n--c\nContent-Type: message/rfc822\n\nMessage-ID: <1@x.test>\n--c--',
  ],
  ['a letter that quotes a report', `Subject: Fwd\n\n> ${report('').replaceAll('\n', '\n> ')}`],
  [
    'a letter with a message attached, from anybody',
    'From: staff@hotmail.com.example\nContent-Type: message/rfc822\n\nMessage-ID: <1@x.test>\n\nHello',
  ],
])('%s is no feedback report', (_, mail) => expect(read(mail)).toBeNull());

test('what a report returns is not taken for the report', () => {
  const inner = report('Original-Rcpt-To: inner@y.test');
  const outer = report('Original-Rcpt-To: outer@y.test').replace(
    '--b--',
    `--b\nContent-Type: message/rfc822\n\n${inner.replaceAll('=b', '=i').replaceAll('--b', '--i')}\n--b--`,
  );
  expect(read(outer)?.recipients).toEqual(['outer@y.test']);
});

test('values that are none are left out', () => {
  const odd = read(
    report(
      `Original-Mail-From: <>
Original-Rcpt-To: redacted
Arrival-Date: yesterday
Received-Date: Fri, 20 Nov 2026 10:00:00 +0000
Source-IP: [IPv6:2001:DB8::1]
Reported-Domain: not a domain
Reported-Domain: Example.COM
Incidents: 0
Auth-Failure: a b
Original-Message-ID: <>
User-Agent: A\u202eB\u0007`,
      'Message-ID: none of these\nFrom: a@x.test, b@x.test\nTo: ?\nList-Unsubscribe: <mailto:\u00fc>, <https:\n //x.test/u>',
    ),
  );
  expect(odd).toMatchObject({
    originalMailFrom: '',
    recipients: [],
    arrivedAt: null,
    sourceIp: '2001:db8::1',
    reportedDomains: ['example.com'],
    incidents: 1,
    authFailure: null,
    messageId: null,
    userAgent: 'A B',
    returned: { messageId: null, from: null, to: [], unsubscribe: ['https://x.test/u'], reversePaths: [] },
  });
});

// Limits.

const many = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n');

test('of too many recipients the first count', () => {
  const inOne = many(20, (field) => `Original-Rcpt-To: ${many(10, (i) => `a${field}-${i}@y.test,`)}z@y.test`);
  const recipients = read(report(inOne.replaceAll(',\n', ',')))?.recipients ?? [];
  expect(recipients).toHaveLength(MAX_REPORTED_RECIPIENTS);
  expect(recipients.slice(0, 2)).toEqual(['a0-0@y.test', 'a0-1@y.test']);
});

test('of too many domains the first count', () => {
  const domains = read(report(many(MAX_REPORTED_DOMAINS + 1, (i) => `Reported-Domain: d${i}.test`)));
  expect(domains?.reportedDomains).toHaveLength(MAX_REPORTED_DOMAINS);
});

test('of too many unsubscribe addresses the first count', () => {
  const uris = many(MAX_UNSUBSCRIBE_URIS + 1, (i) => `<mailto:u${i}@x.test>,`).replaceAll('\n', '\n ');
  const returned = read(report('', `List-Unsubscribe: ${uris}`))?.returned;
  expect(returned?.unsubscribe).toHaveLength(MAX_UNSUBSCRIBE_URIS);
});

test('a value that is too long is not read, a name that is too long is cut', () => {
  const padded = (length: number) => `<a@y.test>${' '.repeat(length)}()`.slice(0, length - 2).concat('()');
  const rcpt = (length: number) => read(report(`Original-Rcpt-To: ${padded(length)}`))?.recipients;
  expect(rcpt(MAX_REPORTED_VALUE)).toEqual(['a@y.test']);
  expect(rcpt(MAX_REPORTED_VALUE + 1)).toEqual([]);
  expect(read(report(`User-Agent: ${'x'.repeat(MAX_USER_AGENT + 1)}`))?.userAgent).toHaveLength(
    MAX_USER_AGENT,
  );
});

test('a report behind the bytes that are read is not found', () => {
  const pad = (length: number) => report('').replace('\n--b\n', `\n${'x'.repeat(length)}\n--b\n`);
  expect(read(pad(MAX_REPORT_BYTES - 1000))).not.toBeNull();
  expect(read(pad(MAX_REPORT_BYTES))).toBeNull();
});

test('nothing is decompressed', () => {
  const bomb = gzipSync(report('')).toString('base64');
  for (const type of ['application/gzip', 'message/feedback-report', 'message/rfc822'])
    for (const extra of ['', 'Content-Encoding: gzip\n']) {
      const mail = `Content-Type: ${type}\n${extra}Content-Transfer-Encoding: base64\n\n${bomb}`;
      expect(read(mail)?.feedbackType ?? '').toBe('');
    }
});

test('a report in more containers than are opened is not found', () => {
  let mail = report('');
  for (let depth = 0; depth < 40; depth++)
    mail = `Content-Type: multipart/mixed; boundary=o${depth}.\n\n--o${depth}.\n${mail}\n--o${depth}.--`;
  expect(read(mail)).toBeNull();
});
