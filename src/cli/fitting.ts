/** Text that fits a terminal. What is written elsewhere, where the width is null, stays whole. */
import { fold, oneLine, table } from './terminal.ts';

/** Columns are parted by two blanks. */
const GAP = 2;
/** To fewer characters than this no column is cut. */
const NARROWEST = 6;
/** A last column that has less room than this is cut and not folded. */
const FOLDED = 24;

/** The text in at most so many characters; cut, it ends in an ellipsis. */
export function clip(text: string, columns: number): string {
  const characters = [...text];
  return characters.length > columns ? `${characters.slice(0, columns - 1).join('')}…` : text;
}

/** A time in ISO 8601, for a terminal without its seconds. */
export function shortTime(time: string, columns: number | null): string {
  return columns === null || time === '' ? time : time.replace(/:\d\d([.]\d+)?Z$/, 'Z');
}

/** A line folded to a terminal's width; what continues is moved in. */
export function foldLine(line: string, indent: number, columns: number | null): string {
  return columns === null ? oneLine(line) : fold(oneLine(line), indent, columns).join('\n');
}

/** A table that is no wider than the terminal: the widest columns are cut, one after the other, until it fits. */
export function fittingTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number | null,
): string {
  if (columns === null) return table(headings, rows);
  const widths = cutTo(widthsOf([headings, ...rows]), headings, columns);
  const cut = rows.map((row) => row.map((cell, place) => clip(oneLine(cell), widths[place] ?? 0)));
  return table(headings, cut)
    .split('\n')
    .map((line) => clip(line, columns))
    .join('\n');
}

/** As {@link fittingTable}, but the last column is folded: what it says may be a command to run. */
export function foldedTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number | null,
): string {
  if (columns === null) return table(headings, rows);
  const last = headings.length - 1;
  const others = widthsOf([headings, ...rows]).slice(0, last);
  const room = columns - FOLDED - GAP;
  const widths = cutTo(others, headings, room);
  const indent = widths.reduce((sum, width) => sum + width + GAP, 0);
  const width = columns - indent;
  const lines = rows.flatMap((row) => {
    const cells = row.slice(0, last).map((cell, place) => clip(oneLine(cell), widths[place] ?? 0));
    const [first = '', ...more] = fold(oneLine(row[last] ?? ''), 0, Math.max(1, width));
    return [[...cells, first], ...more.map((line) => [...cells.map(() => ''), line])];
  });
  return table(headings, lines);
}

function widthsOf(lines: readonly (readonly string[])[]): number[] {
  const count = lines[0]?.length ?? 0;
  return Array.from({ length: count }, (_, place) =>
    Math.max(...lines.map((line) => [...(line[place] ?? '')].length)),
  );
}

/** The widths, the widest cut until all fit; none to less than its heading. */
function cutTo(widths: readonly number[], headings: readonly string[], columns: number): number[] {
  const cut = [...widths];
  const least = headings.map((heading) => Math.max(NARROWEST, [...heading].length));
  let excess = cut.reduce((sum, width) => sum + width + GAP, -GAP) - columns;
  for (; excess > 0; excess--) {
    const widest = cut.reduce(
      (best, width, place) => (width > (least[place] ?? 0) && width > (cut[best] ?? 0) ? place : best),
      -1,
    );
    if (widest < 0) break;
    cut[widest] = (cut[widest] ?? 0) - 1;
  }
  return cut;
}
