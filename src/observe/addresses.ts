/** How much of a mail address the log shows (contract §16): all, what follows the `@`, or nothing. */
export type AddressDetail = 'full' | 'domain' | 'none';

/**
 * A mail address wherever it stands in text. A local part is at most 64 octets, quoted or a run without
 * delimiters, so that the search is linear in the text, which a hostile peer may have written.
 */
const ADDRESS =
  /(?:"(?:[^"\\]|\\.){0,64}"|(?<![^\s<>()[\]",;:@])[^\s<>()[\]",;:@]+)@(\[[^\s\]]*\]|[^\s<>()[\]",;:]*)/gu;

/** `text` with every mail address in it shortened: `joe@example.com` → `*@example.com` or `*`. */
export function hideAddresses(text: string, detail: AddressDetail): string {
  if (detail === 'full' || !text.includes('@')) return text;
  return text.replace(ADDRESS, (_match, domain: string) => (detail === 'domain' ? `*@${domain}` : '*'));
}
