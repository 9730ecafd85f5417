/** The list of rules in docs/security.md is true: each names a test that is there. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROGRAMS } from './spied-programs.ts';

const ROOT = join(import.meta.dirname, '../..');
const DOCUMENT = 'docs/security.md';
const ROW = /^\| (?<rule>[^|]+) \| `(?<file>[^`|]+)` \| (?<title>[^|]+) \|$/gm;
/** There were as many when the list was made: it grows. */
const LEAST = 80;

/** A rule, and the test that holds it. */
interface Row {
  readonly rule: string;
  readonly file: string;
  readonly title: string;
}

function rows(): readonly Row[] {
  const text = readFileSync(join(ROOT, DOCUMENT), 'utf8');
  return [...text.matchAll(ROW)].map(({ groups = {} }) => {
    const { rule = '', file = '', title = '' } = groups;
    return { rule, file, title };
  });
}

/** Those whose test is not in its file: by its title, word for word, as the first argument of a test or what follows its table. */
function missing(list: readonly Row[]): readonly Row[] {
  return list.filter(({ file, title }) => {
    const source = sourceOf(file);
    const quoted = [`'${title}'`, `"${title}"`, `'${title.replaceAll("'", "\\'")}'`];
    return !quoted.some((name) => source.includes(`(${name}`) || source.includes(`  ${name},`));
  });
}

function sourceOf(file: string): string {
  try {
    return readFileSync(join(ROOT, file), 'utf8');
  } catch {
    return '';
  }
}

test('every rule of security names a test that is there, word for word', () => {
  const list = rows();
  expect(missing(list)).toEqual([]);
  expect(list.length).toBeGreaterThanOrEqual(LEAST);
  expect(new Set(list.map(({ file, title }) => `${file} ${title}`)).size).toBe(list.length);
});

test('a test that is renamed, or moved, is missed', () => {
  const [first] = rows();
  if (first === undefined) throw new Error('there are no rules');
  const renamed = { ...first, title: `${first.title} now` };
  const moved = { ...first, file: 'test/security/nowhere.test.ts' };
  expect(missing([first, renamed, moved])).toEqual([renamed, moved]);
});

test('the server starts no programs but those whose arguments and environment are looked at', () => {
  const files = globSync('src/**/*.ts', { cwd: ROOT }).filter((file) => !file.endsWith('.test.ts'));
  const starting = files.filter((file) => sourceOf(file).includes('node:child_process'));
  const started = starting.flatMap((file) =>
    [...sourceOf(file).matchAll(/(?<![.\w])(?:execFile|spawn|exec|fork)(?:Sync)?\((?:'([^']*)')?/g)].map(
      ([, name]) => name,
    ),
  );
  expect(started).toEqual(PROGRAMS);
});
