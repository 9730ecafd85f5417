import { expect, test } from 'vitest';
import { readYaml } from './yaml.ts';

test('a text is read as it is meant', () => {
  expect(readYaml('a: &x { b: 1 }\nc: [*x, 0x1F, ~]\n"1": yes')).toEqual({
    ok: true,
    root: { a: { b: 1 }, c: [{ b: 1 }, 31, null], '1': 'yes' },
  });
  expect(readYaml('# nothing')).toEqual({ ok: true, root: null });
});

test.each([
  ['a: 1\nb: 2\na: 3', ['Map keys must be unique at line 3, column 1']],
  [
    '{ a: 1, a: 2, "a": 3 }',
    ['Map keys must be unique at line 1, column 9', 'Map keys must be unique at line 1, column 15'],
  ],
  ['x:\n  - y: 1\n    y: 2', ['Map keys must be unique at line 3, column 5']],
  ['x: { : 1, ~: 2 }', ['Map keys must be unique at line 1, column 11']],
  ['a: &x [*x]', ['has an alias within what it stands for']],
  ['a: &x { b: { c: *x } }', ['has an alias within what it stands for']],
  ['a: *x', ['cannot be read: Unresolved alias (the anchor must be set before the alias): x']],
])('%j is refused, with every reason', (text, rules) => {
  expect(readYaml(text)).toEqual({ ok: false, rules });
});

test('the same name may be anchored again: an alias stands for the last before it', () => {
  expect(readYaml('a: &x 1\nb: *x\nc: &x [*x]\nd: *x')).toMatchObject({ ok: false });
  expect(readYaml('a: &x 1\nb: *x\nc: &x 2\nd: *x')).toEqual({ ok: true, root: { a: 1, b: 1, c: 2, d: 2 } });
});

test('aliases have a limit', () => {
  const aliases = (count: number) => Array.from({ length: count }, (_, index) => (index % 2 ? '*x' : '*y'));
  const list = (count: number) => `a: [&x 1, &y 2]\nb: [${aliases(count).join(', ')}]`;
  expect(readYaml(list(100)).ok).toBe(true);
  expect(readYaml(list(101))).toEqual({ ok: false, rules: ['has 101 aliases, and may have 100'] });
});

test('a carriage return belongs to the end of a line', () => {
  expect(readYaml('a: 1\r\n\r\nb: 2\r\n')).toEqual({ ok: true, root: { a: 1, b: 2 } });
  const rules = ['has a carriage return without a line feed behind it at line 2'];
  for (const text of ['a: 1\r\nb:\r 2\n', 'a: 1\nb: 2\r', `a: 1\n]b${'\r'.repeat(100_000)}c:\n`])
    expect(readYaml(text)).toEqual({ ok: false, rules });
});

test.each([
  ['lists in blocks', (levels: number) => `${'- '.repeat(levels)}x`],
  ['lists in brackets', (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`],
  ['maps', (levels: number) => `${'{ a: '.repeat(levels)}1${' }'.repeat(levels)}`],
])('%s may be nested, but not without end', (_, nested) => {
  expect(readYaml(nested(30)).ok).toBe(true);
  for (const levels of [100, 1000, 4000, 10_000])
    expect(readYaml(nested(levels))).toEqual({ ok: false, rules: ['is nested too deeply'] });
});
