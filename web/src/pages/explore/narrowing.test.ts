import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isTag } from '../../../../src/domain/message.ts';
import { parseQuery } from '../../../../src/domain/query.ts';
import { parseSearch, stringifySearch } from '../../search.ts';
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

test('the list of messages is asked for the same mail, whatever its tag, as the server reads it', () => {
  const character = fc.oneof(
    fc.constantFrom('"', ' ', '-', ':', '/', '\\', '*'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  );
  const tags = fc.array(character, { maxLength: 12 }).map((characters) => characters.join(''));
  fc.assert(
    fc.property(tags.filter(isTag), (tag) => {
      const asked = queryFor({ relay: 'out', domain: 'example.org', tag, key: 'key_1' }, 'after:24h');
      const { q } = parseSearch(stringifySearch({ q: asked }));
      expect(parseQuery(String(q), 0).query).toMatchObject({
        terms: [
          { kind: 'address', field: 'to', address: '@example.org' },
          { kind: 'tag', tag },
        ],
        relays: ['out'],
        keys: ['key_1'],
      });
    }),
    { examples: [['two words'], ['a"b'], ['"'], [' "" '], ['back\\slash'], ['//x'], ['ü:1']] },
  );
});

test('what the list of messages cannot be asked for is left out', () => {
  expect(queryFor({ provider: 'google', tag: '' }, 'after:24h')).toBe('after:24h');
});
