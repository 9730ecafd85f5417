import type { Queries, SqlValue } from '../../postgres/database.ts';

/** The types of columns. */
type SqlType = 'text' | 'integer' | 'bigint' | 'boolean';

/** The type of the column of each field. */
export type Columns<Row> = { readonly [Field in keyof Row]: SqlType };

/**
 * A table whose rows are read as objects and written many at a time, by one statement however many: each parameter is
 * a column's array. The column of the field `dueAt` is `due_at`.
 */
export class Table<Row extends Readonly<Record<keyof Row & string, SqlValue>>> {
  /** The columns of a SELECT that gives `Row`s. */
  readonly columns: string;
  readonly #name: string;
  readonly #types: Columns<Row>;
  readonly #fields: readonly (keyof Row & string)[];
  readonly #insertion: string;

  constructor(name: string, columns: Columns<Row>) {
    this.#name = name;
    this.#types = columns;
    // The type says that these are its only fields.
    this.#fields = Object.keys(columns) as (keyof Row & string)[];
    this.columns = this.columnsOf(this.#fields);
    const list = this.#fields.map(columnOf).join(', ');
    this.#insertion = `INSERT INTO ${name} (${list}) SELECT * FROM ${this.#unnest(this.#fields)}`;
  }

  /** The columns of a SELECT that gives these fields of `Row`s. */
  columnsOf(fields: readonly (keyof Row & string)[]): string {
    return fields.map((field) => `${this.#name}.${columnOf(field)} AS "${field}"`).join(', ');
  }

  /** Adds rows, in their order; how many were. `otherwise` says what happens to those that are there already. */
  async insert(db: Queries, rows: readonly Row[], otherwise = ''): Promise<number> {
    if (rows.length === 0) return 0;
    return db.run(`${this.#insertion} ${otherwise}`, arraysOf(rows, this.#fields));
  }

  /** Adds rows, in their order, as {@link Queries.send} does. */
  send(db: Queries, rows: readonly Row[]): void {
    if (rows.length > 0) db.send(this.#insertion, arraysOf(rows, this.#fields));
  }

  /** Makes a writer of some fields of rows that are found by others and by `where`, which sends. The rows must be locked. */
  updater<Field extends keyof Row & string>(
    keys: readonly Field[],
    changed: readonly Field[],
    where = 'true',
  ) {
    const fields = [...keys, ...changed];
    const set = changed.map((field) => `${columnOf(field)} = new.${columnOf(field)}`).join(', ');
    const same = keys
      .map((field) => `${this.#name}.${columnOf(field)} = new.${columnOf(field)}`)
      .join(' AND ');
    const sql = `UPDATE ${this.#name} SET ${set}
      FROM ${this.#unnest(fields)} AS new (${fields.map(columnOf).join(', ')}) WHERE ${same} AND ${where}`;
    return (db: Queries, rows: readonly Pick<Row, Field>[]): void => {
      if (rows.length > 0) db.send(sql, arraysOf(rows, fields));
    };
  }

  #unnest(fields: readonly (keyof Row & string)[]): string {
    return `unnest(${fields.map((field, place) => `$${place + 1}::${this.#types[field]}[]`).join(', ')})`;
  }
}

function arraysOf<Row extends Readonly<Record<Field, SqlValue>>, Field extends string>(
  rows: readonly Row[],
  fields: readonly Field[],
): SqlValue[][] {
  return fields.map((field) => rows.map((row) => row[field]));
}

function columnOf(field: string): string {
  return `"${field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}"`;
}
