import { expect, test } from 'vitest';
import { Problem } from './problem.ts';
import { parseQuery } from './target.ts';

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
