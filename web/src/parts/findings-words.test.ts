import { expect, test } from 'vitest';
import { countWords, type Finding, placeOf } from './findings-words.ts';

test.each([
  ['', 'The whole message', '', null],
  ['/html', 'HTML', '/html', null],
  ['/html#L12', 'HTML, line 12', '/html', 12],
  ['/attachments/0', 'Attachment 1', '/attachments/0', null],
  ['header:Reply-To', 'Reply-To (header)', 'header:Reply-To', null],
  ['/something/else', '/something/else', '/something/else', null],
])('where a finding is, is said in words: %s', (where, words, part, line) => {
  expect(placeOf(where)).toEqual({ words, part, line });
});

test('findings are counted, the worst first', () => {
  const some = (severity: Finding['severity']): Finding => ({
    code: 'x',
    severity,
    where: '',
    detail: '',
    fix: '',
  });
  expect(countWords([some('hint'), some('error'), some('hint')])).toBe('1 error, 2 hints');
  expect(countWords([])).toBe('');
});
