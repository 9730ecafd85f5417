import type { NamedValue } from '../../fields.ts';
import { type Replacing, replaceMatches, tooMuchToReplace } from '../replacing.ts';

/** SendGrid's `substitutions`: tags of any form, which are replaced as they are written (contract-2 §C4).
 * A file of its own: hostile tags and texts are its concern. */

/** Characters of a text times those of all tags: more would keep others waiting. */
const MAX_WORK = 200_000_000;

/** The tags of one message and what stands in their place. */
export class Substitutions {
  readonly #values: ReadonlyMap<string, string>;
  /** Null: there is nothing to replace. */
  readonly #pattern: RegExp | null;
  /** Characters of all tags. */
  readonly #length: number;
  readonly #bounds: Replacing;

  /** `pointer`: where they are in the body; no text may become longer than `maxBytes`. */
  constructor(values: readonly NamedValue[], pointer: string, maxBytes: number) {
    this.#values = new Map(values.filter(([tag]) => tag !== ''));
    // The longest first: one tag may begin another.
    const tags = [...this.#values.keys()].toSorted((a, b) => b.length - a.length);
    this.#pattern = tags.length === 0 ? null : new RegExp(tags.map(literally).join('|'), 'g');
    this.#length = tags.reduce((sum, { length }) => sum + length, 0);
    this.#bounds = { pointer, maxBytes };
  }

  /** The text with every tag replaced, once: what a value says is not looked at again. Throws a `Problem`: 400, 413. */
  in(text: string): string {
    if (this.#pattern === null) return text;
    if (text.length * this.#length > MAX_WORK) throw tooMuchToReplace(this.#bounds.pointer);
    return replaceMatches(text, this.#pattern, (tag) => this.#values.get(tag) ?? null, this.#bounds);
  }
}

function literally(tag: string): string {
  return tag.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
