import { onPostgres, type Sql, sql, type Value } from './sql.ts';

/** What a verb asks of its database: for the rows of a statement, for how many it changed, or for no answer. */
export interface Step {
  readonly ask: 'rows' | 'run' | 'send';
  readonly sql: Sql;
}

/**
 * What a verb does: one statement after the other, each answered before the next, and what the verb answers in the end.
 * Nothing of it happens but by `yield*`.
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
  /** The verbs that change nothing: whether one statement is all, or several must see one state. Others are transactions. */
  readonly reads: { readonly [K in keyof T]?: 'statement' | 'snapshot' };
}

type Template = [strings: TemplateStringsArray, ...holes: readonly (Value | Sql)[]];

/** The rows of a statement, whose columns are named as the fields of `Row`. */
export function* rows<Row>(...template: Template): Work<Row[]> {
  // The statement names its columns as the type does.
  return (yield { ask: 'rows', sql: sql(...template) }) as Row[];
}

/** Runs a statement; how many rows it changed. */
export function* run(...template: Template): Work<number> {
  // Whoever does the work answers what is asked.
  return (yield { ask: 'run', sql: sql(...template) }) as number;
}

/** Runs a statement whose answer nobody needs. Where it fails, the transaction does. */
export function* send(...template: Template): Work<void> {
  yield { ask: 'send', sql: sql(...template) };
}

/** Keeps everybody else from changing a table until the transaction ends. */
export function alone(table: Sql): Work<void> {
  return send`${onPostgres(sql`LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`)}`;
}

/** Begins the work of a verb that is known by its name. */
export function workOf<T>({ verbs }: Subject<T>, verb: keyof T, args: readonly unknown[]): Work<unknown> {
  // A contract has nothing but verbs; what they are given, its types have said to whoever calls it.
  const begin = verbs[verb] as (...args: readonly unknown[]) => Work<unknown>;
  return begin(...args);
}
