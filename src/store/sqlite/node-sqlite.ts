import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Driver, SqlValue, Statement } from './driver.ts';

/** The other driver: the SQLite inside Node. Proves that nothing depends on one library. */
export function openNodeSqlite(path: string): Driver {
  const db = new DatabaseSync(path, { enableForeignKeyConstraints: false, allowExtension: false });
  return {
    exec: (sql) => {
      db.exec(sql);
    },
    prepare: <P extends readonly SqlValue[], R extends readonly SqlValue[]>(sql: string): Statement<P, R> => {
      let compiled: StatementSync | undefined;
      const statement = () => (compiled ??= compile(db, sql));
      return {
        run: (...params) => Number(statement().run(...params).changes),
        get: (...params) => statement().get(...params) as unknown as R | undefined,
        all: (...params) => statement().all(...params) as unknown as R[],
        columns: () =>
          statement()
            .columns()
            .map(({ name }) => name),
      };
    },
    inTransaction: () => db.isTransaction,
    close: () => {
      db.close();
    },
  };
}

function compile(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  // Rows are arrays then, which Node's types do not know; the statement's author declares what they hold.
  statement.setReturnArrays(true);
  return statement;
}
