/**
 * Holds the documents to the tree: their links lead somewhere, and the sources, commands, settings and metrics that they name
 * are there.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { SETTINGS } from '../src/config/settings.ts';
import { METRICS } from '../src/observe/metric-table.ts';
import { versionsWritten } from '../tools/set-version.ts';
import { demandsSince, factsIn, STABLE, stableDoc, stableFacts } from '../tools/stable-doc.ts';
import { Installation } from './support/installation.ts';
import { firstCells } from './support/smtp-refusals.ts';

const ROOT = join(import.meta.dirname, '..');
const NOT_OURS = ['**/node_modules/**', 'dist/**'];

const inTree = (pattern: string) => globSync(pattern, { cwd: ROOT, exclude: NOT_OURS });
const documents = inTree('**/*.md').map((path) => {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return { path, text, prose: text.replaceAll(/^```[\s\S]*?^```$/gm, '') };
});
const sources = inTree('{src,test,bench,tools,web}/**/*.{ts,tsx}');

test('there are documents', () => {
  expect(documents.length).toBeGreaterThan(50);
});

test('every link leads to a file, and to a heading in it', () => {
  const dead = documents.flatMap(({ path, prose }) =>
    linksOf(prose)
      .filter((link) => !leadsSomewhere(path, link))
      .map((link) => `${path}: ${link}`),
  );
  expect(dead).toEqual([]);
});

