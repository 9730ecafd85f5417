import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FeedbackToken } from '../domain/feedback.ts';
import { type IncomingMail, readIncomingFeedback } from './incoming-feedback.ts';

// How each form is read is tested beside its reader; here, what becomes of it.

const TOKEN: FeedbackToken = { id: 'msg_01', recipient: 2 };

function read(text: string, mail: Partial<IncomingMail> = {}) {
  return readIncomingFeedback({ bytes: Buffer.from(text), reversePath: '', token: null, ...mail }, recognise);
}

function recognise(text: string): FeedbackToken | null {
  return text.startsWith('b-token@') ? { id: 'msg_02', recipient: null } : null;
}

function dsn(recipients: readonly string[], returned = 'Message-ID: <1@x.test>'): string {
  return `From: MAILER-DAEMON@mx.test
To: bounces@x.test
Date: Fri, 20 Nov 2026 11:15:00 +0000
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.test

${recipients.join('\n\n')}
--b
Content-Type: text/rfc822-headers

${returned}
--b--
`;
}

const FAILED = `Original-Recipient: rfc822;ann+2Bx@y.test
Final-Recipient: rfc822;box7@store.test
Action: failed
Status: 5.1.1
Diagnostic-Code: smtp; 550 5.1.1 no such user`;

test('a notification tells of each recipient, with every name that it may have', () => {
  const delayed = 'Final-Recipient: rfc822;bob@y.test\nAction: delayed\nStatus: 4.4.1';
  const relayed = 'Final-Recipient: rfc822;cat@y.test\nAction: relayed\nStatus: 2.0.0';
  const { form, feedback } = read(dsn([FAILED, delayed, relayed]), { token: TOKEN });
  const message = { token: TOKEN, id: null, providerMessageId: null, messageId: '<1@x.test>' };
  const common = { source: 'dsn', message, at: Date.UTC(2026, 10, 20, 11, 15) };
  expect(form).toBe('dsn');
  expect(feedback).toEqual([
    {
      ...common,
      kind: 'bounce',
      recipient: 'ann+2Bx@y.test',
      alternatives: ['ann+x@y.test', 'box7@store.test'],
      bounce: { type: null, code: 550, enhancedCode: '5.1.1', text: 'no such user' },
    },
    {
      ...common,
      kind: 'delayed',
      recipient: 'bob@y.test',
      bounce: { type: null, code: null, enhancedCode: '4.4.1', text: '' },
    },
    {
      ...common,
      kind: 'confirmation',
      recipient: 'cat@y.test',
      bounce: { type: null, code: null, enhancedCode: null, text: '' },
    },
  ]);
});

test.each(['failed', 'delayed', 'delivered', 'relayed', 'expanded'])(
  'the action %s has a meaning',
  (action) => {
    const { feedback } = read(dsn([`Final-Recipient: rfc822;a@y.test\nAction: ${action}`]));
    const kind = action === 'failed' ? 'bounce' : action === 'delayed' ? 'delayed' : 'confirmation';
    expect(feedback).toMatchObject([{ kind }]);
  },
);

test('a recipient of whom nothing is told is left out', () => {
  expect(read(dsn([FAILED, 'Final-Recipient: rfc822;a@y.test'])).feedback).toHaveLength(1);
});

test('without a token of its own the message is found by the returned header, else by whom it came to', () => {
  const tokenOf = (text: string, mail?: Partial<IncomingMail>) => read(text, mail).feedback[0]?.message.token;
  const returned = dsn([FAILED], 'Return-Path: <b-token@x.test>');
  expect(tokenOf(returned, { reversePath: null })).toEqual({ id: 'msg_02', recipient: null });
  expect(tokenOf(returned, { token: TOKEN })).toBe(TOKEN);
  const piped = dsn([FAILED]);
  expect(tokenOf(piped)).toBeNull();
  for (const name of ['To', 'Delivered-To', 'X-Original-To', 'Envelope-To'])
    expect(tokenOf(piped.replace('To: bounces@', `${name}: b-token@`))).toMatchObject({ id: 'msg_02' });
});

test('the id of Amazon SES is told by the Message-ID that it gave', () => {
  const id = '0100015bbbe8eeee-22222222-0000-eeee-ffff-222222222222-000000';
  expect(read(dsn([FAILED], `Message-ID: <${id}@eu-west-1.amazonses.com>`)).feedback).toMatchObject([
    { message: { providerMessageId: id } },
  ]);
  expect(read(dsn([FAILED], `Message-ID: <${id}@amazonses.com.y.test>`)).feedback).toMatchObject([
    { message: { providerMessageId: null } },
  ]);
});

test('a bounce in words is a bounce', () => {
  const words = 'From: MAILER-DAEMON@mx.test\n\n<ann@y.test>:\n550 5.1.1 no such user\n';
  expect(read(words, { token: TOKEN })).toMatchObject({
    form: 'bounce',
    feedback: [{ kind: 'bounce', source: 'dsn', message: { token: TOKEN }, bounce: { code: 550 } }],
  });
});

test('an automatic reply is an event only', () => {
  const reply = 'From: ann@y.test\nAuto-Submitted: auto-replied\nSubject: Away\n\nBack on Monday.';
  expect(read(reply, { token: TOKEN })).toMatchObject({
    form: 'reply',
    feedback: [{ kind: 'reply', recipient: null, message: { token: TOKEN }, at: null }],
  });
});

test('what is nothing known tells nothing', () => {
  expect(read('From: ann@y.test\n\nHello', { reversePath: 'ann@y.test', token: TOKEN })).toEqual({
    form: 'undetermined',
    feedback: [],
  });
});

test('a complaint about a notification is a complaint', () => {
  const complaint = `Content-Type: multipart/report; report-type=feedback-report; boundary=c

--c
Content-Type: message/feedback-report

Feedback-Type: abuse
--c
Content-Type: message/rfc822

${dsn([FAILED])}
--c--`;
  expect(read(complaint)).toMatchObject({
    form: 'arf',
    feedback: [{ kind: 'complaint', source: 'arf', recipient: null }],
  });
});

test('a notification that returns a complaint is a notification', () => {
  const inner = 'Content-Type: message/feedback-report\n\nFeedback-Type: abuse\n';
  const text = dsn([FAILED])
    .replace('text/rfc822-headers', 'message/rfc822')
    .replace('Message-ID: <1@x.test>', inner);
  expect(read(text).form).toBe('dsn');
});

test('any bytes are read', () => {
  const line = fc.constantFrom(
    'From: MAILER-DAEMON@y.test',
    '',
    '--b',
    'Final-Recipient: rfc822;a@y.test',
    'Action: failed',
    'Content-Type: message/delivery-status',
    'Content-Type: multipart/report; boundary=b',
    'Feedback-Type: abuse',
    '550 5.1.1 x',
  );
  const text = fc.array(line, { maxLength: 12 }).map((lines) => Buffer.from(lines.join('\n')));
  fc.assert(
    fc.property(
      fc.oneof(fc.uint8Array({ maxLength: 300 }), text),
      fc.option(fc.string()),
      (bytes, reversePath) => {
        const { form, feedback } = readIncomingFeedback({ bytes, reversePath, token: null }, recognise);
        return form !== 'undetermined' || feedback.length === 0;
      },
    ),
    { numRuns: 1000 },
  );
});
