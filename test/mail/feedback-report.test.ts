import { expect, test } from 'vitest';
import type { Feedback, FeedbackToken } from '../../src/domain/feedback.ts';
import { type FeedbackReport, feedbackOfReport, readFeedbackReport } from '../../src/mail/feedback-report.ts';
import { readReportParts } from '../../src/mail/report-reading.ts';
import { AOL_AND_YAHOO, type FeedbackForm, type Said, TOKEN } from './feedback-forms.ts';
import { LOOP_SENDERS, MICROSOFT, VALIDITY } from './feedback-forms-loops.ts';
import { SERVICES } from './feedback-forms-services.ts';
import { STANDARDS, WRAPPINGS } from './feedback-forms-standards.ts';

/** Reads feedback reports as they are published. */

const FORMS: readonly FeedbackForm[] = [
  ...STANDARDS,
  ...AOL_AND_YAHOO,
  ...MICROSOFT,
  ...VALIDITY,
  ...SERVICES,
  ...WRAPPINGS,
];

const OURS: FeedbackToken = { id: 'msg_01', recipient: null };

function recognise(text: string): FeedbackToken | null {
  return text.includes(TOKEN) ? OURS : null;
}

/** What a report says, without what it does not say. */
function said(report: FeedbackReport): Said {
  const feedback = feedbackOfReport(report, recognise);
  const { token, providerMessageId, messageId } = feedback[0]?.message ?? {};
  const all: Readonly<Record<string, unknown>> = {
    form: report.form,
    kind: report.kind,
    type: report.feedbackType,
    agent: report.userAgent || null,
    mailFrom: report.originalMailFrom,
    whom: feedback.flatMap(({ recipient }) => recipient ?? []),
    ip: report.sourceIp,
    domains: report.reportedDomains,
    arrived: instant(report.arrivedAt),
    reported: instant(report.reportedAt),
    auth: report.authFailure,
    result: report.deliveryResult,
    path: report.returned?.reversePaths[0],
    messageId: messageId ?? report.returned?.messageId,
    providerId: providerMessageId,
    unsubscribe: report.returned?.unsubscribe,
    token: token === OURS ? TOKEN : null,
  };
  const isSaid = (value: unknown) =>
    value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(all).filter(([, value]) => isSaid(value)));
}

function instant(wallMs: number | null): string | null {
  return wallMs === null ? null : new Date(wallMs).toISOString();
}

function read(mail: string): FeedbackReport | null {
  return readFeedbackReport(readReportParts(Buffer.from(mail)));
}

test('there are forms of sixty kinds, each with its source', () => {
  expect(FORMS.length).toBeGreaterThanOrEqual(60);
  expect(FORMS.every(({ source }) => source.length > 10)).toBe(true);
  expect(new Set(FORMS.map(({ name }) => name)).size).toBe(FORMS.length);
});

test.each(FORMS)('$name', ({ mail, says }) => {
  const report = read(mail);
  expect(report).not.toBeNull();
  if (report !== null)
    expect(said(report)).toEqual({ form: 'arf', kind: 'complaint', type: 'abuse', ...says });
});

test.each(FORMS)('$name: the same whether lines end in LF or CRLF', ({ mail }) => {
  expect(read(mail.replaceAll(/\r?\n/g, '\r\n'))).toEqual(read(mail.replaceAll('\r\n', '\n')));
});

test.each(LOOP_SENDERS)('%s: the message alone is a complaint, too', (_, from) => {
  const mail = `From: Loop <${from}>\nContent-Type: message/rfc822\n\nMessage-ID: <1@example.com>\n\nHello`;
  expect(read(mail)).toMatchObject({
    form: 'loop',
    kind: 'complaint',
    returned: { messageId: '<1@example.com>' },
  });
  expect(read(mail.replace(from, `x${from}.example`))).toBeNull();
});

test('all feedback of a report has its kind, its source and its message', () => {
  for (const { mail } of FORMS) {
    const report = read(mail);
    const feedback: readonly Feedback[] = report === null ? [] : feedbackOfReport(report, recognise);
    for (const each of feedback)
      expect(each).toMatchObject({ kind: report?.kind, source: 'arf', message: feedback[0]?.message });
    expect(feedback.length === 0).toBe(report?.kind === 'unknown');
  }
});
