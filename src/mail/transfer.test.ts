import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { atOnce } from '../lib/clock.ts';
import { encodeBase64 } from './base64.ts';
import { encodeText } from './transfer.ts';

const body = (text: string) => {
  const { body: encoded } = atOnce(encodeText(text));
  return typeof encoded === 'string' ? encoded : Buffer.concat(encoded).toString('latin1');
};

describe('choosing', () => {
  test.each([
    ['', '7bit'],
    ['plain\ttext\n', '7bit'],
    [`${'x'.repeat(78)}\n`, '7bit'],
    [`${'x'.repeat(79)}\n`, 'quoted-printable'],
    ['.', 'quoted-printable'],
    ['a\n.b', 'quoted-printable'],
    ['a\0b', 'quoted-printable'],
    [`Grüße ${'x'.repeat(20)}`, 'quoted-printable'],
    ['Привет', 'base64'],
  ])('%j goes as %s', (text, encoding) => {
    expect(atOnce(encodeText(text)).encoding).toBe(encoding);
  });

  test('every line ending becomes CRLF', () => {
    expect(body('a\nb\rc\r\nd\n\re')).toBe('a\r\nb\r\nc\r\nd\r\n\r\ne');
  });
});

describe('quoted-printable', () => {
  const long = 'x'.repeat(79);
  test.each([
    ['a=b', 'a=3Db'],
    ['ü', '=C3=BC'],
    ['.a\n..b\nc.', '=2Ea\r\n=2E.b\r\nc.'],
    ['a \nb\t\n \nc ', 'a=20\r\nb=09\r\n=20\r\nc=20'],
    ['a b\tc', 'a b\tc'],
    ['a\0b', 'a=00b'],
  ])('%j', (text, encoded) => {
    // The long line makes sure that the text does not go as 7bit.
    expect(body(`${long}\n${text}`)).toBe(`${'x'.repeat(75)}=\r\nxxxx\r\n${encoded}`);
  });

  test('lines are at most 76 characters, begin with no dot, end in no blank, and decode to the text', () => {
    const piece = fc.constantFrom(
      '.',
      ' ',
      '\t',
      '=',
      'ü',
      '\r\n',
      'x',
      'x'.repeat(71),
      'y'.repeat(74),
      '\0',
    );
    const text = fc
      .array(piece, { maxLength: 60 })
      .map((pieces) => `${'z'.repeat(400)}\r\n${pieces.join('')}`);
    fc.assert(
      fc.property(text, (input) => {
        const encoded = body(input);
        for (const line of encoded.split('\r\n'))
          expect(line).toMatch(/^(?!\.)[\t\x20-\x7e]{0,76}(?<![ \t])$/);
        const bytes = encoded
          .replaceAll('=\r\n', '')
          .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
        expect(Buffer.from(bytes, 'latin1').toString()).toBe(input);
      }),
      { numRuns: 500 },
    );
  });

  test('the worst case finds room', () => {
    expect(body('='.repeat(10_000)).replaceAll('=\r\n', '')).toBe('=3D'.repeat(10_000));
  });
});

test('base64 has lines of 76 characters and no line ending at its end', () => {
  const bytes = Uint8Array.from({ length: 57 * 1100 }, (_, index) => index * 31);
  for (const length of [0, 1, 56, 57, 58, 114, 57 * 512, 57 * 512 + 1, 57 * 1024 + 56, bytes.length]) {
    const input = bytes.subarray(bytes.length - length);
    const lines =
      Buffer.from(input)
        .toString('base64')
        .match(/.{1,76}/g) ?? [];
    expect(Buffer.from(encodeBase64(input)).toString('latin1')).toBe(lines.join('\r\n'));
  }
});
