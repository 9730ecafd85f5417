/**
 * Holds the tree to design §3: who may import whom, no cycles (not even by type), no re-exports, no machine time
 * or randomness outside lib, short files, short functions, generated documents up to date.
 */
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { ALERTS_DOC, alertsDoc, PROMETHEUS_RULES, prometheusRules } from '../tools/alerts-doc.ts';
import { CLIENT_TYPES, clientTypes } from '../tools/client-types.ts';
import { CONFIG_DOC, configDoc } from '../tools/config-doc.ts';
import { ERRORS_DOC, errorsDoc } from '../tools/errors-doc.ts';
import { METRICS_DOC, metricsDoc } from '../tools/metrics-doc.ts';
import { OPERATIONS_DOC, operationsDoc } from '../tools/operations-doc.ts';
import { PROVIDERS_DOC, providersDoc } from '../tools/providers-doc.ts';
import {
  findCycle,
  isNode,
  localImports,
  type Node,
  readTree,
  type SourceFile,
  targetOf,
} from '../tools/source-tree.ts';
import { WARMUP_PLOT, warmupPlot } from '../tools/warmup-plot.ts';
import { FREE_ROOMS, LAWS, type Law } from './support/laws.ts';

const FILE_WARN_LINES = 300;
const FILE_MAX_LINES = 400;
/** Made by a program, and as long as what it is made of. */
const GENERATED = 'src/client/types.ts';
const FUNCTION_MAX_LINES = 70;
/** On the page, where a function is mostly markup, or what its hooks close over. */
const WEB_FUNCTION_MAX_LINES = 160;
/** A shorter file that only one neighbour imports is part of that neighbour. */
const CRUMB_LINES = 60;
/** Where crumbs have been merged; a room joins when it has none left. */
const MERGED_ROOMS: readonly string[] = ['src/', 'web/'];
/** What a crumb says in a comment, with the reason, when it has to stay apart. */
const APART = /\ba file of its own\b/i;

/** The only files that may ask the machine for time and randomness. */
const MACHINE_FILES = ['src/lib/clock.ts', 'src/lib/random.ts', 'src/client/machine.ts'];
/** The only files that may give on what others define: the package's doors. */
const PACKAGE_ENTRIES = ['src/client/entry.ts', 'src/client/testing/entry.ts'];
const BANNED_NAMES = ['setTimeout', 'setInterval', 'randomUUID'];
const BANNED_MEMBERS = ['Date.now', 'performance.now', 'Math.random'];

const files = [...readTree('{src,test,bench,tools}/**/*.ts'), ...readTree('web/src/**/*.{ts,tsx}')];
const webFiles = files.filter(({ path }) => path.startsWith('web/') && !path.includes('.test.'));
const serverFiles = files.filter(({ path }) => path.startsWith('src/') && !path.endsWith('.test.ts'));

test('a room imports only what its law allows', () => {
  expect(serverFiles.flatMap(lawBreaches)).toEqual([]);
});

test('relative imports name the file, with its ending', () => {
  const endless = files.flatMap(({ path, imports }) =>
    imports
      .filter((name) => name.startsWith('.') && !/\.(tsx?|json|css|md\?raw)$/.test(name))
      .map((name) => `${path}: ${name}`),
  );
  expect(endless).toEqual([]);
});

test('nothing imports in a circle, not even for types', () => {
  expect(findCycle(new Map(files.map((file) => [file.path, localImports(file)])))).toEqual([]);
});

test('there are no barrels and no default exports', () => {
  // React loads the default export of a module that is loaded lazily.
  const lazy = new Set(webFiles.flatMap(lazyImports));
  const inner = [...serverFiles, ...webFiles].filter(({ path }) => !PACKAGE_ENTRIES.includes(path));
  const found = inner.flatMap(({ path, nodes }) =>
    nodes
      .filter(
        ({ type, source }) =>
          type === 'ExportAllDeclaration' ||
          (type === 'ExportDefaultDeclaration' && !lazy.has(path)) ||
          (type === 'ExportNamedDeclaration' && source),
      )
      .map(({ type }) => `${path}: ${type}`),
  );
  expect(found).toEqual([]);
});

