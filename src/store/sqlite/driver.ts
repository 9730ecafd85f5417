import Database from 'better-sqlite3';

/**
 * A synchronous SQLite, reduced to what the store uses. Two libraries implement it and pass the same tests. Errors are
 * the library's own; `storeErrorOf` in `errors.ts` reads both kinds.
 */
export interface Driver {
  /** Runs SQL that returns nothing; it may hold several statements. */
  exec(sql: string): void;
  /**
   * One statement, compiled when it is first used: a store has hundreds of them, and a command uses few. The types declare
   * what is bound and what each row holds, in the order of the SQL; only review checks that they agree.
   *
   * A frequent statement puts the parameters of its ORDER BY and LIMIT into scalar queries: SQLite inspects the value
   * of a bare one and recompiles the statement for each value, which costs several times as much as running it.
   */
  prepare<P extends readonly SqlValue[] = [], R extends readonly SqlValue[] = []>(
    sql: string,
  ): Statement<P, R>;
  inTransaction(): boolean;
  close(): void;
}

/** The values stored and bound here. Blobs are not used. */
export type SqlValue = string | number | null;

/** A statement. Rows are arrays, which cost less than objects. */
export interface Statement<P extends readonly SqlValue[], R extends readonly SqlValue[]> {
  /** Runs to the end; returns how many rows changed. */
  run(...params: P): number;
  /** The first row. */
  get(...params: P): R | undefined;
  /** Every row. */
  all(...params: P): R[];
  /** The column names of a statement that returns rows. */
  columns(): string[];
}

/** Opens a database file, or `:memory:`. Creates the file if it is missing. */
export type OpenDriver = (path: string) => Driver;

/** The column form of a boolean. */
export function asFlag(value: boolean): number {
  return value ? 1 : 0;
}

/** The default driver: the better-sqlite3 package. */
export function openBetterSqlite3(path: string): Driver {
  const db = new Database(path);
  return {
    exec: (sql) => {
      db.exec(sql);
    },
    prepare: <P extends readonly SqlValue[], R extends readonly SqlValue[]>(sql: string): Statement<P, R> => {
      let compiled: Database.Statement<SqlValue[]> | undefined;
      const statement = () => (compiled ??= compile(db, sql));
      return {
        run: (...params) => statement().run(...params).changes,
        get: (...params) => statement().get(...params) as R | undefined,
        all: (...params) => statement().all(...params) as R[],
        columns: () =>
          statement()
            .columns()
            .map(({ name }) => name),
      };
    },
    inTransaction: () => db.inTransaction,
    close: () => {
      db.close();
    },
  };
}

function compile(db: Database.Database, sql: string): Database.Statement<SqlValue[]> {
  const statement = db.prepare<SqlValue[]>(sql);
  if (statement.reader) statement.raw(true);
  return statement;
}
