/**
 * SQL that both databases understand. A value in a template becomes a parameter, never a part of the text. Differences
 * between the two have names at the end of this file.
 */

/** The databases that hold plain rows. */
type Dialect = 'sqlite' | 'postgres';

/** A value of a column. SQLite has 0 and 1 for booleans. */
export type Value = string | number | boolean | null;

/** A boolean as read from either database. */
export type Flag = boolean | number;

/** A piece of SQL, which adds itself to a query. */
export type Sql = (query: Query) => void;

/** A statement for one database, while it is assembled. */
export class Query {
  readonly dialect: Dialect;
  readonly values: (Value | readonly Value[])[] = [];
  text = '';

  constructor(dialect: Dialect, sql: Sql) {
    this.dialect = dialect;
    sql(this);
  }

  /** Adds a parameter. */
  bind(value: Value | readonly Value[]): void {
    this.values.push(value);
    this.text += this.dialect === 'sqlite' ? '?' : `$${this.values.length}`;
  }
}

/** Reads a template whose holes are values, or other pieces of SQL. */
export function sql(strings: TemplateStringsArray, ...holes: readonly (Value | Sql)[]): Sql {
  return (query) => {
    for (const [place, string] of strings.entries()) {
      query.text += string;
      const hole = holes[place];
      if (typeof hole === 'function') hole(query);
      else if (hole !== undefined) query.bind(hole);
    }
  };
}

/** The columns of rows that are read and written as objects. */
export class Columns<Row extends Readonly<Record<keyof Row, Value>>> {
  /** For a SELECT that returns `Row`s. */
  readonly selected: Sql;
  /** For an INSERT. */
  readonly names: Sql;
  readonly #fields: readonly (keyof Row & string)[];

  constructor(columns: Readonly<Record<keyof Row & string, Sql>>) {
    // The type says that these are its only fields.
    this.#fields = Object.keys(columns) as (keyof Row & string)[];
    this.names = fixed(joined(this.#fields.map((field) => columns[field])));
    this.selected = fixed(joined(this.#fields.map((field) => sql`${columns[field]} AS ${quoted(field)}`)));
  }

  /** The values of a row, in the order of `names`. */
  values(row: Row): Sql {
    return joined(this.#fields.map((field) => (query) => query.bind(row[field])));
  }
}

/** A piece without values, assembled once. */
function fixed(piece: Sql): Sql {
  const texts = { sqlite: new Query('sqlite', piece).text, postgres: new Query('postgres', piece).text };
  return (query) => {
    query.text += texts[query.dialect];
  };
}

function quoted(name: string): Sql {
  return (query) => {
    query.text += `"${name}"`;
  };
}

/** Pieces, separated by commas. */
export function joined(pieces: readonly Sql[]): Sql {
  return (query) => {
    for (const [place, piece] of pieces.entries()) {
      if (place > 0) query.text += ', ';
      piece(query);
    }
  };
}

/** What differs between SQLite and PostgreSQL. */
function either(sqlite: Sql, postgres: Sql): Sql {
  return (query) => (query.dialect === 'sqlite' ? sqlite : postgres)(query);
}

/** For PostgreSQL alone, such as locks: SQLite has only one writer. */
export function onPostgres(piece: Sql): Sql {
  return either(sql``, piece);
}

/** For SQLite alone, such as which index to use: it keeps no statistics to choose by. */
export function onSqlite(piece: Sql): Sql {
  return either(piece, sql``);
}

/** The column before it has one of these values. */
export function among(values: readonly (string | number)[]): Sql {
  const array: Sql = (query) => query.bind(values);
  return either(sql`IN (SELECT value FROM json_each(${array}))`, sql`= ANY(${array})`);
}

/** The column of a row's user name: `user` is reserved in PostgreSQL. */
export const OF_USER = either(sql`user`, sql`user_name`);
