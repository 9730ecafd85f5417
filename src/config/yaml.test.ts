import { expect, test } from 'vitest';
import { readYaml } from './yaml.ts';

test('a text is read as it is meant', () => {
  expect(readYaml('a: &x { b: 1 }\nc: [*x, 0x1F, ~]\n"1": yes')).toEqual({
    ok: true,
    lineOf: expect.any(Function),
    root: { a: { b: 1 }, c: [{ b: 1 }, 31, null], '1': 'yes' },
  });
  expect(readYaml('# nothing')).toEqual({ ok: true, root: null, lineOf: expect.any(Function) });
});

test.each([
  ['a: 1\nb: 2\na: 3', ['Map keys must be unique at line 3, column 1']],
  [
    '{ a: 1, a: 2, "a": 3 }',
    ['Map keys must be unique at line 1, column 9', 'Map keys must be unique at line 1, column 15'],
  ],
  ['x:\n  - y: 1\n    y: 2', ['Map keys must be unique at line 3, column 5']],
  ['x: { : 1, ~: 2 }', ['Map keys must be unique at line 1, column 11']],
  ['a: &x [*x]', ['has an alias within its own value']],
  ['a: &x { b: { c: *x } }', ['has an alias within its own value']],
  ['a: *x', ['cannot be read: Unresolved alias (the anchor must be set before the alias): x']],
])('%j is refused, with every reason', (text, rules) => {
  expect(readYaml(text)).toEqual({ ok: false, rules });
});

test.each([
  [
    'api:\n  port: 8025\n   bind: x\n',
    'line 3, column 4: is indented by 3 spaces, like no line above that it could belong to; expected 2 as in line 2, or 0 as in line 1',
  ],
  [
    'api:\n  port: 8025\n\n # why\n bind: x\n',
    'line 5, column 2: is indented by 1 space, like no line above that it could belong to; expected 2 as in line 2, or 0 as in line 1',
  ],
  [
    'relays:\n  - name: out\n   type: smtp\n',
    'line 3, column 4: is indented by 3 spaces, like no line above that it could belong to; expected 4 as in line 2, or 2 as in line 2, or 0 as in line 1',
  ],
  [
    'relays:\n  - name: out\n     type: smtp\n',
    'line 3, column 6: is indented by 5 spaces, like no line above that it could belong to; expected 4 as in line 2, or 2 as in line 2, or 0 as in line 1',
  ],
  [
    'api:\n\tport: 8025\n',
    'line 2, column 1: is indented by a tab; YAML allows only spaces, such as two for each level',
  ],
  [
    'api:\n  port 8025\n  bind: x\n',
    'line 2, column 3: expected a colon and a blank after the name, as in "port: 8025"',
  ],
  [
    'api:\n  name: a: b\n',
    'line 2, column 9: a second key is in this line; put a value that contains a colon and a blank in quotes',
  ],
  ['api: { port: 1\nlog: x\n', 'line 2, column 1: expected , or }: a { further up is not closed'],
  ['l:\n  ports: [25, 587\napi: 1\n', 'line 3, column 1: expected , or ]: a [ further up is not closed'],
  ['x: @foo\n', 'line 1, column 4: a value cannot begin with @; put it in quotes'],
  ['x: "abc\n', 'line 2, column 1: the text ends within quotes; the closing quote is missing'],
  [
    '---\na: 1\n---\nb: 1\n',
    'line 3, column 1: a second document begins; only one is allowed, so remove the line ---',
  ],
  ['a: [1,2]]\n', 'line 1, column 9: Unexpected flow-seq-end token in YAML stream: "]"'],
])('%j is refused with line, column and what was expected', (text, rule) => {
  expect(readYaml(text)).toEqual({ ok: false, rules: [rule] });
});

test('the same name may be anchored again: an alias stands for the last before it', () => {
  expect(readYaml('a: &x 1\nb: *x\nc: &x [*x]\nd: *x')).toMatchObject({ ok: false });
  expect(readYaml('a: &x 1\nb: *x\nc: &x 2\nd: *x')).toEqual({
    ok: true,
    root: { a: 1, b: 1, c: 2, d: 2 },
    lineOf: expect.any(Function),
  });
});

test('aliases have a limit', () => {
  const aliases = (count: number) => Array.from({ length: count }, (_, index) => (index % 2 ? '*x' : '*y'));
  const list = (count: number) => `a: [&x 1, &y 2]\nb: [${aliases(count).join(', ')}]`;
  expect(readYaml(list(100)).ok).toBe(true);
  expect(readYaml(list(101))).toEqual({ ok: false, rules: ['has 101 aliases; at most 100 are allowed'] });
});

test('all maps together have a limit of keys', () => {
  const keys = (count: number) => Array.from({ length: count }, (_, index) => `k${index}: 1\n`).join('');
  expect(readYaml(keys(20_000)).ok).toBe(true);
  const rules = ['has more than 20000 keys; remove some'];
  expect(readYaml(keys(20_001))).toEqual({ ok: false, rules });
  expect(readYaml(`a:\n${keys(20_000).replaceAll('k', ' k')}`)).toEqual({ ok: false, rules });
  // Without reading it all, which would take seconds: what is wrong behind them is not seen.
  expect(readYaml(`${keys(60_000)}a: [`)).toEqual({ ok: false, rules });
  expect(readYaml(`a: [${"'x: y', ".repeat(30_000)}]`).ok).toBe(true);
});

test('a carriage return belongs to the end of a line', () => {
  expect(readYaml('a: 1\r\n\r\nb: 2\r\n')).toEqual({
    ok: true,
    root: { a: 1, b: 2 },
    lineOf: expect.any(Function),
  });
  const rules = ['has a carriage return without a line feed after it at line 2'];
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
