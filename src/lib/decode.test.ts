import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBase64, decodeJson, retryAfterMs, withoutUrlEscapes } from './decode.ts';

test('what Node encodes is decoded', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(decodeBase64(Buffer.from(bytes).toString('base64'))).toEqual(Buffer.from(bytes));
    }),
  );
});

test('a text is decoded exactly when encoding it again gives the same text', () => {
  const text = fc.string({ unit: fc.constantFrom(...'AQBz09+/=-_ \n'), maxLength: 12 });
  fc.assert(
    fc.property(text, (given) => {
      const canonical = Buffer.from(given, 'base64').toString('base64') === given;
      expect(decodeBase64(given) !== null).toBe(canonical);
    }),
    { numRuns: 20_000 },
  );
});

test.each([
  ['no padding', 'QQ'],
  ['stray bits', 'QR=='],
  ['stray bits before one pad', 'QUJ='],
  ['a line break', 'QUJD\nQUJD'],
  ['a blank', 'QUJ DRA='],
  ['the URL alphabet', '-_-_'],
  ['padding in the middle', 'QQ==QUJD'],
  ['too much padding', 'Q==='],
  ['padding alone', '===='],
  ['a character beyond ASCII', 'QUJé'],
  ['a character whose lower byte is of the alphabet', 'Q\u0130JDQUJD'],
])('%s is refused', (_, text) => expect(decodeBase64(text)).toBeNull());

test('what is no JSON is null', () => {
  expect(decodeJson('{"a":[1]}')).toEqual({ a: [1] });
  for (const text of ['', '{', '{"a":1}}']) expect(decodeJson(text)).toBe(null);
});

test('escapes of a URL are decoded all or not at all', () => {
  expect(withoutUrlEscapes('a%20b%C3%A9')).toBe('a bé');
  for (const text of ['100%', '%C3%28', 'a%20b%']) expect(withoutUrlEscapes(text)).toBe(text);
});

test.each([
  [undefined, null],
  ['7200', 7_200_000],
  ['Sat, 28 Nov 2026 13:00:05 GMT', 5000],
  ['Sat, 28 Nov 2026 12:59:59 GMT', null],
  ['0', null],
  ['soon', null],
  ['-5', null],
])('Retry-After: %s asks for %s ms', (value, expected) => {
  expect(retryAfterMs(value, Date.UTC(2026, 10, 28, 13))).toBe(expected);
});
