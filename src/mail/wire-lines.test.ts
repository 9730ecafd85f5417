import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atOnce, SLICE_BYTES } from '../lib/clock.ts';
import { toWireLines } from './wire-lines.ts';

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
