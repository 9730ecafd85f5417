import type { LoadOptions } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { contentKeysFor } from '../control/content-keys.ts';
import type { ErasableFiles } from '../control/erasing.ts';
import { holdDirectory, layoutOf } from '../control/layout.ts';
import type { EventsKept } from '../domain/event.ts';
import type { Log } from '../lib/log.ts';
import type { SharedClock } from '../lib/shared-clock.ts';
import { refuseMoved } from '../migrate/derived.ts';
import type { ContentKeys } from '../spool/sealing.ts';
import { openSegmentSpool } from '../spool/segments/segment-spool.ts';
import type { Spool } from '../spool/spool.ts';
import type { Accounts, Keyring } from '../store/accounts.ts';
import type { Alerts } from '../store/alerts.ts';
import type { Contradiction } from '../store/applying.ts';
import type { Cluster } from '../store/cluster.ts';
import type { Configuring } from '../store/configuring.ts';
import type { DmarcReports } from '../store/dmarc-reports.ts';
import type { Erasures } from '../store/erasing.ts';
import type { Issuing } from '../store/issuing.ts';
import type { Journal } from '../store/journal.ts';
import { LoggedStore } from '../store/logged/logged-store.ts';
import { replay } from '../store/logged/replay.ts';
import { configuringBehind, registryBehind, viewsBehind } from '../store/logged/written-behind.ts';
import type { Registry } from '../store/registry.ts';
import type { RequestLog } from '../store/request-log.ts';
import type { Sharing } from '../store/sharing.ts';
import type { Store } from '../store/store.ts';
import type { SuppressionList } from '../store/suppressions.ts';
import type { Taking } from '../store/taking.ts';
import type { Templates } from '../store/templates.ts';
import type { TlsReports } from '../store/tls-reports.ts';
import type { Traffic } from '../store/traffic.ts';
import type { Views } from '../store/views.ts';
import type { Webhooks } from '../store/webhooks.ts';
import type { StoreWriter } from '../store/writer.ts';
import { startStoreThread, startViewsThread } from '../threads/clients.ts';

/** Facts and contents, as the service uses them. */
export interface Storage {
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
  readonly issuing: Issuing;
  readonly sharing: Sharing;
  readonly views: Views;
  readonly spool: Spool;
  /** Stores contents and facts together. */
  readonly taking: Taking;
  readonly writer: StoreWriter;
  /** Resolves when everything acknowledged is stored with the facts, for readers that bypass the store. */
  readonly written: () => Promise<void>;
  /** What the log said at the start, and the database refused: see `Applying.applyLeft`. At most what a log holds. */
  readonly contradictions: readonly Contradiction[];
  /** Null if only this process uses them. */
  readonly cluster: Cluster | null;
  readonly erasures: Erasures;
  /** What is left in files of what was erased; null where the database has no files of ours. */
  readonly files: ErasableFiles | null;
  /** Rejects with `store_other_key` if the other nodes seal with another key than the one with this id. */
  holdSecretKey(keyId: string): Promise<void>;
  /** From now on, people who were erased are found by their pseudonyms. */
  holdPseudonymKey(key: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/** What opening it needs. */
export interface StorageOptions extends Omit<LoadOptions, 'stored'> {
  readonly database: Config['database'];
  readonly eventsKept: EventsKept;
  /** This process's name, new at every start. */
  readonly node: string;
  /** Follows the database's time once that is open. */
  readonly clock: SharedClock;
  /** Tells a person what it waits for. */
  readonly say: (text: string) => void;
  /** Told to stop: it waits no longer. */
  readonly signal?: AbortSignal;
  /** Called once on a failure after which nothing may be written. */
  readonly onFailure: (error: Error & { readonly code: string }) => void;
}

/** Opens facts and contents: in the data directory, or in the configured PostgreSQL. */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const lock = await holdDirectory(options.dataDir, options.clock);
  try {
    const keys = contentKeysFor(options);
    const storage =
      options.database.url === ''
        ? await openInDirectory(options, keys)
        : await openInPostgres(options, keys);
    const close = async () => {
      await storage.close();
      lock.release();
    };
    return { ...storage, close };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Says which facts of the log were left out at the start. */
export function logContradictions({ contradictions }: Pick<Storage, 'contradictions'>, log: Log): void {
  for (const { verb, unit } of contradictions)
    log.error('log.contradicted', { verb, messageId: unit.messageId, lane: unit.lane, fence: unit.fence });
}

async function openInPostgres(options: StorageOptions, keys: ContentKeys | null) {
  // Imported only here: a server that never needs them starts faster without.
  const { openSharedStorage } = await import('../control/shared-storage.ts');
  const { openPatiently } = await import('./patience.ts');
  // An answer implies that everything is written.
  return {
    ...(await openPatiently(() => openSharedStorage({ ...options, keys }), options)),
    written: async () => {},
    contradictions: [],
    files: null,
  };
}

async function openInDirectory(
  { dataDir, eventsKept, clock, onFailure }: StorageOptions,
  keys: ContentKeys | null,
): Promise<Storage> {
  const layout = layoutOf(dataDir);
  const opened: { close(): Promise<void> }[] = [];
  const close = async () => {
    for (const part of opened.reverse()) await part.close();
  };
  try {
    const thread = await startStoreThread({ path: layout.database, eventsKept, clock, onDeath: onFailure });
    opened.push(thread.store);
    await refuseMoved(thread.registry);
    const views = await startViewsThread({ path: layout.database, clock, onDeath: onFailure });
    opened.push(views);
    const spool = await openSegmentSpool({ directory: layout.spool, keys, onFailure });
    opened.push(spool);
    const contradictions: Contradiction[] = [];
    await replay(spool, thread.applying, (left) => contradictions.push(...left));
    const taking = new LoggedStore({ ...thread, log: spool, spool, clock });
    opened.push({ close: () => taking.finish() });
    const written = () => taking.written();
    // Relays and domains themselves reveal a lost key.
    const holdSecretKey = async () => {};
    const holdPseudonymKey = async (key: Uint8Array) => {
      taking.holdPseudonymKey(key);
      await thread.holdPseudonymKey(key);
    };
    return {
      ...thread,
      store: taking.asStore(),
      taking,
      suppressions: taking.listOver(thread.suppressions),
      files: { spool, rebuild: () => thread.rebuild() },
      holdPseudonymKey,
      registry: registryBehind(written, thread.registry),
      configuring: configuringBehind(written, thread.configuring),
      views: viewsBehind(() => taking.answered(), views),
      spool,
      writer: thread,
      cluster: null,
      written,
      contradictions,
      holdSecretKey,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
