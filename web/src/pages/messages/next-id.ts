/** Crockford's base32 as message ids are written with it; the order of its characters is that of their numbers. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/**
 * The id that follows one: as the `before` of a page it makes that message the first, so that a list can be fetched
 * again without what has come since. Null for what is no id.
 */
export function idAfter(id: string): string | null {
  const characters = [...id];
  for (let place = characters.length - 1; place >= 0; place--) {
    const number = ALPHABET.indexOf(characters[place] ?? '');
    if (number === -1) return null;
    characters[place] = ALPHABET.charAt((number + 1) % ALPHABET.length);
    if (number + 1 < ALPHABET.length) return characters.join('');
  }
  return null;
}
