/**
 * The words by which mail is searched. Every store and every test of a query splits text with this, so that all find
 * the same.
 */

/** Longer words are cut, in texts and queries. */
export const MAX_WORD = 64;
/** Words of one text beyond this many are not indexed. */
const MAX_WORDS = 8_000;

const MARKS = /\p{M}+/gu;
/** In scripts without spaces between words, each character is a word. */
const WORD =
  /[[\p{L}\p{N}]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]]+|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/gv;

/** The words of a text in order: letters and digits only, in lower case, without accents. */
export function wordsOf(text: string): string[] {
  // Marks are removed first: normalizing long runs of them takes quadratic time.
  const bare = text.replace(MARKS, '');
  const plain = bare.normalize('NFKD').toLowerCase().normalize('NFKD').replace(MARKS, '');
  const words: string[] = [];
  for (const [word] of plain.matchAll(WORD)) {
    if (words.length === MAX_WORDS) break;
    words.push(word.length <= MAX_WORD ? word : word.slice(0, MAX_WORD).toWellFormed());
  }
  return words;
}

/**
 * Whether a text contains these words consecutively; `isStart`: and of the last one only the beginning. Every text contains
 * an empty list.
 */
export function holdsWords(text: string, words: readonly string[], isStart = false): boolean {
  if (words.length === 0) return true;
  const all = wordsOf(text);
  const last = isStart ? words.length - 1 : words.length;
  return all.some((_, start) =>
    words.every((word, place) => {
      const found = all[start + place];
      return place < last ? found === word : found?.startsWith(word);
    }),
  );
}
