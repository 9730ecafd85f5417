import type { Accounts, Keyring } from '../accounts.ts';
import type { Alerts } from '../alerts.ts';
import type { Applying } from '../applying.ts';
import type { Configuring } from '../configuring.ts';
import type { DmarcReports } from '../dmarc-reports.ts';
import type { Erasures } from '../erasing.ts';
import { forwarding, STORE_VERBS, VIEWS } from '../forwarding.ts';
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
import { SUPPRESSIONS } from '../plain/suppressions.ts';
import { TEMPLATES } from '../plain/templates.ts';
import { TLS_REPORTS } from '../plain/tls-reports.ts';
import { TRAFFIC } from '../plain/traffic.ts';
import { WEBHOOKS } from '../plain/webhooks.ts';
import type { Registry } from '../registry.ts';
import type { RequestLog } from '../request-log.ts';
import type { Sharing } from '../sharing.ts';
import type { Store } from '../store.ts';
import type { SuppressionList } from '../suppressions.ts';
import type { Templates } from '../templates.ts';
import type { TlsReports } from '../tls-reports.ts';
import type { Traffic } from '../traffic.ts';
import type { Views } from '../views.ts';
import type { Webhooks } from '../webhooks.ts';
import type { Verbs } from './verbs.ts';
import type { ViewVerbs } from './views.ts';

/** Calls a verb by its name, and promises its answer. */
export type Call<T> = (verb: keyof T, args: readonly unknown[]) => Promise<unknown>;

/** The stores that share the writing connection. Closing the store closes all. */
export interface WritingStores {
  readonly store: Store;
  readonly keyring: Keyring;
  readonly registry: Registry;
  readonly accounts: Accounts;
  readonly journal: Journal;
  readonly suppressions: SuppressionList;
  readonly webhooks: Webhooks;
  readonly templates: Templates;
  readonly alerts: Alerts;
  readonly requests: RequestLog;
  readonly configuring: Configuring;
  readonly dmarc: DmarcReports;
  readonly tlsReports: TlsReports;
  readonly traffic: Traffic;
  readonly erasures: Erasures;
  readonly issuing: Issuing;
  readonly sharing: Sharing;
  /** From now on, people who were erased are found by their pseudonyms (`lib/pseudonym.ts`). */
  holdPseudonymKey(key: Uint8Array): Promise<void>;
  /** Writes the database anew, see `rebuild` in `connection.ts`. */
  rebuild(): Promise<'rebuilt' | 'busy' | 'large'>;
  /** Writes what a log holds. */
  readonly applying: Applying;
}

/** The contracts, over calls of verbs. */
export function storesOver(call: Call<Verbs>, close: () => Promise<void>): WritingStores {
  return {
    store: { ...forwarding<Omit<Store, 'close'>>(STORE_VERBS, call), close },
    keyring: forwarding<Keyring>(KEYRING.verbs, call),
    registry: {
      ...forwarding<Omit<Registry, 'revision'>>(REGISTRY.verbs, call),
      // Nobody else writes it.
      revision: async () => 0,
    },
    accounts: forwarding<Accounts>(ACCOUNTS.verbs, call),
    journal: forwarding<Journal>(JOURNAL.verbs, call),
    suppressions: forwarding<SuppressionList>(SUPPRESSIONS.verbs, call),
    webhooks: forwarding<Webhooks>(WEBHOOKS.verbs, call),
    templates: forwarding<Templates>(TEMPLATES.verbs, call),
    alerts: forwarding<Alerts>(ALERTS.verbs, call),
    requests: forwarding<RequestLog>(REQUEST_LOG.verbs, call),
    configuring: forwarding<Configuring>(CONFIGURING.verbs, call),
    dmarc: forwarding<DmarcReports>(DMARC_REPORTS.verbs, call),
    tlsReports: forwarding<TlsReports>(TLS_REPORTS.verbs, call),
    traffic: forwarding<Traffic>(TRAFFIC.verbs, call),
    erasures: forwarding<Erasures>(ERASURES.verbs, call),
    issuing: forwarding<Issuing>(ISSUING.verbs, call),
    sharing: forwarding<Sharing>(SHARING.verbs, call),
    // The verb's own type.
    rebuild: async () => (await call('rebuild', [])) as 'rebuilt' | 'busy' | 'large',
    holdPseudonymKey: async (key) => void (await call('holdPseudonymKey', [key])),
    applying: forwarding<Applying>({ apply: true, applyLeft: true, logMark: true }, call),
  };
}

/** The views contract, over calls of views. */
export function viewsOver(call: Call<ViewVerbs>, close: () => Promise<void>): Views {
  return { ...forwarding<Omit<Views, 'close'>>(VIEWS, call), close };
}