test('every document lies one click from docs/README.md, or is of a folder that has a page of its own', () => {
  const list = documents.find(({ path }) => path === 'docs/README.md');
  const linked = linksOf(list?.prose ?? '').map((link) => join('docs', link.replace(/#.*/, '')));
  const ours = documents.map(({ path }) => path).filter((path) => /^docs\/[^/]+\.md$/.test(path));
  expect(ours.filter((path) => path !== list?.path && !linked.includes(path))).toEqual([]);
});

test('every source that is named is there; one without a folder lies below the document', () => {
  const missing = documents.flatMap(({ path, prose }) =>
    [...prose.matchAll(/`([\w./-]+\.tsx?)`/g)]
      .map(([, name = '']) => name)
      .filter((name) => !isSource(path, name))
      .map((name) => `${path}: ${name}`),
  );
  expect(missing).toEqual([]);
});

test('every document that is named in passing is there', () => {
  const missing = documents.flatMap(({ path, text }) =>
    [...text.matchAll(/\b(?:docs|deploy|bench)\/[\w/-]+\.(?:md|yaml|json)\b/g)]
      .map(([name]) => name)
      .filter((name) => !existsSync(join(ROOT, name)))
      .map((name) => `${path}: ${name}`),
  );
  expect(missing).toEqual([]);
});

test('every command that is shown is there, with its options', () => {
  const here = new Installation();
  const root = here.commands();
  here.remove();
  // Decisions tell of what was, and of keys that are derived from words such as `waybill contents`.
  const lines = documents
    .filter(({ path }) => !path.startsWith('docs/decisions/'))
    .flatMap(({ path, text }) => commandsIn(text).map((line) => ({ path, line })));
  expect(lines.length).toBeGreaterThan(300);
  const unknown = lines.flatMap(({ path, line }) =>
    unknownIn(line, root).map((word) => `${path}: waybill ${line}: ${word}`),
  );
  expect(unknown).toEqual([]);
});

test('every setting that is named is there', () => {
  const sections = new Set(Object.keys(SETTINGS).map((key) => key.split('.')[0]));
  const events = firstCells('docs/operations.md', 'Event | Level | What happened').join(' ');
  const isSetting = (name: string) =>
    Object.keys(SETTINGS).some((key) => key === name || key.startsWith(`${name}.`)) ||
    events.includes(`\`${name}\``);
  const unknown = documents.flatMap(({ path, prose, text }) =>
    [
      prose.matchAll(/`([a-z_]+(?:\.[a-z_]+)+)(?:=[^`]*|: [^`]*)?`/g),
      text.matchAll(/WAYBILL_([A-Z_]+__[A-Z_]+)/g),
    ]
      .flatMap((found) => [...found])
      .map(([, name = '']) =>
        name
          .toLowerCase()
          .replaceAll('__', '.')
          .replace(/_file$/, ''),
      )
      .filter((name) => sections.has(name.split('.')[0]) && !NAMES_A_FILE.test(name))
      .filter((name) => !isSetting(name) && !isSetting(`${name}_file`))
      .map((name) => `${path}: ${name}`),
  );
  expect(unknown).toEqual([]);
});

test('nothing that a release promised is gone', () => {
  const now = stableFacts();
  const gone = [...factsIn(readFileSync(STABLE, 'utf8'))].filter((fact) => !now.has(fact));
  expect(gone, 'docs/stability.md says that these stay').toEqual([]);
});

test('no request demands more than a release did', () => {
  expect(
    demandsSince(readFileSync(STABLE, 'utf8')),
    'a new field must be optional; if only a new variant needs it, add its line to docs/stable.txt by hand',
  ).toEqual([]);
});

test('a demand is new only where what it is part of is not', () => {
  const before = 'takes Mail => a! a:string list:object[] list? old? old:string\nwaybill => --version\n';
  const now = [
    ['takes Mail', 'a! b! c? list[].d! new? new.e!'],
    ['takes Else', 'f!'],
    ['gives Mail', 'g!'],
    ['waybill', '<file>!'],
  ];
  const facts = factsIn(now.map(([thing, told]) => `${thing} => ${told}\n`).join(''));
  expect(demandsSince(before, facts)).toEqual(['takes Mail b!', 'takes Mail list[].d!', 'waybill <file>!']);
});

test('what is new is promised, too', () => {
  const told = readFileSync(STABLE, 'utf8');
  expect(told, 'run: node tools/stable-doc.ts').toBe(stableDoc(told));
});

test('every version of the program that is written down is that of package.json', () => {
  const [own, ...others] = versionsWritten();
  expect(others.length).toBeGreaterThan(10);
  expect(others.filter(({ version }) => version !== own?.version)).toEqual([]);
});

test('every metric that is named is there', () => {
  const unknown = documents.flatMap(({ path, text }) =>
    [...text.matchAll(/\bsvc_[a-z0-9_]+/g)]
      .map(([name]) => name)
      .filter((name) => !(name.replace(/_(?:bucket|sum|count)$/, '') in METRICS) && !(name in METRICS))
      .map((name) => `${path}: ${name}`),
  );
  expect(unknown).toEqual([]);
});

/** What looks like a setting, and is a file or a domain. */
const NAMES_A_FILE = /\.(?:ts|key|crt|json|com)$/;

/** What follows `waybill` in blocks for a shell and in code within the text. */
function commandsIn(text: string): readonly string[] {
  const whole = text.replaceAll(/\\\n\s*/g, ' ');
  const blocks = [...whole.matchAll(/^```(?:sh|console)?(?: [^\n]*)?\n([\s\S]*?)^```$/gm)];
  const spans = whole.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`]+)`/g);
  const lines = [
    ...blocks.flatMap(([, block = '']) => block.split('\n')),
    ...[...spans].map(([, span = '']) => span.replaceAll(/\s+/g, ' ')),
  ];
  return lines.flatMap((line) =>
    [
      ...line.matchAll(
        /(?:^|[|(] ?|\$ |sudo |timeout \d+ )(?:\.\/)?waybill ((?:'[^']*'|"[^"]*"|[^`|);&#>]|\|(?=\w))+)/g,
      ),
    ].map(([, command = '']) => command.trim()),
  );
}

/** The words of a command line that are no command and no option; `a|b` stands for both. */
function unknownIn(line: string, root: Command): readonly string[] {
  let at: readonly Command[] = [root];
  let isNaming = true;
  return (line.match(/'[^']*'|"[^"]*"|\S+/g) ?? []).filter((word) => {
    const names = word.split('|').map((name) => name.replace(/=.*/, ''));
    if (word.startsWith('--')) return !names.every((name) => at.every((command) => takes(command, name)));
    if (!isNaming || !/^[a-z|-]+$/.test(word)) {
      isNaming = false;
      return false;
    }
    const next = at.flatMap(({ commands }) =>
      names.flatMap((name) => commands.filter((command) => command.name() === name)),
    );
    isNaming = next.length === names.length;
    if (isNaming) at = next;
    return !isNaming && at.some(({ commands }) => commands.length > 0);
  });
}

function takes(command: Command, option: string): boolean {
  if (option === '--help' || command.options.some(({ long }) => long === option)) return true;
  return command.parent !== null && takes(command.parent, option);
}

function linksOf(prose: string): readonly string[] {
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^(https?|mailto):/.test(link));
}

function leadsSomewhere(path: string, link: string): boolean {
  const [file = '', heading] = link.split('#');
  const target = file === '' ? path : join(dirname(path), file);
  if (heading === undefined) return existsSync(join(ROOT, target));
  const document = documents.find((other) => other.path === target);
  return document !== undefined && headingsOf(document.prose).includes(heading);
}

/** The headings of a document as links name them. */
function headingsOf(prose: string): readonly string[] {
  return [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function isSource(path: string, name: string): boolean {
  const folder = dirname(path);
  if (name.includes('/'))
    return [folder, '.', 'src', 'web/src'].some((from) => sources.includes(join(from, name)));
  const below = folder === '.' || folder.startsWith('docs') ? '' : `${folder}/`;
  return sources.some(
    (source) => source.endsWith(`/${name}`) && (source.startsWith(below) || name.endsWith('.test.ts')),
  );
}
