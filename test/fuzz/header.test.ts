import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atOnce } from '../../src/lib/clock.ts';
import { writeCustomHeader } from '../../src/mail/compose.ts';
import { decodeWords } from '../../src/mail/field-values.ts';
import { readFinished, toWireLines } from '../../src/mail/finished.ts';
import { changeHeader, readHeader } from '../../src/mail/header-block.ts';
import { checkHeader, checkSubject } from '../../src/mail/headers.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { textOf } from './inputs.ts';
import { inLinearTime } from './processor-time.ts';

/** Header fields that clients give, and whole headers that they finished. */

const name = fc.oneof(
  fc.constantFrom(
    'X-A',
    'Reply-To',
    'Date',
    'Message-ID',
    'References',
    'List-Id',
    'Subject',
    'Sender',
    'x'.repeat(76),
  ),
  textOf('X', '-', ':', 'a'),
);
const value = textOf(
  'word',
  ' ',
  'a@x.org',
  '<a@x.org>',
  '"',
  ',',
  '=?utf-8?q?',
  '?=',
  '=20',
  'Fri, 20 Nov 2026 11:15:00 +0000',
  'ü',
  'x'.repeat(90),
  '\t',
);

/** Name and value of an example. */
function fieldOf(bytes: Buffer): [name: string, value: string] {
  const text = bytes.toString();
  const colon = text.indexOf(':');
  return colon < 0 ? ['X-A', text] : [text.slice(0, colon), text.slice(colon + 1)];
}

const fields = { made: fc.tuple(name, value), corpus: corpus('header-field', fieldOf) };
const subjects = { made: value, corpus: corpus('header-field', (bytes) => fieldOf(bytes)[1]) };

test('a header field is refused, or written on lines that nothing can be added to', () =>
  fuzz('header field', fields, ([given, text]) => {
    if (checkHeader(given, text) !== null) return false;
    const written = writeCustomHeader([given, text]);
    expect(written.startsWith(`${given}:`)).toBe(true);
    expect(written.endsWith('\r\n')).toBe(true);
    for (const line of written.slice(0, -2).split('\r\n').slice(1)) expect(line).toMatch(/^[ \t]+\S/);
    expect(written.replaceAll('\r\n', '')).not.toMatch(/[\r\n\0]/);
    expect(Math.max(...written.split('\r\n').map((line) => Buffer.byteLength(line)))).toBeLessThanOrEqual(
      998,
    );
    const read = readHeader(Buffer.from(`${written}\r\n`), 1_000_000);
    expect(read.ok && read.header.fields.map((field) => field.name)).toEqual([given]);
    return true;
  }));

test('a subject is refused, or stays on one line', () =>
  fuzz('subject', subjects, (text) => {
    if (checkSubject(text) !== null) return false;
    expect(text).not.toMatch(/[\r\n\0]/);
    return true;
  }));

test('encoded words become one line of text, and plain text stays as it is', () =>
  fuzz(
    'encoded words',
    {
      made: textOf(
        '=?utf-8?',
        'Q?',
        'B?',
        '=C3=A9',
        'w6k=',
        '?=',
        ' ',
        'a',
        '_',
        '=?iso-8859-1*de?q?',
        '=E4',
      ),
      corpus: corpus('header-field', (bytes) => fieldOf(bytes)[1]),
    },
    (text) => {
      const decoded = decodeWords(text);
      expect(decoded).not.toMatch(/[\0-\x1f\x7f-\x9f]/);
      if (!text.includes('=?')) expect(decoded).toBe(text.replace(/[\0-\x1f\x7f-\x9f]+/g, ' '));
      return decoded !== text;
    },
  ));

