import { Problem } from '../../../http/problem.ts';
import { messageTooLarge } from '../read-fields.ts';

/** Values in place of what stands for them in texts. A file of its own: hostile texts and values are its concern. */

/** Replaced in one text: more would keep others waiting. */
const MAX_REPLACED = 100_000;

/** The bounds of the texts of one message. */
export interface Replacing {
  /** Where the values are in the body. */
  readonly pointer: string;
  /** No text may become longer. */
  readonly maxBytes: number;
}

/**
 * The text with every match replaced, once: what a value says is not looked at again. Null: the match stays. Throws a
 * `Problem`: 400 for too many, 413 for a text that becomes too long.
 */
export function replaceMatches(
  text: string,
  pattern: RegExp,
  replacement: (match: string, name: string) => string | null,
  { pointer, maxBytes }: Replacing,
): string {
  let { length } = text;
  let replaced = 0;
  return text.replace(pattern, (match: string, name: unknown) => {
    const value = replacement(match, typeof name === 'string' ? name : '') ?? match;
    length += value.length - match.length;
    // Else a small request could fill the memory.
    if (length > maxBytes) throw messageTooLarge(length, maxBytes);
    replaced += 1;
    if (replaced > MAX_REPLACED) throw tooMuchToReplace(pointer);
    return value;
  });
}

/** The refusal of what would take too long. */
export function tooMuchToReplace(pointer: string): Problem {
  const detail = 'There is too much to replace in so long a text; shorten the text, or use fewer tags.';
  return new Problem(400, 'invalid_submission', detail, { errors: [{ pointer, code: 'too_many', detail }] });
}
