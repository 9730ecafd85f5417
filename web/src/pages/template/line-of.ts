/**
 * From a line of a mail to the line of its template. It is in a file of its own because it is nothing but text in and a
 * number out: sections repeat lines, leave them out, and take away those that hold their tags alone, so that the numbers
 * of lines say little.
 */

/** A tag of a template. */
const TAG = /\{\{\{[^{}]*\}\}\}|\{\{[^{}]*\}\}/g;

/**
 * The line of a template, from 1, that a line of what was made of it comes from: of those that can say it, the one of which
 * most is there word by word, and of several such the nearest; null where none can.
 */
export function lineOf(template: string, made: string, line: number): number | null {
  const said = made.split('\n')[line - 1];
  if (said === undefined || said.trim() === '') return null;
  let best: { readonly at: number; readonly words: number } | null = null;
  for (const [place, text] of template.split('\n').entries()) {
    const at = place + 1;
    const words = wordsIn(text, said);
    if (words === null || (best !== null && words < best.words)) continue;
    const isNearer = best === null || Math.abs(at - line) < Math.abs(best.at - line);
    if (isNearer || (best !== null && words > best.words)) best = { at, words };
  }
  return best?.at ?? null;
}

/** How many characters around its tags a line of a template has, if it can become this; null if it cannot. */
function wordsIn(text: string, said: string): number | null {
  const parts = text.split(TAG);
  const [first = ''] = parts;
  const last = parts.at(-1) ?? '';
  const words = parts.join('').trim().length;
  if (words === 0) return null;
  if (parts.length === 1) return text === said ? words : null;
  if (!said.startsWith(first)) return null;
  let from = first.length;
  for (const part of parts.slice(1, -1)) {
    const at = said.indexOf(part, from);
    if (at === -1) return null;
    from = at + part.length;
  }
  return said.length - last.length >= from && said.endsWith(last) ? words : null;
}
