import { expect, test } from 'vitest';
import { parseForm } from './form.ts';

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
