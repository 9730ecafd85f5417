import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBase64 } from './base64.ts';

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
