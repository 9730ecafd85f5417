import type { SettlePolicy } from '../domain/settle.ts';
import type { Spool } from '../spool/spool.ts';
import type { Registry } from '../store/registry.ts';
import type { Stamp, Store } from '../store/store.ts';
import type { Row, TableShape } from './tables.ts';

/** A source or target of a migration, which only this process uses meanwhile. Errors are `StoreError`. */
export interface Side {
  readonly kind: 'sqlite' | 'postgres';
  /** Its name in messages, without a password. */
  readonly name: string;
  readonly spool: Spool;

  /** Why nothing may be moved from or to here now; null: nothing prevents it. */
  obstacle(): Promise<string | null>;
  /** Takes back the work that earlier processes left in progress (`Store.reclaim`). */
  takeBack(how: TakeBack): Promise<void>;

  /** The next rows after a key, in the order of the keys; null starts at the first. */
  page(shape: TableShape, after: Row | null, limit: number): Promise<Row[]>;
  /** Number of rows. */
  count(shape: TableShape): Promise<number>;
  /** Adds rows, what is derived from them, and a progress note: all of it or nothing. */
  write(shape: TableShape, rows: readonly Row[], note: Note): Promise<void>;
  /** Finishes once all rows are there; sets the number of messages ever flagged as possible duplicates. */
  finish(possibleDuplicates: number): Promise<void>;
  /** The form of a tag in the index of tags. */
  tagOf(tag: string): string;

  /** The value of a note, JSON; null: there is none. */
  note(name: string): Promise<string | null>;
  /** Writes notes, or (null) removes them, in one transaction. */
  putNotes(notes: readonly Note[]): Promise<void>;

  close(): Promise<void>;
}

/** A note that the program keeps for itself; a null value removes it. */
export interface Note {
  readonly name: string;
  readonly value: string | null;
}

/** How to settle work in progress. */
export interface TakeBack {
  /** The policy of the settings stored here. */
  readonly policyOf: (registry: Registry) => Promise<SettlePolicy>;
  /** In [0, 1): the jitter of retries. */
  readonly dice: number;
}

/** Deliveries taken back in one transaction. */
const TAKEN_BACK_AT_ONCE = 500;

/** Takes back the work in progress of every node; `now` reads the clock (wall ms). */
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

/** Something that cannot be moved; the message says why, and what to do. */
export class MigrationError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MigrationError';
  }
}

/** The progress of a migration in a table, in rows. */
export interface MigrationStep {
  readonly phase: 'copy' | 'verify';
  readonly table: string;
  readonly doneRows: number;
  readonly totalRows: number;
}

/** Reports steps, table by table. */
export class Steps {
  readonly #source: Side;
  readonly #tell: (step: MigrationStep) => void;
  readonly #totals = new Map<string, number>();
  #step: MigrationStep = { phase: 'copy', table: '', doneRows: 0, totalRows: 0 };

  constructor(source: Side, tell: (step: MigrationStep) => void) {
    this.#source = source;
    this.#tell = tell;
  }

  /** Begins a table; an empty one is not reported. Rows done by an earlier run do not count. */
  async begin(phase: MigrationStep['phase'], shape: TableShape): Promise<void> {
    const totalRows = this.#totals.get(shape.name) ?? (await this.#source.count(shape));
    this.#totals.set(shape.name, totalRows);
    this.#step = { phase, table: shape.name, doneRows: 0, totalRows };
    if (totalRows > 0) this.#tell(this.#step);
  }

  /** Adds finished rows. */
  done(rows: number): void {
    if (rows === 0) return;
    this.#step = { ...this.#step, doneRows: this.#step.doneRows + rows };
    this.#tell(this.#step);
  }
}