test(`a file under ${CRUMB_LINES} lines that one neighbour imports is part of it, or says why not`, () => {
  const importers = new Map<string, string[]>();
  for (const file of files.filter(({ path }) => !path.includes('.test.')))
    for (const target of new Set(localImports(file)))
      importers.set(target, [...(importers.get(target) ?? []), file.path]);
  const crumbs = files.filter(({ path, text }) => {
    const [importer, another] = importers.get(path) ?? [];
    return (
      MERGED_ROOMS.some((room) => path.startsWith(room)) &&
      !path.includes('.test.') &&
      text.split('\n').length <= CRUMB_LINES &&
      importer !== undefined &&
      another === undefined &&
      dirname(importer) === dirname(path) &&
      !APART.test(text)
    );
  });
  expect(crumbs.map(({ path }) => path)).toEqual([]);
});

test('time, timers and randomness come from lib alone', () => {
  const found = serverFiles
    .filter(({ path }) => !MACHINE_FILES.includes(path))
    .flatMap((file) => file.nodes.filter(isBanned).map((node) => where(file, node)));
  expect(found).toEqual([]);
});

test('node:http comes from lib alone, unless for its types', () => {
  const found = serverFiles
    .filter(({ path }) => path !== 'src/lib/node-http.ts')
    .flatMap((file) => file.nodes.filter(isSlowImport).map((node) => where(file, node)));
  expect(found, 'import from lib/node-http.ts, which says why').toEqual([]);
});

test(`no file has more than ${FILE_MAX_LINES} lines`, () => {
  const written = files.filter(({ path }) => path !== GENERATED);
  const sizes = written.map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }));
  for (const { path, lines } of sizes)
    if (lines > FILE_WARN_LINES)
      process.stderr.write(`tidy: ${path} has ${lines} lines; think of splitting it\n`);
  expect(sizes.filter(({ lines }) => lines > FILE_MAX_LINES)).toEqual([]);
});

test(`no function has more than ${FUNCTION_MAX_LINES} lines, on the page ${WEB_FUNCTION_MAX_LINES}`, () => {
  const long = files
    .filter(({ path }) => !path.includes('.test.') && !path.startsWith('test/'))
    .flatMap((file) =>
      file.nodes.filter((node) => isLongFunction(file, node)).map((node) => where(file, node)),
    );
  expect(long).toEqual([]);
});

test('no literal is spread into another only to lie on one line', () => {
  const spread = files.flatMap((file) => file.nodes.filter(isSpreadLiteral).map((node) => where(file, node)));
  expect(spread, 'write its members out, or: // biome-ignore format: the reason').toEqual([]);
});

test('generated documents and types are up to date', () => {
  expect(readFileSync(CLIENT_TYPES, 'utf8'), 'run: node tools/client-types.ts').toBe(clientTypes());
  expect(readFileSync(CONFIG_DOC, 'utf8'), 'run: node tools/config-doc.ts').toBe(configDoc());
  expect(readFileSync(ERRORS_DOC, 'utf8'), 'run: node tools/errors-doc.ts').toBe(errorsDoc());
  expect(readFileSync(METRICS_DOC, 'utf8'), 'run: node tools/metrics-doc.ts').toBe(metricsDoc());
  expect(readFileSync(ALERTS_DOC, 'utf8'), 'run: node tools/alerts-doc.ts').toBe(alertsDoc());
  expect(readFileSync(PROMETHEUS_RULES, 'utf8'), 'run: node tools/alerts-doc.ts').toBe(prometheusRules());
  expect(readFileSync(OPERATIONS_DOC, 'utf8'), 'run: node tools/operations-doc.ts').toBe(operationsDoc());
  expect(readFileSync(PROVIDERS_DOC, 'utf8'), 'run: node tools/providers-doc.ts').toBe(providersDoc());
});

