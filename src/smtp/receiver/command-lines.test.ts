import { expect, test } from 'vitest';
import { CommandLines } from './command-lines.ts';
import { InputBuffer } from './input.ts';

function linesOf(chunks: readonly string[], isAuthExchange = false): unknown[] {
  const input = new InputBuffer();
  const lines = new CommandLines();
  const found: unknown[] = [];
  for (const chunk of chunks) {
    input.push(Buffer.from(chunk, 'latin1'));
    for (
      let line = lines.next(input, isAuthExchange);
      line !== null;
      line = lines.next(input, isAuthExchange)
    )
      found.push(typeof line === 'string' ? line : line.fault);
    expect(input.length).toBeLessThanOrEqual(isAuthExchange ? 12_288 : 512);
  }
  return found;
}

test.each([
  ['a\r\nb\r\n', ['a', 'b']],
  ['\r\n', ['']],
  ['a', []],
  ['a\r', []],
  ['a\nb\r\nc\r\n', ['bare_lf', 'c']],
  ['\n\n\r\nc\r\n', ['bare_lf', 'c']],
  ['a\rb\r\nc\r\n', ['control', 'c']],
  ['a\r\r\n', ['control']],
  ['a\0\r\n', ['control']],
  ['a\x7f\r\n', ['control']],
  ['a\tb\r\n', ['a\tb']],
  ['\xc3\xa4\r\n', ['ä']],
  ['\xe4\r\n', ['encoding']],
  [`${'x'.repeat(510)}\r\n`, ['x'.repeat(510)]],
  [`${'x'.repeat(511)}\r\nc\r\n`, ['too_long', 'c']],
  [`${'x'.repeat(600)}\ny\r\nc\r\n`, ['too_long', 'c']],
  [`${'x'.repeat(600)}\r\n\nc\r\nd\r\n`, ['too_long', 'bare_lf', 'd']],
])('%j is read the same whole and byte by byte', (text, expected) => {
  expect(linesOf([text])).toEqual(expected);
  expect(linesOf([...text])).toEqual(expected);
});

test('what stays of an unfinished line is a copy, so that a large chunk is not kept for it', () => {
  const input = new InputBuffer();
  const chunk = Buffer.alloc(65_536, 'NOOP\r\n');
  input.push(chunk);
  const lines = new CommandLines();
  while (lines.next(input, false) !== null);
  expect(input.length).toBe(65_536 % 6);
  expect(input.bytes.length).toBeLessThan(1000);
});
