import type { Pseudonymous } from '../../domain/erasing.ts';
import type { Database, Queries } from '../../postgres/database.ts';
import type { Accounts, Keyring } from '../accounts.ts';
import type { Alerts } from '../alerts.ts';
import type { Configuring } from '../configuring.ts';
import type { DmarcReports } from '../dmarc-reports.ts';
import type { Erasures } from '../erasing.ts';
import { forwarding } from '../forwarding.ts';
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
import { Query } from '../plain/sql.ts';
import { suppressionsWith } from '../plain/suppressions.ts';
import { TEMPLATES } from '../plain/templates.ts';
import { TLS_REPORTS } from '../plain/tls-reports.ts';
import { TRAFFIC } from '../plain/traffic.ts';
import { WEBHOOKS } from '../plain/webhooks.ts';
import { type Step, type Subject, type Work, workOf } from '../plain/work.ts';
import type { Registry } from '../registry.ts';
import type { RequestLog } from '../request-log.ts';
import type { Sharing } from '../sharing.ts';
import { StoreError } from '../store.ts';
import type { SuppressionList } from '../suppressions.ts';
import type { Templates } from '../templates.ts';
import type { TlsReports } from '../tls-reports.ts';
import type { Traffic } from '../traffic.ts';
import type { Webhooks } from '../webhooks.ts';

/** What the work on plain rows needs of a database. */
type Asked = Pick<Queries, 'rows' | 'run' | 'send'>;

/** The contracts of plain rows over a database. */
export interface PlainStores {
  readonly keyring: Keyring;
  readonly registry: Registry;
  readonly accounts: Accounts;
  readonly journal: Journal;
  readonly suppressions: SuppressionList;
  readonly erasures: Erasures;
  readonly webhooks: Webhooks;
  readonly templates: Templates;
  readonly alerts: Alerts;
  readonly requests: RequestLog;
  readonly configuring: Configuring;
  readonly dmarc: DmarcReports;
  readonly tlsReports: TlsReports;
  readonly traffic: Traffic;
  readonly issuing: Issuing;
  readonly sharing: Sharing;
}

/** The plain rows over a database. */
export function plainStores(database: Database, pseudonyms: Pseudonymous): PlainStores {
  const outside = readOnly(database);
  const over = <T>(subject: Subject<T>) =>
    forwarding<T>(subject.verbs, (verb, args) => {
      // Restarted with the transaction.
      const work = (db: Asked) => done(workOf(subject, verb, args), db);
      switch (subject.reads[verb]) {
        case 'statement':
          return work(outside);
        case 'snapshot':
          return database.inSnapshot(work);
        default:
          return database.transact(work);
      }
    });
  return {
    keyring: over(KEYRING),
    registry: {
      ...over(REGISTRY),
      revision: async () => {
        const [row] = await database.rows<{ revision: number }>('SELECT revision FROM registry_revision');
        return row?.revision ?? 0;
      },
    },
    accounts: over(ACCOUNTS),
    journal: over(JOURNAL),
    suppressions: over(suppressionsWith(pseudonyms)),
    erasures: over(ERASURES),
    webhooks: over(WEBHOOKS),
    templates: over(TEMPLATES),
    alerts: over(ALERTS),
    requests: over(REQUEST_LOG),
    configuring: over(CONFIGURING),
    dmarc: over(DMARC_REPORTS),
    tlsReports: over(TLS_REPORTS),
    traffic: over(TRAFFIC),
    issuing: over(ISSUING),
    sharing: over(SHARING),
  };
}

/** For work that reads by one statement, outside of any transaction. */
export function readOnly(database: Pick<Queries, 'rows'>): Asked {
  return { rows: (text, values) => database.rows(text, values), run: writesNothing, send: writesNothing };
}

/** Runs work on plain rows to its end. */
export async function done<T>(work: Work<T>, db: Asked): Promise<T> {
  let step = work.next();
  while (step.done !== true) {
    step = work.next(await ask(step.value, db));
  }
  return step.value;
}

/** Takes one step of work. */
export async function ask({ ask, sql }: Step, db: Asked): Promise<unknown> {
  const { text, values } = new Query('postgres', sql);
  return await db[ask](text, values);
}

function writesNothing(): never {
  throw new StoreError('store_bug', 'a verb declared as reading by one statement tried to write');
}
