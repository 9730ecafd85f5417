import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FeedbackToken } from '../../src/domain/feedback.ts';
import { parseAddress } from '../../src/domain/mailbox.ts';
import {
  MAX_REPORTED_DOMAINS,
  MAX_REPORTED_RECIPIENTS,
  MAX_REPORTED_VALUE,
  MAX_UNSUBSCRIBE_URIS,
  MAX_USER_AGENT,
} from '../../src/mail/feedback-fields.ts';
import { type FeedbackReport, feedbackOfReport, readFeedbackReport } from '../../src/mail/feedback-report.ts';
import { MAX_REPORT_BYTES, readReportParts } from '../../src/mail/report-reading.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { textOf } from './inputs.ts';
import { inTime } from './processor-time.ts';

/** Complaints as any program or attacker may send them to us. */

const value = textOf(
  ...(['abuse', 'not-spam', 'auth-failure', '<a@y.test>', 'a@y.test', 'b-token@x.test', ', ', '<>'] as const),
  ...[
    '<1@x.test>',
    'Fri, 20 Nov 2026 11:15:00 +0000',
    '192.0.2.1',
    'y.test',
    '(',
    ')',
    '"',
    '<',
    '>',
    ';',
    '\r\n ',
  ],
  ...[
    'smtp.mailfrom=',
    'envelope-from=',
    'mailto:u-token@x.test',
    'rfc822;',
    '@',
    '\\',
    '7',
    'EST',
    '[IPv6:::1]',
  ],
);
const field = fc
  .tuple(
    fc.constantFrom(
      ...['Feedback-Type', 'Original-Mail-From', 'Original-Rcpt-To', 'Removal-Recipient', 'Arrival-Date'],
      ...[
        'Source-IP',
        'Reported-Domain',
        'Incidents',
        'User-Agent',
        'Auth-Failure',
        'Message-ID',
        'Date',
        'From',
      ],
      ...['Return-Path', 'Authentication-Results', 'Received-SPF', 'List-Unsubscribe', 'Delivered-To', 'To'],
      ...['X-HmXmrOriginalRecipient', 'X-Loop', 'X-PM-Message-Id', 'Content-Transfer-Encoding'],
    ),
    fc.constantFrom(': ', ':', ' : ', ''),
    value,
  )
  .map((parts) => parts.join(''));
const line = fc.oneof(
  { weight: 6, arbitrary: field },
  {
    weight: 5,
    arbitrary: fc.constantFrom(
      ...[
        '',
        '',
        '--b',
        '--b--',
        '--c',
        'Feedback-Type: abuse',
        'Content-Type: multipart/report; boundary=b',
      ],
      ...['Content-Type: message/feedback-report', 'Content-Type: message/rfc822', 'X-Loop: scomp'],
      ...['Content-Type: text/rfc822-headers', 'From: staff@hotmail.com'],
    ),
  },
);
const message = fc
  .tuple(fc.boolean(), fc.array(line, { maxLength: 30 }), fc.constantFrom('\r\n', '\n'))
  .map(([isReport, lines, end]) => Buffer.from([...(isReport ? REPORT : []), ...lines].join(end)));
// biome-ignore format: a message, line by line
const REPORT = [
  'Content-Type: multipart/report; boundary=b', '', '--b',
  'Content-Type: message/feedback-report', '', 'Feedback-Type: abuse',
];

const TOKEN: FeedbackToken = { id: 'msg_01', recipient: null };

function isAddress(text: string): boolean {
  const parsed = parseAddress(text);
  return parsed.ok && parsed.value.address === text;
}

