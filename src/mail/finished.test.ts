import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatMailbox, parseMailbox } from '../domain/mailbox.ts';
import { seededRandom } from '../lib/random.ts';
import { compose } from './compose.ts';
import { authorsOf, readFinished } from './finished.ts';

const LIMITS = { maxHeaders: 50, maxHeaderBytes: 64 * 1024 };
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
    const { chunks, flags } = compose(draft, { date: 0, messageId: '<1@x.test>', random: seededRandom(1) });
    const bytes = Buffer.concat(chunks);
    const read = readFinished(bytes, LIMITS);
    if (!read.ok) throw new Error(JSON.stringify(read.faults));
    const { message } = read;
    expect(message.bytes).toBe(bytes);
    expect(message).toMatchObject({
      from: formatMailbox(from),
      subject,
      messageId: '<1@x.test>',
      hasDate: true,
      flags,
    });
    expect(authorsOf(message.header.fields).map(({ address }) => address)).toEqual(['jane@example.com']);
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
    const read = readFinished(bytes, LIMITS);
    if (!read.ok) {
      expect(read.faults.length).toBeGreaterThan(0);
      return;
    }
    const { authors, header } = read.message;
    expect(authors.length).toBeGreaterThan(0);
    expect(header.fields.filter(({ lowerName }) => lowerName === 'from')).toHaveLength(1);
    const crlf = bytes
      .toString('latin1')
      .replace(/\r?\n/g, '\r\n')
      .replace(/(?<!\n)$/, '\r\n');
    expect(read.message.bytes.toString('latin1')).toBe(crlf);
  });
  fc.assert(property, { numRuns: 10_000 });
});

test('hostile sizes are refused without being taken apart', () => {
  const lines = (line: string) => Buffer.from(line.repeat(200_000));
  for (const line of ['A: b\r\n', ' \r\n', 'From: a@x.test\r\n', '\r'])
    expect(readFinished(lines(line), LIMITS).ok).toBe(false);
});
