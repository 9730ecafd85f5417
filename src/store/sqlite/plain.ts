import type { Pseudonymous } from '../../domain/erasing.ts';
import type { Accounts, Keyring } from '../accounts.ts';
import type { Alerts } from '../alerts.ts';
import type { Configuring } from '../configuring.ts';
import type { DmarcReports } from '../dmarc-reports.ts';
import type { Erasures } from '../erasing.ts';
import { forwarding, type Synchronous } from '../forwarding.ts';
import type { Issuing } from '../issuing.ts';
import type { Journal } from '../journal.ts';
import { ACCOUNTS } from '../plain/accounts.ts';
import { ALERTS } from '../plain/alerts.ts';
import { CONFIGURING } from '../plain/configuring.ts';
import { DMARC_REPORTS } from '../plain/dmarc-reports.ts';
import { ERASURES } from '../plain/erasures.ts';
import { ISSUING } from '../plain/issuing.ts';
import { JOURNAL } from '../plain/journal.ts';
import { KEYRING } from '../plain/keyring.ts';
import { REGISTRY } from '../plain/registry.ts';
import { REQUEST_LOG } from '../plain/request-log.ts';
import { SHARING } from '../plain/sharing.ts';
import { Query, type Value } from '../plain/sql.ts';
import { suppressionsWith } from '../plain/suppressions.ts';
import { TEMPLATES } from '../plain/templates.ts';
import { TLS_REPORTS } from '../plain/tls-reports.ts';
import { TRAFFIC } from '../plain/traffic.ts';
import { WEBHOOKS } from '../plain/webhooks.ts';
import { type Step, type Subject, type Work, workOf } from '../plain/work.ts';
import type { Registry } from '../registry.ts';
import type { RequestLog } from '../request-log.ts';
import type { Sharing } from '../sharing.ts';
import type { SuppressionList } from '../suppressions.ts';
import type { Templates } from '../templates.ts';
import type { TlsReports } from '../tls-reports.ts';
import type { Traffic } from '../traffic.ts';
import type { Webhooks } from '../webhooks.ts';
import { asFlag, type Driver, type SqlValue } from './driver.ts';

/** The verbs on plain rows. */
export type PlainVerbs = Synchronous<
  Keyring &
    Configuring &
    Omit<Registry, 'revision'> &
    Accounts &
    Journal &
    SuppressionList &
    Webhooks &
    Templates &
    Alerts &
    RequestLog &
    DmarcReports &
    TlsReports &
    Traffic &
    Erasures &
    Issuing &
    Sharing
>;

/** Builds what runs work on plain rows inside its caller's transaction. */
export function runnerOver(db: Driver): <T>(work: Work<T>) => T {
  const answer = answerer(db);
  return (work) => {
    let step = work.next();
    while (step.done !== true) step = work.next(answer(step.value));
    return step.value;
  };
}

/** Builds the verbs on plain rows, each of which runs inside its caller's transaction. */
export function plainVerbs(db: Driver, pseudonyms: Pseudonymous): PlainVerbs {
  const run = runnerOver(db);
  const verbsOf = <T>(subject: Subject<T>) =>
    forwarding<Synchronous<T>>(subject.verbs, (verb, args) => run(workOf(subject, verb, args)));
  return {
    ...verbsOf(KEYRING),
    ...verbsOf(REGISTRY),
    ...verbsOf(ACCOUNTS),
    ...verbsOf(JOURNAL),
    ...verbsOf(suppressionsWith(pseudonyms)),
    ...verbsOf(ERASURES),
    ...verbsOf(WEBHOOKS),
    ...verbsOf(TEMPLATES),
    ...verbsOf(ALERTS),
    ...verbsOf(REQUEST_LOG),
    ...verbsOf(CONFIGURING),
    ...verbsOf(DMARC_REPORTS),
    ...verbsOf(TLS_REPORTS),
    ...verbsOf(TRAFFIC),
    ...verbsOf(ISSUING),
    ...verbsOf(SHARING),
  };
}

/** Builds what answers steps, by statements that are compiled at their first use. */
export function answerer(db: Driver): (step: Step) => unknown {
  const compiled = new Map<string, Compiled>();
  return ({ ask, sql }) => {
    const { text, values } = new Query('sqlite', sql);
    // Some steps are for PostgreSQL alone.
    if (text === '') return undefined;
    const statement = compiled.get(text) ?? compile(db, text, ask);
    compiled.set(text, statement);
    return statement(values.map(toBind));
  };
}

/** Runs a statement: returns its rows, or how many it changed. */
type Compiled = (params: readonly SqlValue[]) => unknown;

function compile(db: Driver, text: string, ask: Step['ask']): Compiled {
  const statement = db.prepare<readonly SqlValue[], readonly SqlValue[]>(text);
  if (ask !== 'rows') return (params) => statement.run(...params);
  // Columns are named like the fields of rows.
  const names = statement.columns();
  return (params) =>
    statement.all(...params).map((row) => {
      const fields: Record<string, SqlValue> = {};
      for (const [place, name] of names.entries()) fields[name] = row[place] ?? null;
      return fields;
    });
}

function toBind(value: Value | readonly Value[]): SqlValue {
  if (typeof value === 'boolean') return asFlag(value);
  return isList(value) ? JSON.stringify(value) : value;
}

function isList(value: Value | readonly Value[]): value is readonly Value[] {
  return Array.isArray(value);
}
