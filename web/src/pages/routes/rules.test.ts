import { expect, test } from 'vitest';
import {
  changesOf,
  clausesOf,
  draftsOf,
  emptyConditions,
  freeRuleName,
  moved,
  placeOfFault,
  type Rule,
  rulesOf,
} from './rules.ts';

const rule = (name: string, match: Rule['match'] = {}, via: Rule['via'] = ['out']): Rule => ({
  name,
  match,
  via,
});

test('rules survive being edited', () => {
  const rules = [
    rule('news', { recipient_domain: ['*.example.org'], tag: ['a b'], min_bytes: 1024 }),
    rule('split', { sender: ['<>'] }, [
      { relay: 'a', weight: 3 },
      { relay: 'b', weight: 1 },
    ]),
  ];
  expect(rulesOf(draftsOf(rules))).toEqual(rules);
});

test('a condition without values is not left out', () => {
  const match = { tag: [], sender: ['<>'], recipient: [' '], min_bytes: [] };
  expect(emptyConditions(match)).toEqual(['tag', 'recipient', 'min_bytes']);
  const [draft] = draftsOf([rule('one')]);
  expect(draft && rulesOf([{ ...draft, match: { tag: [] } }])).toEqual([rule('one', { tag: [] })]);
});

test.each([
  [0, 2, 'bca'],
  [2, 0, 'cab'],
  [1, 1, 'abc'],
  [0, 3, 'abc'],
  [0, -1, 'abc'],
])('from %i to %i', (from, to, order) => {
  expect(moved(['a', 'b', 'c'], from, to).join('')).toBe(order);
});

test('a rule in words', () => {
  expect(
    clausesOf({ tag: ['news'], recipient_domain: ['a.test', 'b.test'], max_bytes: ['10'], odd: ['?'] }),
  ).toEqual([
    { words: 'to', values: ['a.test', 'b.test'] },
    { words: 'tagged', values: ['news'] },
    { words: 'of at most', values: ['10 bytes'] },
    { words: 'odd', values: ['?'] },
  ]);
  expect(clausesOf({})).toEqual([]);
});

test.each<[string, Rule[], Rule[], string[]]>([
  ['nothing', [rule('a'), rule('b')], [rule('a'), rule('b')], []],
  ['an addition', [rule('a')], [rule('b'), rule('a')], ['added b']],
  ['a removal', [rule('a'), rule('b')], [rule('b')], ['removed a']],
  ['a change', [rule('a')], [rule('a', { tag: ['x'] })], ['changed a']],
  ['another relay', [rule('a')], [rule('a', {}, ['in'])], ['changed a']],
  ['a move', [rule('a'), rule('b'), rule('c')], [rule('b'), rule('c'), rule('a')], ['moved a']],
])('%s is told', (_, before, after, told) => {
  expect(changesOf(before, after).map(({ name, kind }) => `${kind} ${name}`)).toEqual(told);
});

test('a fault finds its rule and field', () => {
  expect(placeOfFault(['routes', '2', 'match', 'sender', '0'])).toEqual({ index: 2, field: 'match.sender' });
  expect(placeOfFault(['routes', '0', 'via'])).toEqual({ index: 0, field: 'via' });
  expect(placeOfFault(['routes', '1'])).toEqual({ index: 1, field: 'name' });
  expect(placeOfFault(['api', 'port'])).toBeNull();
});

test('a new rule has a name of its own', () => {
  expect(freeRuleName(draftsOf([rule('rule-2'), rule('x')]))).toBe('rule-3');
  expect(freeRuleName(draftsOf([rule('rule-2')]))).toBe('rule-3');
});
