/** What is done with any message on its way out: the form for old servers, what is signed, what a report returns. */

import { isAscii } from 'node:buffer';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atOnce } from '../../src/lib/clock.ts';
import { relaxedBodyHash, relaxedField } from '../../src/mail/dkim-canonical.ts';
import { toSevenBit } from '../../src/mail/seven-bit.ts';
import { bodyHashOf, readLetter, withoutFields } from '../../src/signing/signer.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { cutAt, eachByte, inCrlf, textOf } from './inputs.ts';

/** Octets of a line without its end (RFC 5322 §2.1.1). */
const MAX_LINE = 998;

/** As contents are stored: CRLF ends every line, and nothing else does. */
function stored(text: string): Buffer {
  return Buffer.from(`${inCrlf(text.replace(/[^\x01-\xff]/g, ''))}\r\n`, 'latin1');
}

const text = textOf(
  ...([
    'From: a@x.test\r\n',
    'Subject: J\xf6rg\r\n',
    'Content-Type: text/plain; charset=utf-8\r\n',
    '\r\n',
  ] as const),
  ...[
    'Content-Type: multipart/mixed; boundary=b\r\n',
    '--b\r\n',
    '--b--\r\n',
    'Content-Transfer-Encoding: 8bit\r\n',
  ],
  ...[
    'Content-Transfer-Encoding: base64\r\n',
    '\xfc',
    ' ',
    '\t',
    '\r\n ',
    '.\r\n',
    'QUJD',
    '=C3=BC',
    'x'.repeat(990),
  ],
  ...['Content-Type: message/rfc822\r\n', 'DKIM-Signature: v=1\r\n', 'To: "J\xf6rg" <b@y.test>\r\n'],
);
const messages = {
  made: text.map(stored),
  corpus: corpus('messages', (bytes) => stored(bytes.toString('latin1'))),
};

test('a message in seven bits is all ASCII in lines that anybody takes, or is refused', () =>
  fuzz('seven-bit form', messages, (bytes) => {
    const before = createHash('sha256').update(bytes).digest('hex');
    const made = atOnce(toSevenBit(bytes, { eightBitHeaders: false, eightBitBodies: false }));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(before);
    if (!made.ok) return false;
    const sent = Buffer.concat(made.chunks);
    expect(made.eightBit).toBe(false);
    expect(isAscii(sent)).toBe(true);
    const lines = sent.toString('latin1').split('\r\n');
    expect(lines.join('')).not.toMatch(/[\r\n\0]/);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(MAX_LINE);
    const again = atOnce(toSevenBit(sent, { eightBitHeaders: false, eightBitBodies: false }));
    expect(again.ok && Buffer.concat(again.chunks).equals(sent)).toBe(true);
    return !sent.equals(bytes);
  }));

const cutMessages = {
  made: fc.tuple(messages.made, fc.array(fc.nat(), { maxLength: 8 })),
  corpus: corpus('messages', (bytes, dice): [Buffer, number[]] => [
    stored(bytes.toString('latin1')),
    dice.numbers(8),
  ]),
};

test('what is signed of a letter is the same however it lies in memory', () =>
  fuzz('letter to be signed', cutMessages, ([bytes, places]) => {
    const whole = readLetter([bytes]);
    const cut = readLetter(cutAt(bytes, places));
    expect(cut?.text).toBe(whole?.text);
    expect(cut?.fields).toEqual(whole?.fields);
    if (whole === null || cut === null) return false;
    const hash = atOnce(bodyHashOf(whole));
    expect(atOnce(bodyHashOf(cut))).toBe(hash);
    // Worked on as it comes, and not as one text.
    const skip = whole.text.length + 2;
    const chunks = bytes.length < 500 ? eachByte(bytes) : cutAt(bytes, places);
    expect(atOnce(relaxedBodyHash(chunks, skip, 0)).toString('base64')).toBe(hash);
    for (const { start, end } of whole.fields) {
      const field = relaxedField(whole.text.slice(start, end));
      expect(field).toMatch(/^[^\r\n]*\r\n$/);
      expect(relaxedField(field)).toBe(field);
    }
    const left = withoutFields(whole, ({ lowerName }) => lowerName.startsWith('d'));
    expect(atOnce(bodyHashOf(left))).toBe(hash);
    return whole.fields.length > 0;
  }));
