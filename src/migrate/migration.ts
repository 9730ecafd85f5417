import type { Random } from '../lib/random.ts';
import { moveContents } from './contents.ts';
import { COPIED } from './copied.ts';
import { MOVED_FROM, MOVED_TO, type MovedFrom, type MovedTo, markOf } from './derived.ts';
import { MigrationError, type MigrationStep, type Note, type Side, Steps, type TakeBack } from './side.ts';
import { GAUGES, keyOf, MESSAGES, type Row, reader, type TableShape } from './tables.ts';
import { type Verified, verify } from './verify.ts';

/** A migration between two sides that only this process uses. */
export interface MigrationTask {
  readonly source: Side;
  readonly target: Side;
  /** How to settle attempts that are in progress at the source. */
  readonly policyOf: TakeBack['policyOf'];
  readonly random: Random;
  readonly tell: (step: MigrationStep) => void;
}

/** The result: complete if nothing differs. */
export interface Migrated extends Verified {
  readonly from: string;
  readonly to: string;
  /** It continued an earlier run. */
  readonly resumed: boolean;
}

const ID_BYTES = 12;

/**
 * Copies everything from one side to the other and compares the two. Removes nothing from the source, but marks it, so
 * that nobody starts it by mistake. It can be stopped at any moment, and continues from there. Throws `MigrationError`
 * if it must not begin, else the sides' errors.
 */
export async function migrate(task: MigrationTask): Promise<Migrated> {
  const { source, target, policyOf, random } = task;
  for (const side of [source, target]) {
    const obstacle = await side.obstacle();
    if (obstacle !== null) throw new MigrationError(obstacle);
  }
  const { mark, resumed } = await begin(task);
  await source.takeBack({ policyOf, dice: random.next() });
  const steps = new Steps(source, task.tell);
  await copyAll(source, target, mark, steps);
  await target.finish(await possibleDuplicates(source));
  const verified = await verify(source, target, steps);
  if (verified.differing === 0) {
    const { id } = mark;
    // The source first: at every moment one of the two refuses to start.
    await source.putNotes([movedTo({ id, to: target.name, done: true })]);
    await target.putNotes([noteOf({ ...mark, table: null, after: null, done: true })]);
  }
  return { ...verified, from: source.name, to: target.name, resumed };
}

/** Makes an installation usable again that was moved, or was about to be. Returns where to; null: nowhere. */
export async function undo(source: Side): Promise<string | null> {
  const mark = markOf<MovedTo>(await source.note(MOVED_TO));
  if (mark === null) return null;
  await source.putNotes([{ name: MOVED_TO, value: null }]);
  return mark.to;
}

/** Marks both sides, or finds that both belong to one migration that continues. */
async function begin({
  source,
  target,
  random,
}: MigrationTask): Promise<{ mark: MovedFrom; resumed: boolean }> {
  const there = markOf<MovedFrom>(await target.note(MOVED_FROM));
  const here = markOf<MovedTo>(await source.note(MOVED_TO));
  const unfinished = markOf<MovedFrom>(await source.note(MOVED_FROM));
  if (unfinished !== null && !unfinished.done)
    throw new MigrationError(`Not everything has come to ${source.name} from ${unfinished.from} yet.`);
  if (here !== null && here.id === there?.id) {
    if (!there.done) return { mark: there, resumed: true };
    throw new MigrationError(`Everything was moved to ${target.name} already.`);
  }
  const onlyMarkedHere = here !== null && !here.done && here.to === target.name && there === null;
  if (here !== null && !onlyMarkedHere)
    throw new MigrationError(
      `A migration to ${here.to} ${here.done ? 'was made' : 'has begun'}. To begin another: waybill migrate --undo`,
    );
  if (there !== null && !there.done)
    throw new MigrationError(
      `Another migration to ${target.name} has begun, from ${there.from}. Name another place, or remove what is there.`,
    );
  await refuseUnlessEmpty(target);
  const id = here?.id ?? Buffer.from(random.fill(new Uint8Array(ID_BYTES))).toString('hex');
  const mark = { id, from: source.name, done: false, table: COPIED[0]?.name ?? null, after: null };
  await source.putNotes([movedTo({ id, to: target.name, done: false })]);
  await target.putNotes([noteOf(mark)]);
  return { mark, resumed: false };
}

async function refuseUnlessEmpty(target: Side): Promise<void> {
  for (const shape of COPIED)
    if ((await target.page(shape, null, 1)).length > 0)
      throw new MigrationError(
        `${target.name} is not empty: it has ${shape.name.replaceAll('_', ' ')}. Name another place, or move aside what is there.`,
      );
}

function movedTo(mark: MovedTo): Note {
  return { name: MOVED_TO, value: JSON.stringify(mark) };
}

const gaugeName = reader<string>(GAUGES, 'name');
const gaugeValue = reader<number>(GAUGES, 'value');

/** How many messages were ever flagged; the remaining messages show fewer. */
async function possibleDuplicates(source: Side): Promise<number> {
  const gauges = await source.page(GAUGES, null, 1_000);
  const row = gauges.find((one) => gaugeName(one) === 'possible_duplicates');
  return row === undefined ? 0 : gaugeValue(row);
}

/** Rows per transaction; attempts and messages may be large. */
const PAGE_ROWS = 1_000;
const LARGE_PAGE_ROWS = 200;
const LARGE: ReadonlySet<string> = new Set(['messages', 'deliveries', 'attempts']);

/** Copies everything that is not copied yet, and records the progress with every page. */
async function copyAll(source: Side, target: Side, begun: MovedFrom, steps: Steps): Promise<void> {
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

/**
 * First the contents, then the records that refer to them. Contents without records after an interruption are collected
 * later.
 */
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

/** The note that records the progress of a migration. */
function noteOf(mark: MovedFrom): Note {
  return { name: MOVED_FROM, value: JSON.stringify(mark) };
}
