/** Prints how the house is cut, as a table: `npm run house`. Tests are left out. `npm run house -- rooms` adds a row for each room. */
import { isNode, localImports, readTree, type SourceFile, targetOf } from './source-tree.ts';

/** Files below so many lines count as small. */
const SMALL = 50;

const everything = readTree('{src,web/src,test,bench,tools}/**/*.{ts,tsx}');
const isTest = ({ path }: SourceFile) => /\.test\.tsx?$/.test(path);
const linesOf = ({ text }: SourceFile) => text.split('\n').length - 1;
const product = everything.filter((file) => /^(src|web)\//.test(file.path) && !isTest(file));

/** By path, the files of the product that import it. */
const importers = new Map<string, Set<string>>();
/** By path and name, the files that import an export, tests among them. */
const uses = new Map<string, Set<string>>();
for (const file of everything) {
  if (product.includes(file)) for (const target of localImports(file)) addTo(importers, target, file.path);
  for (const { type, source, specifiers } of file.nodes) {
    if (type !== 'ImportDeclaration' || !isNode(source) || !Array.isArray(specifiers)) continue;
    const target = targetOf(file.path, String(source['value']));
    for (const specifier of specifiers.filter(isNode)) {
      const { imported } = specifier;
      if (isNode(imported)) addTo(uses, `${target} ${String(imported['name'])}`, file.path);
    }
  }
}

function addTo(map: Map<string, Set<string>>, key: string, path: string): void {
  const known = map.get(key) ?? new Set<string>();
  map.set(key, known.add(path));
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.floor(middle - 0.5)] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}

function countOf(files: readonly SourceFile[], kind: string): number {
  return files.reduce((sum, { nodes }) => sum + nodes.filter(({ type }) => type === kind).length, 0);
}

/** Exports that one other file imports, and no more. */
function usedOnce(files: readonly SourceFile[]): number {
  const paths = new Set(files.map(({ path }) => path));
  return [...uses].filter(([key, users]) => users.size === 1 && paths.has(key.split(' ', 1)[0] ?? '')).length;
}

function row(name: string, files: readonly SourceFile[]): string {
  const lines = files.map(linesOf);
  const sum = lines.reduce((total, one) => total + one, 0);
  const cells = [
    files.length,
    sum,
    median(lines),
    Math.max(...lines),
    lines.filter((one) => one < SMALL).length,
    files.filter(({ path }) => importers.get(path)?.size === 1).length,
    countOf(files, 'TSInterfaceDeclaration'),
    usedOnce(files),
  ];
  return `| ${[name, ...cells].join(' | ')} |`;
}

const heads = [
  'where',
  'files',
  'lines',
  'median',
  'longest',
  `under ${SMALL}`,
  'imported by one file',
  'interfaces',
  'exports used by one file',
];
const within = (folder: string) => product.filter(({ path }) => path.startsWith(`${folder}/`));
const rows = ['src', 'web/src'].map((folder) => row(folder, within(folder)));
if (process.argv[2] === 'rooms') {
  const rooms = new Set(within('src').map(({ path }) => path.split('/', 2).join('/')));
  for (const room of rooms) if (!room.endsWith('.ts')) rows.push(row(room, within(room)));
}
process.stdout.write(
  `${[`| ${heads.join(' | ')} |`, `|${heads.map(() => '---|').join('')}`, ...rows].join('\n')}\n`,
);
