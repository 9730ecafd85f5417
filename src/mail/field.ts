/** Line length that RFC 5322 §2.1.1 recommends, without CRLF. */
export const SOFT_LINE = 78;
/** Line length that RFC 5322 §2.1.1 allows, without CRLF. */
export const HARD_LINE = 998;

/** Must never come near a header: it would end the field, or the header. */
const LINE_ENDING = /[\r\n\0]/;
/** A blank between two words. Next to another blank a line could come to consist of blanks only. */
const SINGLE_BLANK = /(?<=[^ \t]) (?=[^ \t])/;

/**
 * Writes one header field, CRLF included. Words are joined by blanks, and lines folded at them (RFC 5322 §2.2.3).
 * Throws a RangeError on CR, LF or NUL: the callers' checks come first, but no bug of theirs may inject a header.
 */
export function writeField(name: string, words: readonly string[]): string {
  const value = words.join(' ');
  assertOneLine(value);
  if (value === '') return `${name}:\r\n`;
  if (name.length + 2 + value.length <= SOFT_LINE) return `${name}: ${value}\r\n`;
  let text = `${name}:`;
  let column = text.length;
  for (const [index, word] of words.entries()) {
    // The first word stays beside the name: a first line without a value is one that some readers drop.
    if (index > 0 && column + 1 + word.length > SOFT_LINE) {
      text += '\r\n';
      column = 0;
    }
    text += ` ${word}`;
    column += 1 + word.length;
  }
  return `${text}\r\n`;
}

/** Whether text holds what no header field may: CR, LF or NUL. */
export function breaksLine(text: string): boolean {
  return LINE_ENDING.test(text);
}

/** Throws a RangeError on text that `breaksLine`: the last guard against an injected header. */
export function assertOneLine(text: string): void {
  if (breaksLine(text)) throw new RangeError('line ending in a header field');
}

/** Splits text where a line may be folded, so that joining the words by blanks gives it back. */
export function foldableWords(text: string): string[] {
  return text === '' ? [] : text.split(SINGLE_BLANK);
}

/** Splits the value of a structured field whose blanks all mean the same. */
export function tokenWords(text: string): string[] {
  return text.split(/[ \t]+/).filter((word) => word !== '');
}
