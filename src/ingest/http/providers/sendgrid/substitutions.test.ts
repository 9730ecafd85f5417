import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Problem } from '../../../../http/problem.ts';
import { Substitutions } from './substitutions.ts';

const POINTER = '/personalizations/0/substitutions';
const MAX = 1_000_000;
const replacing = (values: Readonly<Record<string, string>>, maxBytes = MAX) =>
  new Substitutions(Object.entries(values), POINTER, maxBytes);
const faultOf = (work: () => unknown) => {
  try {
    return work();
  } catch (error) {
    const { status, errors } = error as Problem;
    return [status, ...errors.map(({ pointer }) => pointer)];
  }
};

test.each([
  ['a tag of any form', 'Hi -n.a-, [x]', { '-n.a-': 'Ann', '[x]': '$&' }, 'Hi Ann, $&'],
  ['a dot only as a dot', 'nxa', { 'n.a': 'Ann' }, 'nxa'],
  ['the longest', '%ab% %a', { '%a': '1', '%ab%': '2' }, '2 1'],
  ['what is written, once', '{{a}}', { '{{a}}': '{{b}}', '{{b}}': 'c' }, '{{b}}'],
  ['by nothing', 'a{{x}}b', { '{{x}}': '' }, 'ab'],
  ['not what has no name', 'ab', { '': 'x' }, 'ab'],
  ['not what an object has by itself', 'constructor', { toString: 'x' }, 'constructor'],
])('replaces %s', (_, text, values, expected) => {
  expect(replacing(values).in(text)).toBe(expected);
});

test('replaces from left to right, at each place the longest tag', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '.', '|', '\\'), maxLength: 12 });
  fc.assert(
    fc.property(letters, fc.dictionary(letters, letters, { noNullPrototype: true }), (text, values) => {
      const tags = Object.keys(values).filter((tag) => tag !== '');
      let expected = '';
      for (let at = 0; at < text.length; ) {
        const found = tags.filter((tag) => text.startsWith(tag, at));
        const tag = found.toSorted((a, b) => b.length - a.length)[0];
        expected += tag === undefined ? text.charAt(at) : values[tag];
        at += tag?.length ?? 1;
      }
      expect(replacing(values).in(text)).toBe(expected);
    }),
  );
});

test('makes no text longer than a message may be', () => {
  const large = replacing({ x: 'y'.repeat(1000) }, 10_000);
  expect(large.in('x'.repeat(10))).toHaveLength(10_000);
  expect(faultOf(() => large.in('x'.repeat(11)))).toEqual([413]);
});

test('keeps nobody waiting', () => {
  const text = 'x'.repeat(200_000);
  expect(faultOf(() => replacing({ x: 'y' }).in(text))).toEqual([400, POINTER]);
  expect(faultOf(() => replacing({ [`${'x'.repeat(2000)}y`]: '' }).in(text))).toEqual([400, POINTER]);
});
