import type { Accounts } from '../accounts.ts';
import { forwarding, type Synchronous } from '../forwarding.ts';
import type { Journal } from '../journal.ts';
import type { Keyring } from '../keyring.ts';
import { ACCOUNTS } from '../plain/accounts.ts';
import { JOURNAL } from '../plain/journal.ts';
import { KEYRING } from '../plain/keyring.ts';
import { REGISTRY } from '../plain/registry.ts';
import { Query, type Value } from '../plain/sql.ts';
import { type Step, type Subject, workOf } from '../plain/work.ts';
import type { Registry } from '../registry.ts';
import { asFlag, type Driver, type SqlValue, type Statement } from './driver.ts';

/** The verbs on plain rows. */
export type PlainVerbs = Synchronous<Keyring & Omit<Registry, 'revision'> & Accounts & Journal>;

/** Builds the verbs on plain rows, each of which does its work inside a transaction that somebody else opened. */
export function plainVerbs(db: Driver): PlainVerbs {
  const answer = answerer(db);
  const verbsOf = <T>(subject: Subject<T>) =>
    forwarding<Synchronous<T>>(subject.verbs, (verb, args) => {
      const work = workOf(subject, verb, args);
      let step = work.next();
      while (step.done !== true) step = work.next(answer(step.value));
      return step.value;
    });
  return { ...verbsOf(KEYRING), ...verbsOf(REGISTRY), ...verbsOf(ACCOUNTS), ...verbsOf(JOURNAL) };
}

/** Builds what answers steps, by statements that are compiled when they are first asked. */
function answerer(db: Driver): (step: Step) => unknown {
  const compiled = new Map<string, Compiled>();
  return ({ ask, sql }) => {
    const { text, values } = new Query('sqlite', sql);
    // Some are for PostgreSQL alone.
    if (text === '') return undefined;
    const statement = compiled.get(text) ?? db.prepare<SqlValue[], SqlValue[]>(text);
    compiled.set(text, statement);
    const params = values.map(toBind);
    return ask === 'rows' ? objectsOf(statement, params) : statement.run(...params);
  };
}

type Compiled = Statement<SqlValue[], SqlValue[]>;

function toBind(value: Value | readonly Value[]): SqlValue {
  if (typeof value === 'boolean') return asFlag(value);
  return isList(value) ? JSON.stringify(value) : value;
}

function isList(value: Value | readonly Value[]): value is readonly Value[] {
  return Array.isArray(value);
}

/** The rows, whose fields are the names of their columns. */
function objectsOf(statement: Compiled, params: readonly SqlValue[]) {
  const names = statement.columns();
  return statement
    .all(...params)
    .map((row) => Object.fromEntries(names.map((name, place) => [name, row[place]])));
}
