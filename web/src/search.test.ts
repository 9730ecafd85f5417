import { expect, test } from 'vitest';
import { flag, isSame, oneOf, parseSearch, readSearch, shownOf, stringifySearch, text } from './search.ts';

const read = readSearch({
  q: text,
  all: flag,
  view: oneOf('html', 'text'),
});

test('fields are read by their kind', () => {
  expect(read(parseSearch('?q=to%3Aa@b.c+hello&all=1&view=text&view=html'))).toEqual({
    q: 'to:a@b.c hello',
    all: true,
    view: 'text',
  });
});

test('what cannot be read is left out, and nothing else comes in', () => {
  expect(read(parseSearch('?q=&all=yes&view=source&__proto__=x&other=1'))).toEqual({});
});

test('a number in a text stays text', () => {
  expect(read(parseSearch('?q=12'))).toEqual({ q: '12' });
});

test('an address is written as a person would', () => {
  expect(
    stringifySearch({
      q: 'to:a@b.c, x',
      all: true,
      none: undefined,
      off: false,
      empty: '',
      status: ['a', 'b'],
    }),
  ).toBe('?q=to:a@b.c,+x&all=1&status=a&status=b');
  expect(stringifySearch({})).toBe('');
});

test.each(['to:"a b"@c & d=e', 'ünïcode ☃', '50% + 1', '#?/'])('%s comes back as it was', (q) => {
  expect(parseSearch(stringifySearch({ q }))).toEqual({ q });
});

test('a view is what an address says of a list, without what is open in it', () => {
  expect(
    shownOf({ q: 'to:ann@example.org', revoked: true, sort: '-Waiting', id: 'sup_1', view: 'html' }),
  ).toEqual({
    q: 'to:ann@example.org',
    revoked: '1',
    sort: '-Waiting',
  });
  expect(shownOf({ q: undefined })).toEqual({});
});

test('two addresses show the same in whatever order they say it', () => {
  expect(isSame({ q: 'x', sort: 'Name' }, { sort: 'Name', q: 'x' })).toBe(true);
  expect(isSame({ q: 'x' }, { q: 'x', sort: 'Name' })).toBe(false);
});
