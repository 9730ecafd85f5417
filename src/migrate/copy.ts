import { moveContents } from './contents.ts';
import type { MovedFrom } from './marks.ts';
import type { Note, Side } from './side.ts';
import type { Steps } from './steps.ts';
import { COPIED, keyOf, MESSAGES, MOVED_FROM, type Row, type TableShape } from './tables.ts';

/** Rows of a transaction; attempts and messages may be large. */
const PAGE_ROWS = 1_000;
const LARGE_PAGE_ROWS = 200;
const LARGE: ReadonlySet<string> = new Set(['messages', 'deliveries', 'attempts']);

/** Copies everything that has not been copied yet, and notes with every page how far it is. */
export async function copyAll(source: Side, target: Side, begun: MovedFrom, steps: Steps): Promise<void> {
  let mark = begun;
  for (const [place, shape] of COPIED.entries()) {
    if (mark.table !== shape.name) continue;
    await copyTable(source, target, shape, mark, steps);
    mark = { ...mark, table: COPIED[place + 1]?.name ?? null, after: null };
    await target.putNotes([noteOf(mark)]);
  }
}

async function copyTable(
  source: Side,
  target: Side,
  shape: TableShape,
  mark: MovedFrom,
  steps: Steps,
): Promise<void> {
  const limit = LARGE.has(shape.name) ? LARGE_PAGE_ROWS : PAGE_ROWS;
  await steps.begin('copy', shape);
  let { after } = mark;
  for (;;) {
    const rows = await source.page(shape, after, limit);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = keyOf(shape, last);
    await writePage(source, target, shape, rows, noteOf({ ...mark, after }));
    steps.done(rows.length);
  }
}

/** The bytes first, then the facts that refer to them. What was not referred to when we were stopped is collected later. */
async function writePage(
  source: Side,
  target: Side,
  shape: TableShape,
  rows: readonly Row[],
  note: Note,
): Promise<void> {
  if (shape !== MESSAGES) return await target.write(shape, rows, note);
  const moved = await moveContents(rows, source.spool, target.spool);
  try {
    await target.write(shape, moved.rows, note);
  } finally {
    target.spool.decided(moved.refs);
  }
}

/** The note that says how far a migration is. */
export function noteOf(mark: MovedFrom): Note {
  return { name: MOVED_FROM, value: JSON.stringify(mark) };
}
