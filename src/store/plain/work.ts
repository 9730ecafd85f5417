import { onPostgres, type Sql, sql, type Value } from './sql.ts';

/** What a verb asks of its database: a statement for its rows, for the number of rows it changed, or for no answer. */
export interface Step {
  readonly ask: 'rows' | 'run' | 'send';
  readonly sql: Sql;
}

/**
 * The work of a verb: statements, each answered before the next, then the verb's result. A piece of work only runs by
 * `yield*`.
 */
export type Work<T> = Generator<Step, T, unknown>;

/** The verbs of a contract as work, for every database. */
export type Plain<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer A) => Promise<infer R>
    ? (...args: A) => Work<R>
    : never;
};

/** A contract over plain rows. */
export interface Subject<T> {
  readonly verbs: Plain<T>;
  /** The verbs that only read, by one statement or by several that must see one state. The others are transactions. */
  readonly reads: { readonly [K in keyof T]?: 'statement' | 'snapshot' };
}

type Template = [strings: TemplateStringsArray, ...holes: readonly (Value | Sql)[]];

/** The rows of a statement whose columns are named like the fields of `Row`. */
export function* rows<Row>(...template: Template): Work<Row[]> {
  // The statement names its columns like the type.
  return (yield { ask: 'rows', sql: sql(...template) }) as Row[];
}

/** Runs a statement; returns how many rows it changed. */
export function* run(...template: Template): Work<number> {
  // The runner of the work gives the answer that `ask` names.
  return (yield { ask: 'run', sql: sql(...template) }) as number;
}

/** Runs a statement whose answer is not needed. If it fails, so does the transaction. */
export function* send(...template: Template): Work<void> {
  yield { ask: 'send', sql: sql(...template) };
}

/** Locks a table against all other writers until the transaction ends. */
export function alone(table: Sql): Work<void> {
  return send`${onPostgres(sql`LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`)}`;
}

/** Starts the work of a verb by its name. */
export function workOf<T>({ verbs }: Subject<T>, verb: keyof T, args: readonly unknown[]): Work<unknown> {
  // A contract has only verbs, and its types have checked the caller's arguments.
  const begin = verbs[verb] as (...args: readonly unknown[]) => Work<unknown>;
  return begin(...args);
}
