import type { Entry } from './entries.ts';

/** As many are shown of those that words find. */
export const MAX_MATCHES = 24;

/**
 * The entries that a text finds, those whose label begins so first; what is called exactly so is found. A file of its own:
 * nothing here knows what entries do.
 */
export function matching(entries: readonly Entry[], text: string): readonly Entry[] {
  const words = fold(text).split(/\s+/).filter(Boolean);
  const whole = words.join(' ');
  const ranked = entries
    .map((entry) => ({ entry, rank: rankOf(entry, words, whole) }))
    .filter(({ rank }) => rank < NOT_FOUND)
    .sort((a, b) => a.rank - b.rank);
  const best = ranked[0]?.rank ?? NOT_FOUND;
  return ranked
    .filter(({ rank }) => rank < WITHIN || best === WITHIN)
    .slice(0, MAX_MATCHES)
    .map(({ entry, rank }) => (rank === EXACT ? { ...entry, group: 'Found' } : entry));
}

const EXACT = 0;
/** Within a word, such as the end of `news-eu`: too many are so to be shown beside better ones. */
const WITHIN = 4;
const NOT_FOUND = 5;

/** The less, the better. */
function rankOf(
  { label, words: more = '', detail = '' }: Entry,
  words: readonly string[],
  whole: string,
): number {
  const name = fold(label);
  if (name === whole) return EXACT;
  if (name.startsWith(whole)) return 1;
  if (words.every((word) => beginsAWord(name, word))) return 2;
  const all = `${name} ${fold(more)} ${fold(detail)}`;
  if (words.every((word) => beginsAWord(all, word))) return 3;
  return words.every((word) => word.length >= 3 && all.includes(word)) ? WITHIN : NOT_FOUND;
}

function beginsAWord(text: string, word: string): boolean {
  return text.startsWith(word) || text.includes(` ${word}`);
}

/** Without case and accents. */
function fold(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().trim();
}
