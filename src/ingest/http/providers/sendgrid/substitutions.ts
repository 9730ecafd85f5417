import { Problem } from '../../../../http/problem.ts';
import type { NamedValue } from '../../fields.ts';
import { messageTooLarge } from '../../read-fields.ts';

/** SendGrid's `substitutions`: tags of any form, which are replaced as they are written (contract-2 §C4).
 * A file of its own: hostile tags and texts are its concern. */

/** Characters of a text times those of all tags: more would keep others waiting. */
const MAX_WORK = 200_000_000;
/** Tags in one text. */
const MAX_REPLACED = 100_000;

/** The tags of one message and what stands in their place. */
export class Substitutions {
  readonly #values: ReadonlyMap<string, string>;
  readonly #pattern: RegExp;
  /** Characters of all tags. */
  readonly #length: number;
  readonly #pointer: string;
  readonly #maxBytes: number;

  /** `pointer`: where they are in the body; no text may become longer than `maxBytes`. */
  constructor(values: readonly NamedValue[], pointer: string, maxBytes: number) {
    this.#values = new Map(values.filter(([tag]) => tag !== ''));
    // The longest first: one tag may begin another.
    const tags = [...this.#values.keys()].toSorted((a, b) => b.length - a.length);
    this.#pattern = new RegExp(tags.map(literally).join('|'), 'g');
    this.#length = tags.reduce((sum, { length }) => sum + length, 0);
    this.#pointer = pointer;
    this.#maxBytes = maxBytes;
  }

  /** The text with every tag replaced, once: what a value says is not looked at again. Throws a `Problem`: 400, 413. */
  in(text: string): string {
    if (this.#values.size === 0) return text;
    if (text.length * this.#length > MAX_WORK) throw this.#tooMuch();
    let { length } = text;
    let replaced = 0;
    return text.replace(this.#pattern, (tag) => {
      const value = this.#values.get(tag) ?? tag;
      length += value.length - tag.length;
      // Else a small request could fill the memory.
      if (length > this.#maxBytes) throw messageTooLarge(length, this.#maxBytes);
      replaced += 1;
      if (replaced > MAX_REPLACED) throw this.#tooMuch();
      return value;
    });
  }

  #tooMuch(): Problem {
    const detail = 'There is too much to replace in so long a text; shorten the text, or use fewer tags.';
    const errors = [{ pointer: this.#pointer, code: 'too_many', detail }];
    return new Problem(400, 'invalid_submission', detail, { errors });
  }
}

function literally(tag: string): string {
  return tag.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
