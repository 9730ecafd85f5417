/** Quoted strings (RFC 5322 §3.2.4), quotation marks and all. */

/** The index after the closing quotation mark of the quoted string that begins at `start`; -1 without one. */
export function quotedEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
  return -1;
}

/** What a quoted string says. */
export function unquote(quoted: string): string {
  return quoted.slice(1, -1).replace(/\\(.)/gsu, '$1');
}

/** The quoted string that says this. */
export function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
