import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatMailbox, parseMailbox } from '../domain/mailbox.ts';
import { atOnce } from '../lib/clock.ts';
import { seededRandom } from '../lib/random.ts';
import { compose } from './compose.ts';
import { readFinished } from './finished.ts';

const LIMITS = { maxMessageBytes: 10_000_000, maxHeaders: 50, maxHeaderBytes: 64 * 1024 };
const read = (bytes: Buffer) => atOnce(readFinished(bytes, LIMITS));
const text = (max: number) =>
  fc
    .string({ unit: 'grapheme', maxLength: max })
    .map((value) => value.replace(/[\p{C}\p{Z}]+/gu, ' ').trim());

test('what we compose, we would take, and read back as it was meant', () => {
  const property = fc.property(text(60), text(300), text(500), (name, subject, body) => {
    const parsed = parseMailbox(formatMailbox({ name: name || null, address: 'jane@example.com' }));
    fc.pre(parsed.ok);
    const from = parsed.value;
    const draft = { from, to: [from], cc: [], subject, text: body, html: null, headers: [], attachments: [] };
    const { chunks, flags } = atOnce(
      compose(draft, { date: 0, messageId: '<1@x.test>', random: seededRandom(1) }),
    );
    const bytes = Buffer.concat(chunks);
    const found = read(bytes);
    if (found.kind !== 'read') throw new Error(JSON.stringify(found));
    const { message } = found;
    expect(message.bytes).toBe(bytes);
    expect(message).toMatchObject({
      from: formatMailbox(from),
      subject,
      messageId: '<1@x.test>',
      hasDate: true,
      flags,
    });
  });
  fc.assert(property, { numRuns: 500 });
});

test('any bytes are taken or refused with their faults, and never change the body of what is taken', () => {
  const unit = fc.constantFrom(
    'From:',
    ' a@x.test',
    'Sender:',
    'Bcc:',
    '\r\n',
    '\n',
    '\r\n\r\n',
    ' ',
    ',',
    '<',
    '"',
    'é',
    '\0',
    '=?utf-8?Q?',
    'x',
  );
  const property = fc.property(fc.string({ unit, maxLength: 40 }), (given) => {
    const bytes = Buffer.from(given);
    const found = read(bytes);
    if (found.kind !== 'read') {
      expect(found.kind === 'faulty' && found.faults.length).toBeGreaterThan(0);
      return;
    }
    const { from, header } = found.message;
    expect(from).not.toBe('');
    expect(header.fields.filter(({ lowerName }) => lowerName === 'from')).toHaveLength(1);
    const crlf = bytes
      .toString('latin1')
      .replace(/\r?\n/g, '\r\n')
      .replace(/(?<!\n)$/, '\r\n');
    expect(found.message.bytes.toString('latin1')).toBe(crlf);
  });
  fc.assert(property, { numRuns: 10_000 });
});

test('hostile sizes are refused without being taken apart', () => {
  const lines = (line: string) => Buffer.from(line.repeat(200_000));
  for (const line of ['A: b\r\n', ' \r\n', 'From: a@x.test\r\n', '\r'])
    expect(read(lines(line)).kind).toBe('faulty');
});

test('what the message needs of a hop is told without the fields that are not sent', () => {
  const flagsOf = (text: string) => {
    const found = read(Buffer.from(text));
    return found.kind === 'read' && found.message.flags;
  };
  const plain = { eightBit: false, utf8: false, dotStuffing: false };
  expect(flagsOf('From: a@x.test\nBcc: é@x.test\nResent-Bcc: é@x.test\n\nHi.\n')).toEqual(plain);
  expect(flagsOf('From: a@x.test\nBcc: b@x.test\nX-A: é\n\nHi.\n')).toEqual({
    ...plain,
    eightBit: true,
    utf8: true,
  });
  expect(flagsOf('From: a@x.test\nBcc: é@x.test\n\né\n.\n')).toEqual({
    eightBit: true,
    utf8: false,
    dotStuffing: true,
  });
});

test.each([
  ['Date: Fri, 20 Nov 2026 10:00:00 +0100 (CET)', true],
  ['Date: Fri,\r\n  20 Nov 2026 10:00:00 +0100', true],
  ['Date:', false],
  ['X-A: b', false],
])('%j: has a date: %s', (line, hasDate) => {
  const found = read(Buffer.from(`From: a@x.test\r\n${line}\r\n\r\n`));
  expect(found.kind === 'read' && found.message.hasDate).toBe(hasDate);
});

test.each(['tomorrow', 'Thu, 20 Nov 2026 10:00:00 +0100', '2026-11-20T10:00:00Z'])(
  'Date: %s is refused',
  (date) => {
    const found = read(Buffer.from(`From: a@x.test\r\nDate: ${date}\r\n\r\n`));
    expect(found.kind === 'faulty' && found.faults).toMatchObject([{ field: 'Date', code: 'header_date' }]);
  },
);
