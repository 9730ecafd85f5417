import type { Driver, SqlValue } from '../../src/store/sqlite/driver.ts';

/** What a watched driver was asked. */
export interface Seen {
  /** Rows of all lists of rows that it gave. */
  rows: number;
  /** How often each statement was run, by its SQL, whatever it was asked for. */
  readonly runs: Map<string, number>;
  /** Every statement that was compiled. */
  readonly sql: string[];
}

/** The driver, counting what it is asked and keeping the SQL that it compiles. */
export function watched(db: Driver): { readonly seen: Seen; readonly db: Driver } {
  const seen: Seen = { rows: 0, runs: new Map(), sql: [] };
  const prepare = <P extends readonly SqlValue[], R extends readonly SqlValue[]>(sql: string) => {
    const statement = db.prepare<P, R>(sql);
    seen.sql.push(sql);
    const count = () => seen.runs.set(sql, (seen.runs.get(sql) ?? 0) + 1);
    return {
      ...statement,
      run: (...params: P) => {
        count();
        return statement.run(...params);
      },
      get: (...params: P) => {
        count();
        return statement.get(...params);
      },
      all: (...params: P) => {
        count();
        const rows = statement.all(...params);
        seen.rows += rows.length;
        return rows;
      },
    };
  };
  return { seen, db: { ...db, prepare } };
}

/** A parameter in a scalar query: it reads no table. */
const PARAMETER = /^(SCALAR SUBQUERY|REUSE SUBQUERY|SCAN CONSTANT ROW)/;

/** How SQLite would run a statement: one line for each table that it looks at, and each sort. */
export function planOf(db: Driver, sql: string): string[] {
  const count = sql.split('?').length - 1;
  return db
    .prepare<number[], [id: number, parent: number, unused: number, detail: string]>(
      `EXPLAIN QUERY PLAN ${sql}`,
    )
    .all(...Array.from({ length: count }, () => 1))
    .map(([, , , detail]) => detail)
    .filter((detail) => !PARAMETER.test(detail));
}
