import fc from 'fast-check';
import { expect, it } from 'vitest';
import { arrayText } from './text.ts';

it('writes arrays as PostgreSQL reads them', () => {
  expect(arrayText([])).toBe('{}');
  expect(arrayText([1, 1, null, null, -2.5, true, false])).toBe('{1,1,NULL,NULL,-2.5,true,false}');
  expect(arrayText(['NULL', '', 'a,b', '{}', 'say "so"', 'C:\\'])).toBe(
    String.raw`{"NULL","","a,b","{}","say \"so\"","C:\\"}`,
  );
  expect(arrayText(['a\0b', '\uD800'])).toBe('{"a\uFFFDb","\uFFFD"}');
  expect(arrayText([0, -0, '0', null, 'null'])).toBe('{0,0,"0",NULL,"null"}');
});

/** Reads one-dimensional arrays by the rules of the server, as far as text elements go. */
function readArray(text: string): (string | null)[] {
  const elements = text.slice(1, -1).match(/"(?:[^"\\]|\\[\s\S])*"|[^,]+/g) ?? [];
  return elements.map((one) => {
    if (!one.startsWith('"')) return one === 'NULL' ? null : one;
    return one.slice(1, -1).replace(/\\([\s\S])/g, '$1');
  });
}

it('keeps any texts apart', () => {
  const text = fc.string({
    unit: fc.constantFrom('"', '\\', ',', '{', '}', 'a', ' ', 'NULL', '\n', 'é', '😀'),
  });
  fc.assert(
    fc.property(fc.array(fc.option(text)), (values) => {
      expect(readArray(arrayText(values))).toEqual(values);
    }),
  );
});
