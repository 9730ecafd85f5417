import { expect, test } from 'vitest';
import { withoutComments } from './comments.ts';

test.each([
  ['a@x.test', 'a@x.test'],
  ['a@x.test (Jane)', 'a@x.test  '],
  ['(a (b) \\) c)d', ' d'],
  ['"(a)" (b) <c>', '"(a)"   <c>'],
  ['("a) b', '  b'],
  ['("a)")b', '("a)")b'],
  ['a (b', 'a (b'],
  ['a) b', 'a) b'],
  ['"a (b)', '"a (b)'],
])('%j without comments is %j', (text, rest) => expect(withoutComments(text)).toBe(rest));
