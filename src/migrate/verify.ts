import { createHash, type Hash } from 'node:crypto';
import { holdable } from '../postgres/text.ts';
import { COMPARED_AT_ONCE, contentOf, digestOf, placedAt } from './contents.ts';
import { COPIED } from './copied.ts';
import { AmountSum, type Sums, sumMessage, tagsOf, waitingIn } from './derived.ts';
import type { Side, Steps } from './side.ts';
import {
  DELIVERIES,
  DEPTHS,
  GAUGES,
  KEY_QUEUES,
  keyOf,
  MESSAGE_TAGS,
  MESSAGES,
  PLACE,
  type Row,
  reader,
  SEGMENTS,
  type TableShape,
} from './tables.ts';

/** What was compared, and the result. */
export interface Verified {
  readonly tables: readonly VerifiedTable[];
  /** Messages by their status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Contents that are equal on both sides, and their bytes. */
  readonly contents: number;
  readonly contentBytes: number;
  /** Messages whose contents can be read on neither side. */
  readonly lostContents: number;
  /** Descriptions of the first {@link MAX_NAMED} differences. */
  readonly differences: readonly string[];
  /** Number of differences. */
  readonly differing: number;
}

/** A table as found at the source. */
export interface VerifiedTable {
  readonly table: string;
  readonly rows: number;
  /** Of its rows in the order of their keys, each as a line of JSON. */
  readonly sha256: string;
}

/** Differences described in words; further ones are only counted. */
export const MAX_NAMED = 50;
const PAGE_ROWS = 500;

const status = reader<string>(MESSAGES, 'status');
const gaugeName = reader<string>(GAUGES, 'name');

/** Compares rows one by one, contents by their SHA-256, and the target's sums with the rows that they derive from. */
export async function verify(source: Side, target: Side, steps: Steps): Promise<Verified> {
  const verifier = new Verifier(source, target);
  const tables: VerifiedTable[] = [];
  for (const shape of COPIED) {
    await steps.begin('verify', shape);
    tables.push(await verifier.table(shape, steps));
  }
  await verifier.derived();
  return { tables, ...verifier.found() };
}

class Verifier {
  readonly #source: Side;
  readonly #target: Side;
  readonly #expected = new DerivedSums();
  readonly #differences: string[] = [];
  #differing = 0;
  readonly #statuses: Record<string, number> = {};
  #contents = 0;
  #contentBytes = 0;
  #lost = 0;
  /** Messages on both sides whose contents are still to be compared. */
  #pairs: (readonly [Row, Row])[] = [];

  constructor(source: Side, target: Side) {
    this.#source = source;
    this.#target = target;
  }

  found(): Omit<Verified, 'tables'> {
    return {
      statuses: this.#statuses,
      contents: this.#contents,
      contentBytes: this.#contentBytes,
      lostContents: this.#lost,
      differences: this.#differences,
      differing: this.#differing,
    };
  }

  /** Reads both sides in the order of the keys, so that a row on one side alone shows at its place. */
  async table(shape: TableShape, steps: Steps): Promise<VerifiedTable> {
    const there = new Cursor(this.#target, shape);
    const hash = createHash('sha256');
    let rows = 0;
    for (let row = await there.next(); ; ) {
      const page = await this.#nextPage(shape, rows);
      for (const mine of page) {
        rows++;
        while (row !== null && compareKeys(keyOf(shape, row), keyOf(shape, mine)) < 0) {
          this.#differs(`${shape.name} ${nameOf(shape, row)}: only in ${this.#target.name}`);
          row = await there.next();
        }
        const isThere = row !== null && compareKeys(keyOf(shape, row), keyOf(shape, mine)) === 0;
        await this.#compare(shape, mine, isThere ? row : null, hash);
        if (isThere) row = await there.next();
      }
      steps.done(page.length);
      if (page.length > 0) continue;
      for (; row !== null; row = await there.next())
        this.#differs(`${shape.name} ${nameOf(shape, row)}: only in ${this.#target.name}`);
      await this.#compareContents();
      return { table: shape.name, rows, sha256: hash.digest('hex') };
    }
  }

  #after: Row | null = null;
  async #nextPage(shape: TableShape, before: number): Promise<Row[]> {
    const page = await this.#source.page(shape, before === 0 ? null : this.#after, PAGE_ROWS);
    const last = page.at(-1);
    if (last !== undefined) this.#after = keyOf(shape, last);
    return page;
  }

  async #compare(shape: TableShape, mine: Row, theirs: Row | null, hash: Hash): Promise<void> {
    const text = lineOf(shape, mine);
    hash.update(text);
    if (shape === MESSAGES) this.#statuses[status(mine)] = (this.#statuses[status(mine)] ?? 0) + 1;
    if (theirs === null) return this.#differs(`${shape.name} ${nameOf(shape, mine)}: missing`);
    if (lineOf(shape, theirs) !== text) this.#differs(differenceText(shape, mine, theirs));
    if (shape === DELIVERIES) this.#expected.delivery(theirs);
    if (shape !== MESSAGES) return;
    this.#expected.message(theirs, (tag) => this.#target.tagOf(tag));
    if (this.#pairs.push([mine, theirs]) >= COMPARED_AT_ONCE) await this.#compareContents();
  }

