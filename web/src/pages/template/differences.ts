/** What differs between two versions of a text, line by line. */

/** A run of lines: in both, in the older alone, or in the newer alone. */
export interface DifferenceRun {
  readonly kind: 'same' | 'removed' | 'added';
  readonly lines: readonly string[];
}

/** Texts with more different lines than this, multiplied, are not matched line by line: that would take too long. */
const MAX_CELLS = 2_000_000;

/** The runs of which both texts are made, in their order; what was removed stands before what was added in its place. */
export function differences(older: string, newer: string): readonly DifferenceRun[] {
  const [before, after] = [linesOf(older), linesOf(newer)];
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const removed = before.slice(head, before.length - tail);
  const added = after.slice(head, after.length - tail);
  return joined([
    { kind: 'same', lines: before.slice(0, head) },
    ...between(removed, added),
    { kind: 'same', lines: before.slice(before.length - tail) },
  ]);
}

/** An empty text has no line. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.replaceAll('\r\n', '\n').split('\n');
}

/** The longest common subsequence, by the table of its lengths; all as replaced where that would be too large. */
function between(before: readonly string[], after: readonly string[]): DifferenceRun[] {
  const width = after.length + 1;
  if (before.length * after.length > MAX_CELLS)
    return [
      { kind: 'removed', lines: before },
      { kind: 'added', lines: after },
    ];
  const lengths = new Uint32Array((before.length + 1) * width);
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row--)
    for (let column = after.length - 1; column >= 0; column--)
      lengths[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
  const runs: DifferenceRun[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    const [old, fresh] = [before[row], after[column]];
    if (old !== undefined && old === fresh) {
      runs.push({ kind: 'same', lines: [old] });
      row++;
      column++;
    } else if (old !== undefined && (fresh === undefined || at(row + 1, column) >= at(row, column + 1))) {
      runs.push({ kind: 'removed', lines: [old] });
      row++;
    } else if (fresh !== undefined) {
      runs.push({ kind: 'added', lines: [fresh] });
      column++;
    }
  }
  return runs;
}

/** Neighbours of one kind as one run; empty ones are left out. */
function joined(runs: readonly DifferenceRun[]): readonly DifferenceRun[] {
  const all: { readonly kind: DifferenceRun['kind']; readonly lines: string[] }[] = [];
  for (const { kind, lines } of runs) {
    const last = all.at(-1);
    if (lines.length === 0) continue;
    if (last?.kind === kind) for (const line of lines) last.lines.push(line);
    else all.push({ kind, lines: [...lines] });
  }
  return all;
}

/** Lines around a change that stay in sight. */
const CONTEXT = 3;
/** Fewer lines are shown rather than counted. */
const MIN_SKIPPED = 4;

/** A run, or so many lines that did not change and are not shown. */
export type Excerpt = DifferenceRun | { readonly kind: 'skipped'; readonly count: number };

/** What is shown of the runs: of what did not change, the lines beside a change alone. */
export function excerpts(runs: readonly DifferenceRun[]): readonly Excerpt[] {
  return runs.flatMap((run, place): readonly Excerpt[] => {
    const { kind, lines } = run;
    const above = place === 0 ? 0 : CONTEXT;
    const below = place === runs.length - 1 ? 0 : CONTEXT;
    const count = lines.length - above - below;
    if (kind !== 'same' || count < MIN_SKIPPED) return [run];
    const parts: readonly Excerpt[] = [
      { kind, lines: lines.slice(0, above) },
      { kind: 'skipped', count },
      { kind, lines: lines.slice(lines.length - below) },
    ];
    return parts.filter((part) => part.kind === 'skipped' || part.lines.length > 0);
  });
}

/** How many lines were added, and removed. */
export function tally(runs: readonly DifferenceRun[]): { readonly added: number; readonly removed: number } {
  const count = (kind: DifferenceRun['kind']) =>
    runs.reduce((sum, run) => sum + (run.kind === kind ? run.lines.length : 0), 0);
  return { added: count('added'), removed: count('removed') };
}
