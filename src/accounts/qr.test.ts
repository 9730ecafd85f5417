import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { qrRows } from './qr.ts';

// Each was drawn by another encoder (qrcode 1.5.4), and read back by a decoder (jsQR 1.4.0): one of every version.
test.each([
  [14, 21, 'ca4e5f8669011ed0'],
  [26, 25, '6b3c728f6da5c737'],
  [42, 29, '29e68797907db7dd'],
  [62, 33, '9040f52bb1e8a298'],
  [84, 37, '11f4048c14db893b'],
  [106, 41, '536f804ac066bd50'],
  [122, 45, '91c925bdfb77e72b'],
  [152, 49, '05776ce767bdb1a4'],
  [180, 53, '21e02ceea8d235cf'],
  [213, 57, 'f8a692e420006d88'],
])('a text of %i bytes has %i rows, as another encoder draws them', (length, size, hash) => {
  const rows = qrRows('x'.repeat(length));
  expect(rows).toHaveLength(size);
  expect(createHash('sha256').update(rows.join('\n')).digest('hex').slice(0, 16)).toBe(hash);
});

test('what no code of these versions can hold is refused', () => {
  expect(() => qrRows('x'.repeat(214))).toThrow(RangeError);
});