  async #compareContents(): Promise<void> {
    const pairs = this.#pairs;
    this.#pairs = [];
    await Promise.all(
      pairs.map(async ([mine, theirs]) => {
        const refs = [contentOf(mine), contentOf(theirs)] as const;
        // A reference on one side alone was reported with the row.
        if (refs[0] === null || refs[1] === null) return;
        const digests = [
          await digestOf(refs[0], this.#source.spool),
          await digestOf(refs[1], this.#target.spool),
        ];
        if (digests[0] !== digests[1])
          this.#differs(`${MESSAGES.name} ${nameOf(MESSAGES, mine)}: its contents are not the same`);
        else if (digests[0] === null) this.#lost++;
        else {
          this.#contents++;
          this.#contentBytes += refs[0].length;
        }
      }),
    );
  }

  /** Compares the target's sums with its own rows, which equal the source's by now. */
  async derived(): Promise<void> {
    const kept = new DerivedSums();
    for await (const row of rowsOf(this.#target, GAUGES))
      if (!NOT_DERIVED.has(gaugeName(row))) kept.add(GAUGES, row, 1);
    for (const shape of [KEY_QUEUES, DEPTHS, SEGMENTS])
      for await (const row of rowsOf(this.#target, shape)) kept.add(shape, row, row.length - 1);
    for await (const row of rowsOf(this.#target, MESSAGE_TAGS)) kept.tag(row);
    for (const name of this.#expected.differing(kept))
      this.#differs(`${name}: not what follows from the messages in ${this.#target.name}`);
  }

  #differs(text: string): void {
    this.#differing++;
    if (this.#differences.length < MAX_NAMED) this.#differences.push(text);
  }
}

/** Gauges that hold more than rows do. */
const NOT_DERIVED: ReadonlySet<string> = new Set(['possible_duplicates', 'restored']);

/** The sums that stores maintain, by table. */
class DerivedSums implements Sums {
  readonly #sums = new Map<string, AmountSum>();

  gauge(name: string, difference: number): void {
    this.#of(GAUGES.name).add([name, 0], difference);
  }

  queue(keyId: string | null, messages: number, bytes: number): void {
    this.gauge('queued_bytes', messages * bytes);
    if (keyId !== null) this.#of(KEY_QUEUES.name).add([keyId, 0], messages);
  }

  segment(segment: number, live: number, bytes: number): void {
    this.#of(SEGMENTS.name).add([segment, 0], live);
    this.#of(SEGMENTS.name).add([segment, 1], bytes);
  }

  message(row: Row, tagOf: (tag: string) => string): void {
    sumMessage(row, this);
    for (const { keyId, tag, id } of tagsOf(row, tagOf)) this.tag([keyId, tag, id]);
  }

  delivery(row: Row): void {
    const waiting = waitingIn(row);
    if (waiting !== null) this.#of(DEPTHS.name).add([waiting.lane, 0], 1);
  }

  tag(row: Row): void {
    this.#of(MESSAGE_TAGS.name).add(row.map(String), 1);
  }

  /** Adds a row of such a table: its key and amounts. */
  add({ name }: TableShape, [key, ...amounts]: Row, count: number): void {
    for (const [place, amount] of amounts.slice(0, count).entries())
      this.#of(name).add([key ?? '', place], Number(amount));
  }

  differing(other: DerivedSums): string[] {
    const names = new Set([...this.#sums.keys(), ...other.#sums.keys()]);
    return [...names].filter((name) => !this.#of(name).equals(other.#of(name)));
  }

  #of(name: string): AmountSum {
    const sum = this.#sums.get(name) ?? new AmountSum();
    this.#sums.set(name, sum);
    return sum;
  }
}

/** Reads a table's rows one by one. */
class Cursor {
  readonly #rows: AsyncIterator<Row>;
  constructor(side: Side, shape: TableShape) {
    this.#rows = rowsOf(side, shape)[Symbol.asyncIterator]();
  }

  async next(): Promise<Row | null> {
    const { done, value } = await this.#rows.next();
    return done === true ? null : value;
  }
}

async function* rowsOf(side: Side, shape: TableShape): AsyncIterable<Row> {
  let after: Row | null = null;
  for (;;) {
    const page: Row[] = await side.page(shape, after, PAGE_ROWS);
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = keyOf(shape, last);
  }
}

/**
 * A row as a line of JSON: text that one database cannot hold is replaced on both sides, and the place of contents is
 * left out.
 */
function lineOf(shape: TableShape, row: Row): string {
  const placed =
    shape === MESSAGES && contentOf(row) !== null ? placedAt(row, { segment: 0, offset: 0 }) : row;
  const held = placed.map((value) => (typeof value === 'string' ? holdable(value) : value));
  return `${JSON.stringify(held)}\n`;
}

function differenceText(shape: TableShape, mine: Row, theirs: Row): string {
  const columns = Object.keys(shape.columns).filter(
    (column, place) => mine[place] !== theirs[place] && !(shape === MESSAGES && PLACE.includes(column)),
  );
  return `${shape.name} ${nameOf(shape, mine)}: ${columns.join(', ')} not the same`;
}

function nameOf(shape: TableShape, row: Row): string {
  return keyOf(shape, row).join(' ');
}

/** The order in which both databases return keys: numbers by size, text by its bytes. */
function compareKeys(a: Row, b: Row): number {
  for (const [place, one] of a.entries()) {
    const other = b[place] ?? null;
    if (one === other) continue;
    if (typeof one === 'number' && typeof other === 'number') return one - other;
    const order = Buffer.compare(Buffer.from(holdable(String(one))), Buffer.from(holdable(String(other))));
    if (order !== 0) return order;
  }
  return 0;
}
