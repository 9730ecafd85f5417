import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { atOnce, SLICE_BYTES } from '../lib/clock.ts';
import { encodeText, toLongLines } from './text-body.ts';
import { encodeBase64, encodeLongBase64 } from './transfer-encoding.ts';

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

/** The result, and how often others had a turn. */
function run<T>(work: Generator<undefined, T, undefined>): { value: T; turns: number } {
  let turns = 0;
  let step = work.next();
  for (; !step.done; step = work.next()) turns += 1;
  return { value: step.value, turns };
}

test('long text comes out in the same lines as short text', () => {
  const unit = fc.constantFrom(
    '\r',
    '\n',
    '\r\n',
    'a',
    '.',
    ' ',
    '\t',
    'é',
    '👩‍🚀',
    '=',
    '\0',
    'x'.repeat(77),
  );
  const property = fc.property(fc.string({ unit, maxLength: 40 }), (text) => {
    const { bytes, isShortLined } = run(toLongLines(text)).value;
    expect(bytes.toString()).toBe(text.replace(/\r\n?|\n/g, '\r\n'));
    const isAscii = bytes.length === bytes.toString().length;
    const asShort = run(encodeText(text)).value;
    if (isAscii) expect(isShortLined).toBe(asShort.encoding === '7bit');
  });
  fc.assert(property, { numRuns: 10_000 });
});

test.each(['\n', '\r\n', 'a\n', '\r', '.\n', '='])('a long text of %j is encoded in slices', (unit) => {
  const text = unit.repeat((2.5 * SLICE_BYTES) / unit.length);
  const { value, turns } = run(encodeText(text));
  expect(turns).toBeGreaterThanOrEqual(3);
  const encoded = typeof value.body === 'string' ? value.body : Buffer.concat(value.body).toString('latin1');
  const decoded = encoded.replaceAll('=\r\n', '').replaceAll('=2E', '.').replaceAll('=3D', '=');
  expect(decoded === text.replace(/\r\n?|\n/g, '\r\n')).toBe(true);
});

test('a short text is encoded at once', () => {
  expect(run(encodeText('a\n'.repeat(30_000))).turns).toBe(0);
});

test.each([0, 1, 56, 57, 58, 4096 * 57 - 1, 4096 * 57, 4096 * 57 + 1, 3 * 4096 * 57, 1_000_003])(
  '%i bytes in pieces are the same base64 as in one, with a turn for others before each piece',
  (length) => {
    const bytes = Buffer.alloc(length, 'what is encoded');
    const work = encodeLongBase64(bytes);
    let turns = 0;
    let step = work.next();
    for (; !step.done; step = work.next()) turns++;
    expect(Buffer.concat(step.value).equals(encodeBase64(bytes))).toBe(true);
    expect(turns).toBe(length > 4096 * 57 ? Math.ceil(length / (4096 * 57)) : 0);
  },
);
