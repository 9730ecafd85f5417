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

const END = '(?:\\r\\n|\\r|\\n)';
/** Where a receiver that takes anything for the end of a line finds the end of the content. */
function looseEnd(wire: string): number {
  return new RegExp(`${END}\\.${END}`).exec(`\r\n${wire}`)?.index ?? -1;
}

const pieces = (...alphabet: string[]) =>
  fc.array(fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 12 }), { maxLength: 6 });

test('whatever is sent is received, however it is cut', () => {
  fc.assert(
    fc.property(pieces('.', 'x', '\r\n.', '\r\n'), fc.nat(60), (chunks, cut) => {
      const text = chunks.join('');
      const expected = text === '' || text.endsWith('\r\n') ? text : `${text}\r\n`;
      expect(receive(frame([text.slice(0, cut), text.slice(cut)], true))).toBe(expected);
    }),
    { numRuns: 2000 },
  );
});

test('no receiver finds the end before the end, whatever it takes for a line and however the content is cut', () => {
  fc.assert(
    fc.property(pieces('.', '\r', '\n', 'x', '\r\n.', '\r\n'), (chunks) => {
      const wire = frame(chunks, true);
      expect(receive(wire)).not.toBeNull();
      // Also where line ends could be counted otherwise, only the last line is a lone dot.
      expect(looseEnd(wire)).toBeGreaterThanOrEqual(wire.length - 3);
    }),
    { numRuns: 5000 },
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
