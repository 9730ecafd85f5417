import type { Side } from './side.ts';
import type { TableShape } from './tables.ts';

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
