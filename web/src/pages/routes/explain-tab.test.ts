import { expect, test } from 'vitest';
import { explainQuery, NOTHING_ASKED, unmetWords } from './explain-tab.tsx';

test('what is empty is not asked', () => {
  expect(explainQuery({ ...NOTHING_ASKED, from: ' a@b.test ', to: 'c@d.test' })).toEqual([
    ['from', 'a@b.test'],
    ['to', 'c@d.test'],
  ]);
});

test('tags are several, and times are in UTC', () => {
  const form = {
    ...NOTHING_ASKED,
    from: '<>',
    to: 'c@d.test',
    tags: 'news, a b,',
    sizeBytes: 0,
    at: '2026-11-22T08:30',
  };
  expect(explainQuery(form)).toEqual([
    ['from', '<>'],
    ['to', 'c@d.test'],
    ['tag', 'news'],
    ['tag', 'a b'],
    ['sizeBytes', '0'],
    ['at', '2026-11-22T08:30:00Z'],
  ]);
});

test('a condition that is not known is named', () => {
  expect(unmetWords('tag')).toBe('it has no such tag');
  expect(unmetWords('moon')).toBe('moon does not hold');
});
