import { expect, test } from 'vitest';
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

test('the list of messages is asked for the same mail', () => {
  expect(
    queryFor({ relay: 'out', domain: 'example.org', tag: 'two "words"', key: 'key_1' }, 'after:24h'),
  ).toBe('relay:out to:@example.org tag:"two \\"words\\"" key:key_1 after:24h');
  expect(queryFor({ provider: 'google', tag: '' }, 'after:24h')).toBe('after:24h');
});
