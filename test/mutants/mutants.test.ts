/** The table of mutants fits the tree as it is; what they come to, `npm run mutants` finds out. */
import { existsSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { edited, StaleMutant } from './mutant.ts';
import { MUTANTS } from './mutants.ts';
import { ROOT } from './tree.ts';
import { judge } from './trial.ts';

/** How many there must be at least. */
const LEAST = 12;

test('there are enough mutants, each under a name of its own', () => {
  expect(MUTANTS.length).toBeGreaterThanOrEqual(LEAST);
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
});

test.each(MUTANTS)('$name can still be made, and names tests that are there', ({ edits, traps }) => {
  const sources = new Map<string, string>();
  for (const edit of edits) {
    const source = sources.get(edit.file) ?? readFileSync(join(ROOT, edit.file), 'utf8');
    sources.set(edit.file, edited(source, edit));
  }
  for (const source of sources.values()) expect(() => stripTypeScriptTypes(source)).not.toThrow();
  expect(traps).not.toEqual([]);
  for (const { file, test: name } of traps) {
    expect(name).not.toBe('');
    expect(existsSync(join(ROOT, file)), file).toBe(true);
  }
});

test('a mutant whose text is gone, or stands twice, is stale', () => {
  const edit = { file: 'a.ts', before: 'one', after: 'two' };
  expect(edited('one', edit)).toBe('two');
  for (const source of ['', 'one one']) expect(() => edited(source, edit)).toThrow(StaleMutant);
});

describe('a mutant is caught by what a test saw', () => {
  const failing = (error: string, name: string | null = 'holds') => ({
    ended: true,
    seen: [{ file: 'a.test.ts', test: name, passed: false, errors: [error] }],
  });

  test('and by nothing else', () => {
    expect(judge(failing('AssertionError: expected 1 to be 2')).kind).toBe('caught');
    expect(judge(failing('TestTimeoutError: Test timed out in 60000ms.')).kind).toBe('broken');
    expect(judge(failing('ReferenceError: x is not defined')).kind).toBe('broken');
    expect(judge(failing('Error: cannot be read', null)).kind).toBe('broken');
    expect(judge({ ...failing('AssertionError: too late'), ended: false }).kind).toBe('broken');
  });

  test('not while all tests pass, or none was run', () => {
    const passing = { file: 'a.test.ts', test: 'holds', passed: true, errors: [] };
    expect(judge({ ended: true, seen: [passing] }).kind).toBe('passed');
    expect(judge({ ended: true, seen: [] }).kind).toBe('empty');
  });
});
