/**
 * The words that mail is found by. Every store and every test of a query takes a text apart by this, so that what one
 * finds the others find as well.
 */

/** Longer words are cut, on both sides. */
export const MAX_WORD = 64;
/** Words of one text beyond this many are not found. */
const MAX_WORDS = 8_000;

const MARKS = /\p{M}+/gu;
/** Scripts that put no space between words are found by each of their signs. */
const WORD =
  /[[\p{L}\p{N}]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]]+|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/gv;

/** The words of a text in their order: letters and digits only, in lower case, without accents. */
export function wordsOf(text: string): string[] {
  // Marks go first: what orders long runs of them takes the square of their length.
  const bare = text.replace(MARKS, '');
  const plain = bare.normalize('NFKD').toLowerCase().normalize('NFKD').replace(MARKS, '');
  const words: string[] = [];
  for (const [word] of plain.matchAll(WORD)) {
    if (words.length === MAX_WORDS) break;
    words.push(word.length <= MAX_WORD ? word : word.slice(0, MAX_WORD).toWellFormed());
  }
  return words;
}

/** Whether these words stand one after the other in a text. None stand in every text. */
export function holdsWords(text: string, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const all = wordsOf(text);
  return all.some((_, start) => words.every((word, place) => all[start + place] === word));
}
