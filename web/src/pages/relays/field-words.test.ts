import { expect, test } from 'vitest';
import { wordsOf } from './field-words.ts';

test('a type has its own words, and the rest those of the table', () => {
  const field = { name: 'secret', label: 'Secret', meaning: 'What the provider knows us by.' };
  expect(wordsOf('postmark', field).label).toBe('Server token');
  expect(wordsOf('tomorrow', field)).toEqual({ label: 'Secret', meaning: 'What the provider knows us by.' });
});

test('forms have no null', () => {
  const field = { name: 'port', label: 'Port', meaning: 'Its port. null means 587; null means us.' };
  expect(wordsOf('ses', field).meaning).toBe('Its port. Empty means 587; empty means us.');
});
