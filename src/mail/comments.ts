import { quotedEnd } from '../domain/quoted-string.ts';

/**
 * Text of a structured field without its comments (RFC 5322 §3.2.2), each made a blank: `a@x.test (Jane)`, as old
 * programs write their names. Text in which one is never closed stays as it is. Linear.
 */
export function withoutComments(text: string): string {
  let kept = '';
  let keptFrom = 0;
  for (let at = 0; at < text.length; ) {
    const char = text[at];
    const end = char === '"' ? quotedEnd(text, at) : char === '(' ? commentEnd(text, at) : at + 1;
    if (end < 0) return text;
    if (char === '(') {
      kept += `${text.slice(keptFrom, at)} `;
      keptFrom = end;
    }
    at = end;
  }
  return kept + text.slice(keptFrom);
}

/** Behind the parenthesis that closes the one at `start`; -1 without one. */
function commentEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (char === '\\') at++;
    else if (char === '(') depth++;
    else if (char === ')' && --depth === 0) return at + 1;
  }
  return -1;
}
