import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SLICE_BYTES } from '../lib/clock.ts';
import { toLongLines } from './long-text.ts';
import { encodeText } from './transfer.ts';

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
