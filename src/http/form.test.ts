import { expect, test } from 'vitest';
import { parseForm, parseQuery } from './form.ts';
import { Problem } from './problem.ts';

const parse = (text: string, maxFields = 10) => parseForm(Buffer.from(text, 'latin1'), { maxFields });

test.each([
  ['', []],
  [
    'a=1&b=2&a=3',
    [
      ['a', '1'],
      ['b', '2'],
      ['a', '3'],
    ],
  ],
  [
    'a=x+y%2Bz&h%3AX=%C3%A9',
    [
      ['a', 'x y+z'],
      ['h:X', 'é'],
    ],
  ],
  [
    'a&b=&=c&d=e=f',
    [
      ['a', ''],
      ['b', ''],
      ['', 'c'],
      ['d', 'e=f'],
    ],
  ],
  [
    '&a=1&&b=2&',
    [
      ['a', '1'],
      ['b', '2'],
    ],
  ],
  ['__proto__=1', [['__proto__', '1']]],
])('%j', (text, fields) => expect(parse(text)).toEqual(fields));

test.each([
  ['a=%zz', 'malformed_form'],
  ['a=%', 'malformed_form'],
  ['a=%ff', 'malformed_form'],
  ['a=\xff', 'invalid_utf8'],
  ['a&a&a&a', 'too_many_fields'],
])('%j is refused', (text, code) =>
  expect(() => parse(text, 3)).toThrow(expect.objectContaining({ status: 400, code })),
);

test('as many fields as allowed, and what URLSearchParams wrote', () => {
  const params = new URLSearchParams([
    ['to', '"A, B" <a@x>'],
    ['text', 'line\r\nü & = + % ~'],
    ['empty', ''],
  ]);
  expect(parse(params.toString(), 3)).toEqual([...params]);
});

test('a malformed escape is pointed to by the name of its field', () => {
  for (const [text, pointer] of [
    ['a=1&o%3Atag=%zz', '/o:tag'],
    ['a=1&b%=2', '/b%'],
  ] as const)
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ errors: [expect.objectContaining({ pointer, code: 'malformed_form' })] }),
    );
});

test.each([
  ['', []],
  ['a=1&b=%C3%A9&a=x+y', ['a', '1', 'b', 'é', 'a', 'x y']],
  ['&&flag&=x&a=b=c', ['flag', '', '', 'x', 'a', 'b=c']],
  ['%61=%25', ['a', '%']],
])('the query %j is decoded', (search, expected) => {
  expect([...parseQuery(search)].flat()).toEqual(expected);
});

test.each([
  ['to=b%ff@example.org', '/to'],
  ['to=b%zz@example.org', '/to'],
  ['to=%', '/to'],
  ['to=%C3', '/to'],
  ['a=%ED%A0%80', '/a'],
  ['%ff=1', '/%ff'],
  ['to=k\u00e4te', '/to'],
])('the query %j is refused, not patched', (search, pointer) => {
  const refused = refusalOf(search);
  expect([refused.status, refused.code]).toEqual([400, 'invalid_query']);
  expect(refused.errors.map((fault) => [fault.pointer, fault.code])).toEqual([[pointer, 'malformed_escape']]);
});

test('every malformed parameter is told, up to a hundred', () => {
  expect(refusalOf('a=%&b=1&c=%x').errors.map(({ pointer }) => pointer)).toEqual(['/a', '/c']);
  expect(refusalOf('a=%&'.repeat(2000)).errors).toHaveLength(100);
});

function refusalOf(search: string): Problem {
  try {
    parseQuery(search);
  } catch (error) {
    if (error instanceof Problem) return error;
  }
  throw new Error(`${search} was taken`);
}
