/** A deliberate bug, as data: what is changed, which promise that breaks, and which tests must find it. */

/** One place of the source, and what stands there instead. */
export interface Edit {
  /** Relative to the root of the repository. */
  readonly file: string;
  /** Text that stands in the file exactly once: where the source has changed, the mutant is stale, and says so. */
  readonly before: string;
  readonly after: string;
}

/** A test that must fail. */
export interface Trap {
  /** The suite, relative to the root of the repository. */
  readonly file: string;
  /** Part of the test's full name. Only tests that have it are run. */
  readonly test: string;
  /** What the suite is told besides, such as which histories to play. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** A deliberate bug. */
export interface Mutant {
  readonly name: string;
  /** The promise that it breaks: a sentence. */
  readonly breaks: string;
  readonly edits: readonly Edit[];
  /** Each of them must find it. */
  readonly traps: readonly Trap[];
}

/** How often a text stands in another; overlaps count once. */
function occurrences(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** A source with the edit made. Throws `StaleMutant` unless the text stands there exactly once. */
export function edited(source: string, { file, before, after }: Edit): string {
  const found = occurrences(source, before);
  if (found !== 1) throw new StaleMutant(`${file} has this ${found} times instead of once:\n${before}`);
  return source.replace(before, () => after);
}

/** The source has changed, so that a mutant cannot be made any more as it was meant. */
export class StaleMutant extends Error {}
