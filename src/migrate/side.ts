import type { SettlePolicy } from '../domain/settle.ts';
import type { Spool } from '../spool/spool.ts';
import type { Registry } from '../store/registry.ts';
import type { Stamp, Store } from '../store/store.ts';
import type { Row, TableShape } from './tables.ts';

/** Where a migration comes from or leads to, while this process alone is at work there. Errors are `StoreError`. */
export interface Side {
  readonly kind: 'sqlite' | 'postgres';
  /** What it is called in messages: without a password. */
  readonly name: string;
  readonly spool: Spool;

  /** Why nothing may be moved from or to here now; null: nothing is in the way. */
  obstacle(): Promise<string | null>;
  /** Takes back what the last process here left under way (`Store.reclaim`). */
  takeBack(how: TakeBack): Promise<void>;

  /** The next rows behind a key, in the order of the keys; from the first on for null. */
  page(shape: TableShape, after: Row | null, limit: number): Promise<Row[]>;
  /** How many rows there are. */
  count(shape: TableShape): Promise<number>;
  /** Adds rows, what follows from them, and a note of how far it is: all of it or nothing. */
  write(shape: TableShape, rows: readonly Row[], note: Note): Promise<void>;
  /** Does what remains when all rows are there; the number of messages ever flagged as possible duplicates is given. */
  finish(possibleDuplicates: number): Promise<void>;
  /** How a tag stands in the index of tags. */
  tagOf(tag: string): string;

  /** The value of a note, JSON; null: there is none. */
  note(name: string): Promise<string | null>;
  /** Writes notes, or (null) removes them, in one transaction. */
  putNotes(notes: readonly Note[]): Promise<void>;

  close(): Promise<void>;
}

/** A note of the program to itself; a value of null removes it. */
export interface Note {
  readonly name: string;
  readonly value: string | null;
}

/** How what is under way is settled. */
export interface TakeBack {
  /** The policy of the settings that are kept here. */
  readonly policyOf: (registry: Registry) => Promise<SettlePolicy>;
  /** In [0, 1): the jitter of what is tried again. */
  readonly dice: number;
}

/** Deliveries that one transaction takes back. */
const TAKEN_BACK_AT_ONCE = 500;

/** Takes back what is under way, of everybody; `now` asks the time (wall ms). */
export async function takeAllBack(
  { store, registry }: { readonly store: Store; readonly registry: Registry },
  { policyOf, dice }: TakeBack,
  now: () => Promise<number>,
): Promise<void> {
  const policy = await policyOf(registry);
  for (let seize = true; ; seize = false) {
    const stamp: Stamp = { node: 'migrate', now: await now() };
    const { more } = await store.reclaim({ policy, dice, seize, limit: TAKEN_BACK_AT_ONCE }, stamp);
    if (!more) return;
  }
}

/** What could not be moved; the message says why, and what to do. */
export class MigrationError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MigrationError';
  }
}

/** How far a migration is with a table, in rows. */
export interface MigrationStep {
  readonly phase: 'copy' | 'verify';
  readonly table: string;
  readonly doneRows: number;
  readonly totalRows: number;
}

/** Tells of steps, table by table. */
export class Steps {
  readonly #source: Side;
  readonly #tell: (step: MigrationStep) => void;
  readonly #totals = new Map<string, number>();
  #step: MigrationStep = { phase: 'copy', table: '', doneRows: 0, totalRows: 0 };

  constructor(source: Side, tell: (step: MigrationStep) => void) {
    this.#source = source;
    this.#tell = tell;
  }

  /** A table begins; of an empty one nothing is told. What an earlier run has done of it is not counted. */
  async begin(phase: MigrationStep['phase'], shape: TableShape): Promise<void> {
    const totalRows = this.#totals.get(shape.name) ?? (await this.#source.count(shape));
    this.#totals.set(shape.name, totalRows);
    this.#step = { phase, table: shape.name, doneRows: 0, totalRows };
    if (totalRows > 0) this.#tell(this.#step);
  }

  /** So many more rows are done. */
  done(rows: number): void {
    if (rows === 0) return;
    this.#step = { ...this.#step, doneRows: this.#step.doneRows + rows };
    this.#tell(this.#step);
  }
}
