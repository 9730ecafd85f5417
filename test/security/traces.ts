/** Everything that a run left behind where others may read it, by where it lies. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SecretBook } from './secret-book.ts';

/** See the file's comment. */
export class Traces {
  readonly #places = new Map<string, Buffer[]>();

  /** Every place at which there is something. */
  get places(): readonly string[] {
    return [...this.#places]
      .filter(([, pieces]) => pieces.some(({ length }) => length > 0))
      .map(([place]) => place);
  }

  /** Adds what lies at a place. */
  add(place: string, seen: string | Buffer): void {
    const piece = typeof seen === 'string' ? Buffer.from(seen) : seen;
    this.#places.set(place, [...(this.#places.get(place) ?? []), piece]);
  }

  /** Adds every file of a folder, but for those whose names are given: they are the secrets' own. */
  addFiles(place: string, folder: string, own: readonly string[]): void {
    for (const file of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!file.isFile() || own.includes(file.name)) continue;
      const path = join(file.parentPath, file.name);
      this.add(`${place}: ${path.slice(folder.length + 1)}`, readFileSync(path));
    }
  }

  /** What is given away, and where: `place: secret (form)`. */
  leaks(book: SecretBook): readonly string[] {
    return [...this.#places].flatMap(([place, pieces]) =>
      book.findIn(Buffer.concat(pieces)).map((found) => `${place}: ${found}`),
    );
  }
}
