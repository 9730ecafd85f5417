import Database from 'better-sqlite3';
import type { Driver, SqlValue, Statement } from './driver.ts';

/** The default driver: the better-sqlite3 package. */
export function openBetterSqlite3(path: string): Driver {
  const db = new Database(path);
  return {
    exec: (sql) => {
      db.exec(sql);
    },
    prepare: <P extends readonly SqlValue[], R extends readonly SqlValue[]>(sql: string): Statement<P, R> => {
      const statement = db.prepare<SqlValue[]>(sql);
      if (statement.reader) statement.raw(true);
      return {
        run: (...params) => statement.run(...params).changes,
        get: (...params) => statement.get(...params) as R | undefined,
        all: (...params) => statement.all(...params) as R[],
        columns: () => statement.columns().map(({ name }) => name),
      };
    },
    inTransaction: () => db.inTransaction,
    close: () => {
      db.close();
    },
  };
}
