import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { columnsOf, PERSONAL_DATA, SQLITE_COLUMNS } from '../../src/store/personal-data.ts';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { openDatabase } from '../../src/store/sqlite/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';

/** Columns by table. */
type Schema = ReadonlyMap<string, readonly string[]>;

/** What nobody has said of what it holds: add it to `src/store/personal-data.ts`. */
function unclassified(schema: Schema, nameOf: (column: string) => string = (column) => column): string[] {
  return [...schema].flatMap(([table, columns]) => {
    const data = PERSONAL_DATA[table];
    if (data === undefined) return [table];
    const known = new Set(columnsOf(data).map(nameOf));
    // Where both databases share a name.
    for (const column of columnsOf(data)) if (columns.includes(column)) known.add(column);
    return columns.filter((column) => !known.has(column)).map((column) => `${table}.${column}`);
  });
}

const inSqlite = (column: string) => SQLITE_COLUMNS[column] ?? column;

describe('what tables hold of people', () => {
  it('is said of every table and column of SQLite', () => {
    const schema = sqliteSchema();
    expect(schema.size).toBeGreaterThan(40);
    expect(unclassified(schema, inSqlite)).toEqual([]);
  });

  it('is asked of a table and of a column that are new', () => {
    const schema = new Map([
      ['visitors', ['address']],
      ['gauges', ['name', 'value', 'remark']],
    ]);
    expect(unclassified(schema)).toEqual(['visitors', 'gauges.remark']);
  });

  it('is said once of each column', () => {
    for (const data of Object.values(PERSONAL_DATA)) {
      const columns = columnsOf(data);
      expect(columns).toEqual([...new Set(columns)]);
    }
  });
});

describeWith(POSTGRES_PROGRAMS, 'what tables of PostgreSQL hold of people', () => {
  let server: Postgres;
  beforeAll(async () => {
    server = await Postgres.start();
  });
  afterAll(() => server.stop());

  it('is said of every table and column, and of nothing that neither database has', async () => {
    const url = await server.schema();
    const stores = await openPostgres({ url });
    // Parts of days are like the table that they belong to.
    const rows = await server.run(
      `SELECT relname AS table, attname AS column FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
       WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
         AND attnum > 0 AND NOT attisdropped`,
      url,
    );
    await stores.store.close();
    const schema = grouped(rows.map(({ table, column }) => [String(table), String(column)] as const));
    expect(unclassified(schema)).toEqual([]);
    const both = sqliteSchema();
    const has = (table: string, column: string) =>
      schema.get(table)?.includes(column) === true || both.get(table)?.includes(inSqlite(column)) === true;
    const gone = Object.entries(PERSONAL_DATA).flatMap(([table, data]) =>
      columnsOf(data).flatMap((column) => (has(table, column) ? [] : [`${table}.${column}`])),
    );
    expect(gone).toEqual([]);
  });
});

function sqliteSchema(): Schema {
  const db = openDatabase(':memory:');
  const columns = db
    .prepare<[], [table: string, column: string]>(
      `SELECT tables.name, columns.name FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns
       WHERE tables.type = 'table'`,
    )
    .all();
  db.close();
  return grouped(columns);
}

function grouped(pairs: readonly (readonly [table: string, column: string])[]): Schema {
  const schema = new Map<string, string[]>();
  for (const [table, column] of pairs) schema.set(table, [...(schema.get(table) ?? []), column]);
  return schema;
}
