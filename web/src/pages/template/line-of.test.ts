import { expect, test } from 'vitest';
import { lineOf } from './line-of.ts';

const TEMPLATE = `<p>Hello {{name}},</p>
{{#lines}}
<p>{{count}} × {{{title}}}: {{price}}</p>
{{/lines}}
<hr>
<p>Bye.</p>
<p>{{shop}}</p>`;
const MADE = `<p>Hello Ann,</p>
<p>2 × Beans: 25</p>
<p>1 × Filter: 12</p>
<hr>
<p>Bye.</p>
<p>Shop</p>`;

test.each([
  [1, 1],
  [2, 3],
  [3, 3],
  [4, 5],
  [5, 6],
  [6, 7],
  [7, null],
])('line %d of the mail comes from line %s of its template', (line, of) => {
  expect(lineOf(TEMPLATE, MADE, line)).toBe(of);
});

test('a line that no line of the template can say comes from none', () => {
  expect(lineOf('<p>{{a}}</p>', '<p>first\nsecond</p>', 2)).toBe(null);
  expect(lineOf('ab{{x}}ba', 'aba', 1)).toBe(null);
  expect(lineOf('', '', 1)).toBe(null);
});

test('many tags in a long line take no long time', () => {
  const template = `${'{{a}}b'.repeat(5_000)}\n`.repeat(20);
  expect(lineOf(template, 'b'.repeat(50_000), 1)).toBe(1);
});
