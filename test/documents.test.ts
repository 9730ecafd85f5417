/** Holds the documents to the tree: their links lead somewhere, and the sources that they name are there. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

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

test('every source that is named is there; one without a folder lies below the document', () => {
  const missing = documents.flatMap(({ path, prose }) =>
    [...prose.matchAll(/`([\w./-]+\.tsx?)`/g)]
      .map(([, name = '']) => name)
      .filter((name) => !isSource(path, name))
      .map((name) => `${path}: ${name}`),
  );
  expect(missing).toEqual([]);
});

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
