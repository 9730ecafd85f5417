import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DataFramer } from './data.ts';

/** What a receiver makes of the framed content: RFC 5321 §4.5.2, written the simplest way. */
function receive(wire: string): string | null {
  const end = `\r\n${wire}`.indexOf('\r\n.\r\n');
  if (end < 0 || end + 3 !== wire.length) return null;
  return wire.slice(0, end).replace(/(^|\r\n)\./g, '$1');
}

function frame(chunks: readonly string[], stuff: boolean): string {
  const framer = new DataFramer(stuff);
  const framed = chunks.map((chunk) => Buffer.from(framer.push(Buffer.from(chunk))).toString());
  return framed.join('') + framer.end();
}

test('whatever is sent is received, however it is cut', () => {
  const piece = fc.string({ unit: fc.constantFrom('.', '\r', '\n', 'x', '\r\n.', '\r\n'), maxLength: 12 });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (chunks) => {
      const text = chunks.join('');
      const expected = text === '' || text.endsWith('\r\n') ? text : `${text}\r\n`;
      expect(receive(frame(chunks, true))).toBe(expected);
    }),
    { numRuns: 2000 },
  );
});

test('chunks in which nothing is doubled are passed on, not copied', () => {
  const chunk = Buffer.from('no dots at line starts\r\nnone.\r\n');
  expect(new DataFramer(true).push(chunk)).toBe(chunk);
  const dotted = Buffer.from('.\r\n');
  expect(new DataFramer(false).push(dotted)).toBe(dotted);
});

test.each([
  [['text\r\n'], '.\r\n'],
  [['text'], '\r\n.\r\n'],
  [['text\r', '\n'], '.\r\n'],
  [['text\r\n', ''], '.\r\n'],
  [[], '.\r\n'],
])('after %j comes %j', (chunks, end) => {
  expect(frame(chunks, false).slice(chunks.join('').length)).toBe(end);
});
