import { expect, test } from 'vitest';
import { piecesOf } from '../../../../src/domain/query.ts';
import { narrowedTo, queryFor, whereIn } from './narrowing.ts';

test('the address narrows by names, and to mail that has none', () => {
  expect(whereIn({})).toEqual({});
  expect(whereIn({ relay: 'out', tag: 'news' })).toEqual({ relay: 'out', tag: 'news' });
  expect(whereIn({ domain: 'example.org', without: 'tag' })).toEqual({ domain: 'example.org', tag: '' });
});

test('a row narrows further, and shows what is not held yet', () => {
  const first = narrowedTo({}, 'relay', 'out');
  expect(first).toMatchObject({ relay: 'out', by: 'domain' });
  const second = narrowedTo(first, 'domain', 'example.org');
  expect(second).toMatchObject({ relay: 'out', domain: 'example.org', by: 'provider' });
  expect(narrowedTo({ domain: 'example.org' }, 'tag', '')).toMatchObject({ without: 'tag', by: 'relay' });
});

test.each(['news', 'two words', 'back\\slash', '//x', 'ü:1'])(
  'the list of messages is asked for the same mail, tagged %s, as the server reads it',
  (tag) => {
    const asked = queryFor({ relay: 'out', domain: 'example.org', tag, key: 'key_1' }, 'after:24h');
    expect(piecesOf(asked).map(({ token, value }) => [token, value])).toEqual([
      ['relay', 'out'],
      ['to', '@example.org'],
      ['tag', tag],
      ['key', 'key_1'],
      ['after', '24h'],
    ]);
  },
);

test('what the list of messages cannot be asked for is left out', () => {
  expect(queryFor({ provider: 'google', tag: '' }, 'after:24h')).toBe('after:24h');
});
