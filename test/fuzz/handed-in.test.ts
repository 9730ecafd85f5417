import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Origin } from '../../src/ingest/smtp/origin.ts';
import { buildSubmission } from '../../src/ingest/smtp/submission.ts';
import { readHeader } from '../../src/mail/header-block.ts';
import type { TakenEnvelope } from '../../src/smtp/receiver/effect.ts';
import { boundTo, CONTEXT, mailboxOf, reversePathOf } from '../support/handing-in.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { cutAt, inCrlf, textOf } from './inputs.ts';
import { inTime } from './processor-time.ts';

/** Messages as any device, script or attacker may hand them in over SMTP. */

const LIMIT = 256 * 1024;

const bound = boundTo('x.test', ['paper']);
const stranger: Origin = { ...bound, source: null, allowed: false };
const envelope: TakenEnvelope = {
  reversePath: reversePathOf('a@x.test'),
  forwardPaths: [
    { mailbox: mailboxOf('b@y.test'), notify: null, orcpt: null },
    { mailbox: null, notify: null, orcpt: null },
  ],
};

const name = fc.constantFrom(
  ...[
    'From',
    'from ',
    'Sender',
    'Subject',
    'To',
    'Cc',
    'Bcc',
    'Resent-Bcc',
    'Date',
    'Message-ID',
    'Received',
  ],
  ...[
    'X-Waybill-Tag',
    'X-Waybill-Send-At',
    'X-Waybill-Metadata-a',
    'X-Waybill-Foo',
    'Idempotency-Key',
    'x-waybill-',
  ],
  ...['', ' ', 'Ä', 'From a@x.test Fri Nov 20 11:15:00 2026', 'A B', '\x01', 'X\x7f'],
);
const value = textOf(
  ...([
    'a@x.test',
    '<a@x.test>',
    'evil@z.test',
    '"',
    '(',
    ')',
    ',',
    ';',
    '\\',
    ' ',
    '\t',
    ':',
    'b@y.test',
  ] as const),
  ...[
    '=?utf-8?q?=C3=A4?=',
    '=?',
    '=?x?b?',
    '\r\n ',
    '\r\n\t\r\n',
    '\r\n',
    '2026-11-20T12:15:00Z',
    'bulk',
    '\x00',
  ],
);
const fieldLine = fc.tuple(name, fc.constantFrom(':', ': ', ' :', ''), value).map((parts) => parts.join(''));
const message = fc
  .tuple(fc.array(fieldLine, { maxLength: 8 }), textOf('\r\n', 'Bcc: body', '.', 'From: z', 'é'))
  .map(([lines, body]) => wire([...lines, '', body].join('\r\n')));

/** As the receiver gives it: CRLF lines, the last one ended, no NUL, no bare CR or LF; bytes in any charset. */
function wire(text: string): Buffer {
  const lines = `${inCrlf(text.replaceAll('\0', ''))}\r\n`;
  const isLatin1 = text.length % 3 === 0;
  return isLatin1 ? Buffer.from(lines.replace(/[^\x01-\xff]/g, 'ü'), 'latin1') : Buffer.from(lines);
}

/** What follows the header: all behind the first blank line, and from the first line on that is no field, if that comes first. */
function bodyOf(text: string): string {
  const lines = text.split('\r\n');
  const end = lines.findIndex((line, place) => !FIELD.test(line) && !isMore(line, place, lines[0] ?? ''));
  return lines.slice(lines[end] === '' ? end + 1 : end).join('\r\n');
}

const FIELD = /^[!-9;-~]+[ \t]*:/;
const MAILBOX_LINE = /^>?From \S+ .*\d\d:\d\d/;

/** Goes on with the line before; or tells messages of a mailbox file apart, as the first line alone does. */
function isMore(line: string, place: number, first: string): boolean {
  if (place === 0) return MAILBOX_LINE.test(first.slice(0, 200));
  return /^[ \t]/.test(line);
}

const GONE = /^(?:resent-)?bcc$|^x-waybill-|^idempotency-key$/i;

test('what is handed in is refused with a reply, or goes on with nothing that is ours or hidden, and its whole body', () =>
  fuzz(
    'message handed in',
    {
      made: fc.tuple(message, fc.array(fc.nat(400), { maxLength: 4 }), fc.boolean()),
      corpus: corpus('messages', (bytes, dice): [Buffer, number[], boolean] => [
        wire(bytes.toString('latin1')),
        dice.numbers(4),
        dice.once(2),
      ]),
    },
    ([bytes, places, isBound]) => {
      const chunks = cutAt(bytes, places);
      const content = { chunks, sizeBytes: bytes.length, dotStuffing: true };
      const built = buildSubmission(envelope, content, isBound ? bound : stranger, CONTEXT);
      if (!built.ok) {
        expect([550, 552, 554]).toContain(built.refusal.reply.code);
        return false;
      }
      const { submission } = built;
      const sent = Buffer.concat(submission.content.chunks);
      expect(sent.length).toBe(submission.content.sizeBytes);
      const text = sent.toString('latin1');
      expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n\0]/);
      const end = text.indexOf('\r\n\r\n');
      const header = end < 0 ? text : text.slice(0, end + 2);
      const fields = header
        .replace(/\r\n[ \t]/g, '')
        .split('\r\n')
        .slice(0, -1);
      expect(fields.filter((field) => !FIELD.test(field))).toEqual([]);
      const names = fields.map((field) => field.split(':')[0]?.trim().toLowerCase());
      expect(names.filter((name) => GONE.test(name ?? ''))).toEqual([]);
      expect(names[0]).toBe('received');
      expect(names).toEqual(expect.arrayContaining(['date', 'message-id']));
      expect(text.slice(header.length + 2)).toBe(bodyOf(bytes.toString('latin1')));
      const { header: summary } = submission;
      expect(`${summary.from}${summary.subject}${summary.messageId}`).not.toMatch(/[\0-\x1f\x7f]/);
      if (isBound && readHeader(sent, LIMIT).ok)
        expect(header).not.toMatch(/^(?:from|sender)[ \t]*: *evil@z/im);
      return true;
    },
  ));

test('no header is slow, however odd', () => {
  const units = [
    'A:\r\n',
    'From:a@x.test\r\n',
    'Sender: (\r\n',
    'Bcc:a\r\nA:\r\n',
    ' \r\n',
    'X-Waybill-Tag: a\r\n',
    'x\r\n',
    '(',
    ')',
    '"',
    '\\',
    '=?utf-8?q?a?= ',
    '=?',
    ',',
    'a@b.test,',
    '<',
    ' ',
    '@',
    'é',
    '\r\n ',
    'Received:\r\n',
  ];
  for (const start of [
    '',
    'From: ',
    'To: ',
    'Subject: ',
    'Message-ID: ',
    'X-Waybill-Metadata-a: ',
    'From a@b ',
  ])
    for (const unit of units) {
      const bytes = wire(start + unit.repeat((LIMIT - 50) / Buffer.byteLength(unit)));
      const content = {
        chunks: cutAt(bytes, [1, 70_000, 200_000]),
        sizeBytes: bytes.length,
        dotStuffing: true,
      };
      inTime(JSON.stringify(start + unit), () => void buildSubmission(envelope, content, bound, CONTEXT));
    }
});
