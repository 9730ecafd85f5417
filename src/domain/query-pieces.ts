/** A piece of what was typed: a word or a quoted phrase, alone or behind a token. */
export interface Piece {
  /** What stands before the colon, in lower case; null without one. */
  readonly token: string | null;
  /** Without its quotes. */
  readonly value: string;
  /** A minus stands before it. */
  readonly not: boolean;
}

/** A token: letters and a colon, and then no two slashes, so that addresses of web pages are words. */
const TOKEN = /^([a-z]{2,12}):(?!\/\/)/i;

/** Takes a query apart. A quote that is not closed goes to the end. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let rest = text.trimStart();
  while (rest !== '') {
    const not = rest.startsWith('-') && rest.length > 1 && !/^-\s/.test(rest);
    if (not) rest = rest.slice(1);
    const token = TOKEN.exec(rest);
    if (token !== null) rest = rest.slice(token[0].length);
    const [value, length] = valueAt(rest);
    rest = rest.slice(length).trimStart();
    if (token !== null || value !== '') pieces.push({ token: token?.[1]?.toLowerCase() ?? null, value, not });
  }
  return pieces;
}

/** The value that the text begins with, and how many characters it takes. */
function valueAt(text: string): [value: string, length: number] {
  if (text.startsWith('"')) {
    const close = text.indexOf('"', 1);
    return close < 0 ? [text.slice(1).trim(), text.length] : [text.slice(1, close).trim(), close + 1];
  }
  const end = /\s/.exec(text)?.index ?? text.length;
  return [text.slice(0, end), end];
}