/** What must be so of a report, whatever was in the message. */
function check(report: FeedbackReport): void {
  const { returned } = report;
  const addresses = [
    ...report.recipients,
    ...[report.originalMailFrom, returned?.from, returned?.deliveredTo].filter((one) => one),
    ...(returned ? [...returned.to, ...returned.reversePaths] : []),
  ];
  expect(addresses.filter((address) => !isAddress(address ?? ''))).toEqual([]);
  expect(report.recipients.length).toBeLessThanOrEqual(MAX_REPORTED_RECIPIENTS);
  expect(returned?.to.length ?? 0).toBeLessThanOrEqual(MAX_REPORTED_RECIPIENTS);
  expect(report.reportedDomains.length).toBeLessThanOrEqual(MAX_REPORTED_DOMAINS);
  expect(returned?.unsubscribe.length ?? 0).toBeLessThanOrEqual(MAX_UNSUBSCRIBE_URIS);
  expect(report.userAgent.length).toBeLessThanOrEqual(MAX_USER_AGENT);
  const texts = [
    report.feedbackType,
    report.sourceIp,
    report.authFailure,
    report.deliveryResult,
    report.messageId,
  ];
  const ids = [returned?.messageId, returned?.providerMessageId, ...(returned?.unsubscribe ?? [])];
  for (const text of [...texts, ...ids, ...report.reportedDomains]) {
    expect(text ?? '').toMatch(/^[!-~]*$/);
    expect(text?.length ?? 0).toBeLessThanOrEqual(MAX_REPORTED_VALUE);
  }
  expect(report.userAgent).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  for (const time of [report.arrivedAt, report.reportedAt])
    expect(time === null || Number.isSafeInteger(time)).toBe(true);
  expect(report.incidents).toBeGreaterThanOrEqual(1);
}

test('a message is a report within its bounds, or none, and feedback follows from its kind', () =>
  fuzz(
    'feedback report',
    { made: message, corpus: corpus('feedback-reports', (bytes) => bytes) },
    (bytes) => {
      const before = Buffer.from(bytes);
      const report = readFeedbackReport(readReportParts(bytes));
      expect(bytes.equals(before)).toBe(true);
      if (report === null) return false;
      check(report);
      const asked: string[] = [];
      const feedback = feedbackOfReport(report, (text) => {
        asked.push(text);
        return text.includes('b-token') ? TOKEN : null;
      });
      expect(asked.every((text) => text !== '' && text.length <= MAX_REPORTED_VALUE)).toBe(true);
      expect(feedback.length === 0).toBe(report.kind === 'unknown');
      expect(new Set(feedback.map(({ recipient }) => recipient)).size).toBe(feedback.length);
      expect(feedback.every(({ oneOfSeveral }) => (oneOfSeveral === true) === feedback.length > 1)).toBe(
        true,
      );
      return true;
    },
  ));

test('no report is slow, however odd', () => {
  const part = 'Content-Type: multipart/report; boundary=b\n\n--b\nContent-Type: message/feedback-report\n\n';
  const returned = `${part}Feedback-Type: abuse\n--b\nContent-Type: text/rfc822-headers\n\n`;
  const starts = [
    '',
    part,
    returned,
    'Content-Type: message/feedback-report\nContent-Transfer-Encoding: base64\n\n',
    `${part}Original-Rcpt-To: `,
    `${part}Original-Mail-From: `,
    `${part}Arrival-Date: `,
    `${part}Reported-Domain: `,
    `${returned}Authentication-Results: `,
    `${returned}List-Unsubscribe: `,
    `${returned}To: `,
    `${returned}Message-ID: `,
  ];
  // biome-ignore format: a list of short ones
  const units = [
    '--b\n', '--b\n\n', '--b\nContent-Type: message/rfc822\n\n', '--b\nContent-Type: multipart/mixed; boundary=b\n\n',
    'Original-Rcpt-To: a@y.test\n', 'Reported-Domain: y.test\n', 'To: a@y.test\n', 'A:\n', 'x\n', '\n ',
    'a@y.test,', '(', ')', '"', '<', '<>', '\\', ' ', ',', ';', 'smtp.mailfrom=', 'QUJD\n', '=41', '\u00fc', '1 ',
  ];
  for (const start of starts)
    for (const unit of units) {
      const bytes = Buffer.from(start + unit.repeat(MAX_REPORT_BYTES / Buffer.byteLength(unit)));
      inTime(JSON.stringify(start.slice(-60) + unit), () => {
        const report = readFeedbackReport(readReportParts(bytes));
        if (report !== null) feedbackOfReport(report, () => null);
      });
    }
});
