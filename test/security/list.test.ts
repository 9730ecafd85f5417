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
/** What starts processes, imported in whichever way. */
const STARTS = /['"](?:(?:node:)?child_process|node:cluster)['"]/;
const PLAIN_IMPORT = /^import \{ ([\w, ]+) \} from 'node:child_process';$/m;

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

/**
 * The programs that a source starts, each for one place. A place where we cannot tell stands for itself: an import that is not a
 * plain one, or the function where it is not called at once, with a name.
 */
function programsIn(source: string): readonly string[] {
  const found = PLAIN_IMPORT.exec(source);
  const names = found?.[1]?.split(', ').filter((name) => !name.startsWith('type ')) ?? [];
  if (found === null || names.some((name) => name.includes(' '))) return ['imported as nobody can follow'];
  const rest = source.replace(found[0], '');
  if (STARTS.test(rest)) return ['imported twice'];
  return names.flatMap((name) =>
    [...rest.matchAll(new RegExp(`\\b${name}\\b(?:\\('([^']*)')?`, 'g'))].map(
      ([place, program]) => program ?? place,
    ),
  );
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
  const starting = files.filter((file) => STARTS.test(sourceOf(file))).sort();
  expect(starting).toEqual(['src/app/service-manager.ts', 'src/control/doctor/machine.ts']);
  expect(starting.flatMap((file) => programsIn(sourceOf(file)))).toEqual(PROGRAMS);
});

test.each([
  ['by another name', "import { execFile as run } from 'node:child_process';\nrun('ls');"],
  ['as a whole', "import * as children from 'node:child_process';\nchildren.execFile('ls');"],
  ['when it is needed', "const { execFile } = await import('child_process');\nexecFile('ls');"],
  [
    'and handed on',
    "import { execFile } from 'node:child_process';\nconst run = promisify(execFile);\nrun('ls');",
  ],
  ['for a name that varies', "import { execFile } from 'node:child_process';\nexecFile(name);"],
  [
    'beside a known one',
    "import { execFile } from 'node:child_process';\nexecFile('timedatectl');\nexecFile('ls');",
  ],
])('what starts programs is not overlooked where it is imported %s', (_, source) => {
  expect(STARTS.test(source)).toBe(true);
  expect(programsIn(source)).not.toEqual(PROGRAMS);
});
