import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toWireLines } from './wire-lines.ts';

/** The wire form as text, or the fault as `code detail`. */
function wire(text: string | Buffer): string {
  const result = toWireLines(Buffer.from(text));
  return result.ok ? result.bytes.toString('latin1') : `${result.fault.code}: ${result.fault.detail}`;
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
  const result = toWireLines(bytes);
  expect(result.ok && result.bytes).toBe(bytes);
});

test('for any bytes: refused, or only CRLF, ended, and the same lines', () => {
  const unit = fc.constantFrom('\r', '\n', '\r\n', 'a', '\0', '.', 'é', '\r\n\r\n');
  const property = fc.property(fc.string({ unit, maxLength: 30 }), (text) => {
    const bytes = Buffer.from(text);
    const result = toWireLines(bytes);
    if (!result.ok) return;
    const out = result.bytes.toString('latin1');
    expect(out.replaceAll('\r\n', '')).not.toMatch(/[\r\n\0]/);
    expect(out === '' || out.endsWith('\r\n')).toBe(true);
    const lines = (value: string) => value.replace(/\r?\n$/, '').split(/\r?\n/);
    expect(lines(out)).toEqual(lines(bytes.toString('latin1')));
  });
  fc.assert(property, { numRuns: 10_000 });
});
