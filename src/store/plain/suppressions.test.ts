import { expect, test } from 'vitest';
import { planOf, watched } from '../../../test/support/watched-driver.ts';
import { suppressionKeys } from '../../domain/suppressed-address.ts';
import { Pseudonyms } from '../../lib/pseudonym.ts';
import { openDatabase } from '../sqlite/open.ts';
import { plainVerbs } from '../sqlite/plain.ts';
import type { SuppressionQuery } from '../suppressions.ts';

const ALL: SuppressionQuery = {
  address: null,
  domain: null,
  reason: null,
  scopes: null,
  stream: null,
  since: null,
  until: null,
  limit: 50,
  before: null,
  now: 0,
};

/** How SQLite runs what a piece of work asks; each statement looks at one table. */
function plansOf(work: (verbs: ReturnType<typeof plainVerbs>) => void): string[] {
  const { db, seen } = watched(openDatabase(':memory:'));
  work(plainVerbs(db, new Pseudonyms()));
  return seen.sql.flatMap((sql) => planOf(db, sql));
}

test('whether a recipient is suppressed costs six reads of one index at most', () => {
  const deep = suppressionKeys('ann+x@a.b.c.d.e.f.g.example.org');
  expect(deep).toHaveLength(6);
  const plan = plansOf((verbs) => verbs.suppressionsUnder(deep));
  // And one that finds out whether anybody was erased.
  expect(plan.filter((step) => step.startsWith('SEARCH'))).toEqual([
    'SEARCH suppressions USING INDEX suppressions_by_address (address=?)',
    'SEARCH suppressions USING COVERING INDEX suppressions_by_domain (domain=?)',
    'SEARCH suppressions USING PRIMARY KEY (id=?)',
  ]);
});

test.each([
  ['of everything', {}, 'PRIMARY KEY (id<?)'],
  ['of a domain', { domain: 'example.org' }, 'INDEX suppressions_by_domain (domain=? AND id<?)'],
  ['of a scope', { scopes: ['key:key_1'] }, 'INDEX suppressions_by_scope (scope=? AND id<?)'],
  ['of the global scope', { scopes: ['global'] }, 'PRIMARY KEY (id<?)'],
  ['of an address', { address: 'ann@example.org' }, 'INDEX suppressions_by_address (address=?)'],
] as const)('a page %s is read from an index in its order, without a sort', (_name, query, index) => {
  expect(plansOf((verbs) => verbs.suppressions({ ...ALL, ...query }))).toEqual([
    `SEARCH suppressions USING ${index}`,
  ]);
});

test('the entries that end first are found by their index, however many never end', () => {
  const [search] = plansOf((verbs) => verbs.forgetSuppressions(5, 9)).filter((line) =>
    line.includes('suppressions_ending'),
  );
  expect(search).toBe('SEARCH suppressions USING COVERING INDEX suppressions_ending (expires_at<?)');
});