test('the picture of a warm-up is what the simulation does', async () => {
  expect(readFileSync(WARMUP_PLOT, 'utf8'), 'run: node tools/warmup-plot.ts').toBe(await warmupPlot());
});

function isBanned(node: Node): boolean {
  if (node.type === 'Identifier') return BANNED_NAMES.includes(String(node['name']));
  if (node.type === 'NewExpression')
    return (
      nameOf(node['callee']) === 'Date' && Array.isArray(node['arguments']) && node['arguments'].length === 0
    );
  if (node.type !== 'MemberExpression') return false;
  const member = `${nameOf(node['object'])}.${nameOf(node['property'])}`;
  return BANNED_MEMBERS.includes(member) || nameOf(node['property']) === 'randomUUID';
}

/** `{ ...{ a, b } }`, `[...[a, b]]`, `[...([a, b] as const)]` and `<Field {...{ a, b }} />`. */
function isSpreadLiteral({ type, properties, elements, attributes }: Node): boolean {
  const members = [properties, elements, attributes].filter(Array.isArray).flat().filter(isNode);
  const literal = type === 'ArrayExpression' ? 'ArrayExpression' : 'ObjectExpression';
  return members.some((member) => /Spread/.test(member.type) && isLiteral(member['argument'], literal));
}

/** Also in parentheses, and with `as const`. */
function isLiteral(node: unknown, type: string): boolean {
  return isNode(node) && (node.type === type || isLiteral(node['expression'], type));
}

function nameOf(value: unknown): string {
  return isNode(value) && value.type === 'Identifier' ? String(value['name']) : '';
}

function isSlowImport(node: Node): boolean {
  const { source, type } = node;
  return (
    type === 'ImportDeclaration' &&
    isNode(source) &&
    source['value'] === 'node:http' &&
    node['importKind'] !== 'type'
  );
}

function isLongFunction({ path, text }: SourceFile, { type, start, end }: Node): boolean {
  const isFunction = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'].includes(type);
  const max = path.startsWith('web/') ? WEB_FUNCTION_MAX_LINES : FUNCTION_MAX_LINES;
  return isFunction && text.slice(start, end).split('\n').length > max;
}

/** What a module loads when it is wanted, by `import()`. */
function lazyImports({ path, nodes }: SourceFile): string[] {
  return nodes.flatMap(({ type, source }) =>
    type === 'ImportExpression' && isNode(source) ? [targetOf(path, String(source['value']))] : [],
  );
}

function where({ path, text }: SourceFile, { start, end }: Node): string {
  const [line] = text.slice(start, end).split('\n', 1);
  return `${path}:${text.slice(0, start).split('\n').length}: ${line}`;
}

function lawBreaches(file: SourceFile): string[] {
  const room = roomOf(file.path);
  if (FREE_ROOMS.includes(room)) return [];
  const law = LAWS[room];
  if (law === undefined) return [`${file.path}: no law says what the room ${room} may import`];
  return file.imports
    .filter((name) => !isAllowed(file.path, name, room, law))
    .map((name) => `${file.path}: ${name}`);
}

function isAllowed(path: string, name: string, room: string, law: Law): boolean {
  if (!name.startsWith('.')) return law.packages.test(name);
  const target = targetOf(path, name);
  if (!target.startsWith('src/')) return false;
  return roomOf(target) === room || law.rooms.includes(roomOf(target)) || law.rooms.includes(target.slice(4));
}

function roomOf(path: string): string {
  const inner = path.slice('src/'.length);
  const rooms = [...Object.keys(LAWS), ...FREE_ROOMS].filter(
    (room) => inner === room || inner.startsWith(`${room}/`),
  );
  const [longest = inner.split('/', 1)[0] ?? ''] = rooms.sort((a, b) => b.length - a.length);
  return longest;
}
