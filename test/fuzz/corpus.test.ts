/** The stored examples are small and few, and each is given to a parser. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { corpusFolders, examplesIn, MAX_EXAMPLE_BYTES, MAX_EXAMPLES } from './corpus.ts';
import { Dice } from './dice.ts';
import { mutate } from './mutate.ts';

test.each(corpusFolders())('the examples of %s are small, few and used', (folder) => {
  const examples = examplesIn(folder);
  expect(examples.length).toBeLessThanOrEqual(MAX_EXAMPLES);
  for (const { name, bytes } of examples) {
    expect(name).toMatch(/^[a-z0-9-]+$/);
    expect(bytes.length).toBeLessThanOrEqual(MAX_EXAMPLE_BYTES);
  }
  const tests = globSync('*.test.ts', { cwd: import.meta.dirname });
  const texts = tests.map((name) => readFileSync(join(import.meta.dirname, name), 'utf8'));
  expect(texts.join('')).toMatch(new RegExp(`corpus\\(\\s*'${folder}'`));
});

test('the same dice change an example the same, never beyond its bound, and mostly into something else', () => {
  const examples = [Buffer.from('MAIL FROM:<a@x.test> SIZE=10\r\n'), Buffer.alloc(0)];
  const made = Array.from({ length: 2000 }, (_, seed) => mutate(new Dice(seed), examples, 500));
  expect(made).toEqual(made.map((_, seed) => mutate(new Dice(seed), examples, 500)));
  expect(Math.max(...made.map(({ length }) => length))).toBe(500);
  expect(new Set(made.map((bytes) => bytes.toString('latin1'))).size).toBeGreaterThan(1000);
});
