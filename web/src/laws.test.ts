/** Holds the web to its laws: of the server it sees types of the contract and of the operations alone, and nothing of it writes HTML. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const files = globSync('**/*.{ts,tsx}', { cwd: import.meta.dirname })
  .sort()
  .map((path) => ({ path, text: readFileSync(join(import.meta.dirname, path), 'utf8') }));

/** What of the server it may see, as types. */
const SEEN = /\/src\/(dashboard\/contract|operations\/(table|operation))\.ts$/;

test('of the server only types of the contract and of operations are imported', () => {
  const shipped = files.filter(({ path }) => !path.includes('.test.'));
  const breaches = shipped.flatMap(({ path, text }) =>
    [...text.matchAll(/^import ([^;]*?)from '((?:\.\.\/)+src\/[^']+)';/gm)]
      .filter(([, names = '', from = '']) => !names.startsWith('type ') || !SEEN.test(from))
      .map(([statement]) => `${path}: ${statement}`),
  );
  expect(breaches).toEqual([]);
});

test('no HTML is written from text', () => {
  const writes = /dangerouslySetInnerHTML|\.innerHTML|insertAdjacentHTML|document\.write/;
  const breaches = files.filter(({ path, text }) => path !== 'laws.test.ts' && writes.test(text));
  expect(breaches.map(({ path }) => path)).toEqual([]);
});

test('every column of a table says in its head what it holds', () => {
  const shipped = files.filter(({ path }) => !path.includes('.test.'));
  const columns = shipped.flatMap(({ path, text }) =>
    [...text.matchAll(/\bheader: (.+)/g)].map(([, header = '']) => ({ path, header })),
  );
  // Those of other tables than DataTable, which writes what `header` says.
  const bare = shipped.filter(({ text }) => /<th\b[^>]*(\/>|>\s*<\/th>)/.test(text));
  expect(columns.length).toBeGreaterThan(20);
  expect(columns.filter(({ header }) => /^(''|""|``|' +')/.test(header))).toEqual([]);
  expect(bare.map(({ path }) => path)).toEqual([]);
});
