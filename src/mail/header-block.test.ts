import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changeHeader, type HeaderBlock, readHeader } from './header-block.ts';

const LIMIT = 64 * 1024;

function read(text: string): HeaderBlock {
  const result = readHeader(Buffer.from(text), LIMIT);
  if (!result.ok) throw new Error(result.faults.map(({ detail }) => detail).join(' '));
  return result.header;
}

const named = (text: string) => read(text).fields.map(({ name, value }) => `${name}=${value}`);

const refusals = (text: string | Buffer, limit = LIMIT) => {
  const result = readHeader(Buffer.from(text), limit);
  return result.ok
    ? []
    : result.faults.map(({ code, detail }) => `${code} ${/Line (\d+)/.exec(detail)?.[1] ?? ''}`.trim());
};

test.each([
  ['A: b\r\nC:d\r\n\r\nE: f\r\n', ['A=b', 'C=d']],
  ['A: b\r\n', ['A=b']],
  ['\r\nA: b\r\n', []],
  ['A: b\r\n c\r\n\td\r\n\r\n', ['A=b c\td']],
  ['A:\r\n b\r\n\r\n', ['A=b']],
  ['A:\r\nB: \r\n\r\n', ['A=', 'B=']],
  ['A: x: y\r\n\r\n', ['A=x: y']],
  ['A: Grüße\r\n\r\n', ['A=Grüße']],
])('%j has the fields %j', (text, fields) => expect(named(text)).toEqual(fields));

test.each([
  ['no colon\r\n\r\n', ['header_syntax 1']],
  ['From a@x.test Mon Jan  1 00:00:00 2026\r\nA: b\r\n\r\n', ['header_syntax 1']],
  ['A : b\r\n\r\n', ['header_syntax 1']],
  [': b\r\n\r\n', ['header_syntax 1']],
  [' A: b\r\n\r\n', ['header_syntax 1']],
  ['A: b\r\n \t\r\n c\r\n\r\n', ['header_syntax 2']],
  ['A: b\r\nbody at once\r\nmore\r\n', ['header_syntax 2', 'header_syntax 3']],
  ['A: b\x01\r\nB: c\x7f\r\n\r\n', ['header_value 1', 'header_value 2']],
  ['Ä: b\r\n\r\n', ['header_syntax 1']],
])('%j is refused: %j', (text, codes) => expect(refusals(text)).toEqual(codes));

test('what is neither ASCII nor UTF-8 is refused', () =>
  expect(refusals(Buffer.from('A: Gr\xfc\xdfe\r\n\r\n', 'latin1'))).toEqual(['header_encoding 1']));

test('as many bytes as allowed, and not one more; the body does not count', () => {
  expect(refusals('A: b\r\n\r\nlong body\r\n', 6)).toEqual([]);
  expect(refusals('A: bc\r\n\r\nlong body\r\n', 6)).toEqual(['header_size']);
});

test('of many faulty lines the first are told', () => expect(refusals('x\r\n'.repeat(1000)).length).toBe(20));

describe('changing', () => {
  const change = (text: string, prepend: string, each: Parameters<typeof changeHeader>[2]['each']) => {
    const bytes = Buffer.from(text);
    return Buffer.concat(changeHeader(bytes, read(text), { prepend, each })).toString();
  };
  const MESSAGE = 'A: 1\r\nB: 2\r\n more\r\nC: 3\r\n\r\nbody\r\n';

  test.each([
    ['nothing', '', {}, MESSAGE],
    ['what is put on top', 'X: 0\r\n', {}, `X: 0\r\n${MESSAGE}`],
    ['the first dropped', '', { A: null }, 'B: 2\r\n more\r\nC: 3\r\n\r\nbody\r\n'],
    ['a folded one dropped', '', { B: null }, 'A: 1\r\nC: 3\r\n\r\nbody\r\n'],
    ['one replaced', 'X: 0\r\n', { B: 'B: 9\r\n' }, 'X: 0\r\nA: 1\r\nB: 9\r\nC: 3\r\n\r\nbody\r\n'],
    ['neighbours replaced', '', { A: 'A: 9\r\n', B: null, C: 'C: 9\r\n' }, 'A: 9\r\nC: 9\r\n\r\nbody\r\n'],
    ['all dropped', '', { A: null, B: null, C: null }, '\r\nbody\r\n'],
  ] as [string, string, Record<string, string | null>, string][])('%s', (_, prepend, changes, expected) =>
    expect(
      change(MESSAGE, prepend, (field) =>
        Object.hasOwn(changes, field.name) ? (changes[field.name] ?? null) : field,
      ),
    ).toBe(expected),
  );

  test('a header that falls into very many pieces becomes one, and the body is not copied', () => {
    const header = 'A: 1\r\nB: 2\r\n'.repeat(1000);
    for (const body of ['\r\nbody\r\n', '']) {
      const bytes = Buffer.from(header + body);
      const chunks = changeHeader(bytes, read(header + body), {
        prepend: 'X: 0\r\n',
        each: (field) => (field.name === 'A' ? null : field),
      });
      expect(Buffer.concat(chunks).toString()).toBe(`X: 0\r\n${'B: 2\r\n'.repeat(1000)}${body}`);
      expect(chunks.length).toBe(2);
      expect(chunks.at(-1)?.buffer).toBe(bytes.buffer);
    }
    const all = changeHeader(Buffer.from(header), read(header), {
      prepend: '',
      each: ({ name }) => (name === 'A' ? null : 'Ü: 1\r\n'),
    });
    expect(Buffer.concat(all).toString()).toBe('Ü: 1\r\n'.repeat(1000));
  });

  test('a message of a header alone, all dropped, is what was put on top', () =>
    expect(change('A: 1\r\n', 'X: 0\r\n', () => null)).toBe('X: 0\r\n'));

  test('keeping every field gives back every byte, whatever they are', () => {
    const line = fc.string({ unit: fc.constantFrom('a', ':', ' ', 'é', '\t', '\r\n'), maxLength: 40 });
    const property = fc.property(line, (text) => {
      const bytes = Buffer.from(`A: ${text}\r\n`);
      const result = readHeader(bytes, LIMIT);
      if (!result.ok) return;
      const same = changeHeader(bytes, result.header, { prepend: '', each: (field) => field });
      expect(Buffer.concat(same).equals(bytes)).toBe(true);
      const { fields, sizeBytes } = result.header;
      expect(fields.reduce((sum, { start, end }) => sum + end - start, 0)).toBe(sizeBytes);
    });
    fc.assert(property, { numRuns: 5000 });
  });
});
