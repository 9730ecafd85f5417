import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineLength } from './line-length.ts';

function isTooLong(chunks: readonly Uint8Array[]): boolean {
  const lines = new LineLength();
  for (const chunk of chunks) lines.push(chunk);
  return lines.isTooLong;
}

test('998 octets before CRLF are allowed, one more is not, in whatever line', () => {
  const lines = (length: number) => Buffer.from(`a\r\n${'x'.repeat(length)}\r\nb\r\n`);
  expect(isTooLong([lines(998)])).toBe(false);
  expect(isTooLong([lines(999)])).toBe(true);
  expect(isTooLong([Buffer.from('x'.repeat(999))])).toBe(true);
  expect(isTooLong([])).toBe(false);
});

test('it says what a look at every line says, however the content is cut', () => {
  const line = fc.oneof(fc.nat(5), fc.integer({ min: 990, max: 1005 }), fc.integer({ min: 400, max: 600 }));
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 8 }),
      fc.array(fc.nat(1200), { maxLength: 8 }),
      (lengths, cuts) => {
        const text = Buffer.from(lengths.map((length) => `${'x'.repeat(length)}\r\n`).join(''));
        const chunks: Buffer[] = [];
        let at = 0;
        for (const cut of cuts) {
          chunks.push(text.subarray(at, at + cut));
          at += cut;
        }
        chunks.push(text.subarray(at));
        expect(isTooLong(chunks)).toBe(lengths.some((length) => length > 998));
      },
    ),
    { numRuns: 3000 },
  );
});
