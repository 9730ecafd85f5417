import type { Entry } from './entries.ts';

/** As many are shown of those that words find. */
export const MAX_MATCHES = 24;

/** The entries that a text finds, those whose label begins so first. A file of its own: nothing here knows what entries are. */
export function matching(entries: readonly Entry[], text: string): readonly Entry[] {
  const words = fold(text).split(/\s+/).filter(Boolean);
  const whole = words.join(' ');
  return entries
    .map((entry) => ({ entry, rank: rankOf(entry, words, whole) }))
    .filter(({ rank }) => rank !== null)
    .sort((a, b) => Number(a.rank) - Number(b.rank))
    .slice(0, MAX_MATCHES)
    .map(({ entry }) => entry);
}

/** 0 is best; null: it is not found. */
function rankOf({ label, words: more = '', detail = '' }: Entry, words: readonly string[], whole: string) {
  const name = fold(label);
  if (name.startsWith(whole)) return 0;
  if (words.every((word) => beginsAWord(name, word))) return 1;
  const all = `${name} ${fold(more)} ${fold(detail)}`;
  if (words.every((word) => beginsAWord(all, word))) return 2;
  // Within a word: of names such as `news-eu`, or of what is typed from its middle.
  return words.every((word) => word.length >= 3 && all.includes(word)) ? 3 : null;
}

function beginsAWord(text: string, word: string): boolean {
  return text.startsWith(word) || text.includes(` ${word}`);
}

/** Without case and accents. */
function fold(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().trim();
}
