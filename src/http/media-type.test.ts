import { expect, test } from 'vitest';
import { isUtf8, parseMediaType } from './media-type.ts';

test.each([
  ['application/json', 'application/json', {}],
  ['Application/JSON; Charset=UTF-8', 'application/json', { charset: 'UTF-8' }],
  [' text/plain ;  charset="utf-8" ;', 'text/plain', { charset: 'utf-8' }],
  ['text/plain;a="x\\"y;z\\\\";b=1', 'text/plain', { a: 'x"y;z\\', b: '1' }],
  ['multipart/form-data; boundary="a b"', 'multipart/form-data', { boundary: 'a b' }],
  ['a/b;;c=d', 'a/b', { c: 'd' }],
  ['a/b;c=""', 'a/b', { c: '' }],
])('%s', (header, type, params) => {
  const parsed = parseMediaType(header);
  expect(parsed?.type).toBe(type);
  expect(Object.fromEntries(parsed?.params ?? [])).toEqual(params);
});

test.each([
  undefined,
  '',
  'json',
  '/json',
  'a/b/c',
  'a/b c',
  'a/b; c',
  'a/b; c=',
  'a/b; c="d',
  'a/b; c=d e',
  'a/b; c=d; C=e',
  'a/b, c/d',
  'a/b; =d',
  `a/b${';'.repeat(8000)}"`,
])('%j is no media type', (header) => expect(parseMediaType(header)).toBeNull());

test('what counts as UTF-8', () => {
  const charset = (header: string) => isUtf8(parseMediaType(header) ?? { type: '', params: new Map() });
  for (const good of ['text/plain', 'text/plain; charset=UTF-8', 'text/plain; charset=us-ascii'])
    expect(charset(good)).toBe(true);
  expect(charset('text/plain; charset=iso-8859-1')).toBe(false);
});
