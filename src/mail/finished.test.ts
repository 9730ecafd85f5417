import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatMailbox, parseMailbox } from '../domain/mailbox.ts';
import { atOnce, SLICE_BYTES } from '../lib/clock.ts';
import { seededRandom } from '../lib/random.ts';
import { compose } from './compose.ts';
import { readFinished, toWireLines } from './finished.ts';

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

const MAX = 1000_000;
const wireLines = (bytes: Buffer, maxBytes = MAX) => atOnce(toWireLines(bytes, maxBytes));

/** The wire form as text, or the fault as `code detail`. */
function wire(text: string | Buffer): string {
  const result = wireLines(Buffer.from(text));
  if (result.kind === 'wire') return result.message.bytes.toString('latin1');
  return result.kind === 'faulty' ? `${result.fault.code}: ${result.fault.detail}` : result.kind;
}

test.each([
  ['', ''],
  ['a', 'a\r\n'],
  ['a\n', 'a\r\n'],
  ['a\r\n', 'a\r\n'],
  ['a\n\nb', 'a\r\n\r\nb\r\n'],
  ['a\r\n\r\nb', 'a\r\n\r\nb\r\n'],
  ['\n', '\r\n'],
  ['\r\n', '\r\n'],
])('%j becomes %j', (given, expected) => expect(wire(given)).toBe(expected));

test.each([
  ['a\r\nb\nc\r\n', /^mixed_line_endings: Line 2 /],
  ['a\nb\nc\r\n', /^mixed_line_endings: Line 3 /],
  ['a\r\nb\rc\r\n', /^bare_cr: Line 2 /],
  ['a\r', /^bare_cr: Line 1 /],
  ['a\nb\r', /^bare_cr: Line 2 /],
  ['a\r\r\n', /^bare_cr: Line 1 /],
  ['a\nb\rc\n', /^bare_cr: Line 2 /],
  ['a\n\nb\0c\n', /^nul: Line 3 /],
  ['\0', /^nul: Line 1 /],
  [`a\n${'x'.repeat(999)}\n`, /^line_too_long: Line 2 /],
  [`${'x'.repeat(999)}`, /^line_too_long: Line 1 /],
])('%# is refused, with its line', (given, expected) => expect(wire(given)).toMatch(expected));

test.each(['\n', '\r\n'])('a line of 998 bytes is taken before %j', (end) =>
  expect(wire(`${'x'.repeat(998)}${end}`)).toHaveLength(1000),
);

test('what is in wire form already is the same memory', () => {
  const bytes = Buffer.from('a\r\nb\r\n');
  const result = wireLines(bytes);
  expect(result.kind === 'wire' && result.message.bytes).toBe(bytes);
});

test('for any bytes: refused, or only CRLF, ended, and the same lines', () => {
  const unit = fc.constantFrom('\r', '\n', '\r\n', 'a', '\0', '.', 'é', '\r\n\r\n');
  const property = fc.property(fc.string({ unit, maxLength: 30 }), (text) => {
    const bytes = Buffer.from(text);
    const result = wireLines(bytes);
    if (result.kind !== 'wire') return;
    const out = result.message.bytes.toString('latin1');
    expect(result.message.hasLeadingDot).toBe(/(?:^|\r\n)\./.test(out));
    expect(out.replaceAll('\r\n', '')).not.toMatch(/[\r\n\0]/);
    expect(out === '' || out.endsWith('\r\n')).toBe(true);
    const lines = (value: string) => value.replace(/\r?\n$/, '').split(/\r?\n/);
    expect(lines(out)).toEqual(lines(bytes.toString('latin1')));
  });
  fc.assert(property, { numRuns: 10_000 });
});

test('what would grow beyond its limit is told its size, and not made', () => {
  expect(wireLines(Buffer.from('a\nb'), 6).kind).toBe('wire');
  expect(wireLines(Buffer.from('a\nb'), 5)).toEqual({ kind: 'too_large', sizeBytes: 6 });
  expect(wireLines(Buffer.from('a\r\nb\r\n'), 5)).toEqual({ kind: 'too_large', sizeBytes: 6 });
});

test.each(['\n', '\r\n', 'a\n'])('long text of %j is read in slices, and as one', (unit) => {
  const text = Buffer.from(unit.repeat(Math.ceil((2.5 * SLICE_BYTES) / unit.length)));
  const work = toWireLines(text, 10 * SLICE_BYTES);
  let turns = 0;
  let step = work.next();
  for (; !step.done; step = work.next()) turns += 1;
  expect(turns).toBeGreaterThanOrEqual(2);
  const plain = text.toString('latin1').replace(/\r?\n/g, '\r\n');
  expect(step.value.kind === 'wire' && step.value.message.bytes.equals(Buffer.from(plain))).toBe(true);
});