const line = fc.constantFrom(
  'From: a@x.org',
  'From: a@x.org, b@y.org',
  'Sender: c@z.org',
  'To: b@x.org',
  'Subject: =?utf-8?q?J=C3=B6rg?=',
  'Message-ID: <a@b>',
  'Date: x',
  'Date: Fri, 20 Nov 2026 11:15:00 +0000',
  'X-A: b',
  ' folded',
  '\tfolded',
  ' ',
  'no colon',
  'X-Waybill-Tag: a',
  'Bcc: hidden@x.org',
  '',
  'Körper',
  'X-B: ü',
  ': x',
  '.',
);
const goodLine = fc.constantFrom(
  'To: b@x.org',
  'Subject: x',
  'X-A: b',
  ' folded',
  'X-B: ü',
  'Bcc: hidden@x.org',
);
const message = fc
  .tuple(
    fc.oneof(
      fc.array(line, { maxLength: 7 }),
      fc.array(goodLine, { maxLength: 3 }).map((lines) => ['From: a@x.org', ...lines]),
    ),
    fc.constantFrom('\r\n', '\r\n', '\n'),
    textOf('\r\n', 'X: y', '.', '\r'),
    fc.boolean(),
  )
  .map(([lines, end, body, plain]) => Buffer.from([...lines, '', plain ? 'Hi.' : body].join(end)));

const messages = { made: message, corpus: corpus('messages', (bytes) => bytes) };

const SMALL = { maxMessageBytes: 4000, maxHeaders: 20, maxHeaderBytes: 1000 };

test('a finished message is refused, or comes out whole, in lines that are safe to send', () =>
  fuzz('finished message', messages, (bytes) => {
    const read = atOnce(readFinished(bytes, SMALL));
    if (read.kind !== 'read') {
      if (read.kind === 'faulty') expect(read.faults.length).toBeGreaterThan(0);
      return false;
    }
    const { message: found } = read;
    const wire = found.bytes.toString('latin1');
    expect(wire.endsWith('\r\n')).toBe(true);
    expect(wire.replaceAll('\r\n', '')).not.toMatch(/[\r\n\0]/);
    expect(found.from).not.toBe('');
    expect(found.subject).not.toMatch(/[\r\n]/);
    const again = atOnce(readFinished(found.bytes, SMALL));
    expect(again).toEqual(read);
    return true;
  }));

test('the fields of a header lie side by side, and changing nothing changes nothing', () =>
  fuzz('header block', messages, (bytes) => {
    const lines = atOnce(toWireLines(bytes, 100_000));
    if (lines.kind !== 'wire') return false;
    const wire = lines.message.bytes;
    const read = readHeader(wire, 10_000);
    if (!read.ok) return false;
    const { header } = read;
    let at = 0;
    for (const { start, end, value: text } of header.fields) {
      expect(start).toBe(at);
      expect(text).not.toMatch(/[\r\n]/);
      at = end;
    }
    expect(at).toBe(header.sizeBytes);
    const same = changeHeader(wire, header, { prepend: '', each: (field) => field });
    expect(Buffer.concat(same).equals(wire)).toBe(true);
    const none = changeHeader(wire, header, { prepend: 'A: b\r\n', each: () => null });
    expect(Buffer.concat(none).toString('latin1')).toBe(
      `A: b\r\n${wire.toString('latin1', header.sizeBytes)}`,
    );
    return header.fields.length > 0;
  }));

const LONG_UNITS = [
  '=?utf-8?q?',
  '=?',
  '?=',
  ' ',
  '=?a?b?',
  '=?utf-8?q?a?= ',
  ':',
  '\n',
  '\r\n',
  '\n ',
  'A:\r\n',
  'A: b\r\n ',
  'From:a@b\r\n',
];

test('long hostile text takes linear time', () =>
  inLinearTime(LONG_UNITS, (text) => {
    decodeWords(text);
    checkHeader('X-A', text);
    checkHeader('References', text);
    checkHeader('Date', text);
    atOnce(
      readFinished(Buffer.from(text), { ...SMALL, maxMessageBytes: 1_000_000, maxHeaderBytes: 1_000_000 }),
    );
  }));
