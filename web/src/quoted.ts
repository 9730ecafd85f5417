/** A word of a command line that a shell takes as it is written: as `shellWord` of the server, which the page may not import. */
export function quoted(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
