/** Suggests the known name for a mistyped one. */

/** Edits allowed between a name and a suggestion: in a short name, two would turn it into any other. */
const MAX_EDITS = { short: 1, long: 2 } as const;
const SHORT_NAME = 4;
/** Characters in which writers of names differ: `replyTo`, `reply_to`, `Reply-To`. */
const SEPARATORS = /[_-]/g;

/**
 * The known name that `name` most likely meant: equal but for case, `_` and `-`, or one or two edits away (a character
 * added, left out, wrong, or swapped with its neighbour). Null if none is that near. Of equally near ones the first,
 * but one with the same first character before others, since few mistype that: a suggestion of `cc` for `bc` would
 * expose recipients meant to be hidden. Costs nothing for a name much longer than the known ones.
 */
export function nearest(name: string, known: Iterable<string>): string | null {
  const given = fold(name);
  if (given.length < 2) return null;
  const maxEdits = given.length <= SHORT_NAME ? MAX_EDITS.short : MAX_EDITS.long;
  let best: { readonly name: string; readonly distance: number } | null = null;
  for (const candidate of known) {
    const folded = fold(candidate);
    const edits = editsBetween(given, folded, maxEdits);
    if (edits > maxEdits) continue;
    // Half an edit only breaks ties.
    const distance = edits + (folded[0] === given[0] ? 0 : 0.5);
    if (best === null || distance < best.distance) best = { name: candidate, distance };
  }
  return best?.name ?? null;
}

/** Names of one request to compare with the known ones: more than anybody mistypes at once. */
const MAX_COMPARED = 20;

/** Makes the suggestions of one request. It stops after 20 names: a request may have tens of thousands. */
export class Suggester {
  #left = MAX_COMPARED;

  /** A sentence for the end of an error's detail, with a blank in front; empty if no known name is near. */
  didYouMean(name: string, known: Iterable<string>): string {
    if (this.#left === 0) return '';
    this.#left -= 1;
    const meant = nearest(name, known);
    return meant === null ? '' : ` Did you mean "${meant}"?`;
  }
}

/** Only the start of a long name: the rest makes it too different from any known name already. */
function fold(name: string): string {
  return name.slice(0, 200).toLowerCase().replace(SEPARATORS, '');
}

/** Damerau-Levenshtein distance (optimal string alignment) of two texts; `max + 1` if it is more than `max`. */
function editsBetween(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) > max) return max + 1;
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const here = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      here[column] = Math.min(
        at(above, column) + 1,
        at(here, column - 1) + 1,
        at(above, column - 1) + (same ? 0 : 1),
        swapped ? at(before, column - 2) + 1 : max + 1,
      );
    }
    [before, above] = [above, here];
  }
  return Math.min(at(above, b.length), max + 1);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? 0;
}
