/** Texts of forms and queries (`application/x-www-form-urlencoded`), read strictly: nothing is patched. */

/** What is wrong where {@link decodePercent} gives null, as the end of a sentence. */
export const PERCENT_CURE = 'a malformed percent escape; write UTF-8, and "%" as "%25".';

/** Decodes a name or a value; null for a malformed escape, and for escapes that are no UTF-8. */
export function decodePercent(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}
