/** What people type to find mail. */
import { expect, test } from 'vitest';
import { holdsWords, MAX_WORD, wordsOf } from '../../src/domain/mail-words.ts';
import { parseDay, parseQuery } from '../../src/domain/query.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { textOf } from './inputs.ts';

const typed = {
  made: textOf(
    ...([
      'invoice',
      ' ',
      ' ',
      '"',
      '-',
      'to:',
      'from:',
      'subject:',
      'status:',
      'failed',
      'tag:',
      'id:',
    ] as const),
    ...[
      'before:',
      'after:',
      '2026-11-20',
      '2026-02-30T',
      'is:captured',
      'is:scheduled',
      'relay:',
      'key:',
      'a@x.test',
      '<',
      '>',
      ':',
    ],
  ),
  corpus: corpus('search', (bytes) => bytes.toString()),
};

test('whatever is typed is a query, and what could not be read is told', () =>
  fuzz('search words', typed, (text) => {
    const { query, notes } = parseQuery(text);
    expect(query.terms.length).toBeLessThanOrEqual(32);
    expect(notes.length).toBeLessThanOrEqual(34);
    for (const term of query.terms) {
      if (term.kind === 'words') expect(term.words.length).toBeGreaterThan(0);
      if (term.kind === 'tag') expect(term.tag).not.toBe('');
    }
    for (const time of [query.since, query.until])
      if (time !== null) expect(Number.isInteger(time)).toBe(true);
    const day = parseDay(text);
    if (day !== null) expect(new Date(day).toISOString().slice(0, 10)).toBe(text.slice(0, 10));
    return query.terms.length > 0;
  }));

test('a text has words without case, accents or signs, and holds every run of them', () =>
  fuzz('words of a text', typed, (text) => {
    const words = wordsOf(text);
    const isWord = (word: string) => word !== '' && word.length <= MAX_WORD && word.isWellFormed();
    expect(words.filter((word) => !isWord(word))).toEqual([]);
    expect(holdsWords(text, words.slice(0, 5))).toBe(true);
    return words.length > 0;
  }));
