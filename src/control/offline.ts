import { createReception } from '../accounts/reception.ts';
import { type Fault, formatFault } from '../config/fault.ts';
import { earlyConfig, loadConfig } from '../config/load.ts';
import { IDLE, type QueueFigures } from '../engine/contract.ts';
import { createEngine, type Engine } from '../engine/engine.ts';
import type { Clock } from '../lib/clock.ts';
import { becomeOwnerOf } from '../lib/command.ts';
import { silentLog } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { SharedClock } from '../lib/shared-clock.ts';
import { refuseMoved } from '../migrate/derived.ts';
import { Events } from '../observe/events.ts';
import { OperationError } from '../operations/call.ts';
import type { Operations } from '../operations/table.ts';
import { Preflighter } from '../preflight/preflighter.ts';
import { Previewer } from '../preview/previewer.ts';
import { createDmarcDesk } from '../reports/dmarc-desk.ts';
import { createSigningKeys } from '../signing/keys.ts';
import { MailSigner } from '../signing/signer.ts';
import { openSegmentSpool } from '../spool/segments/segment-spool.ts';
import type { Spool } from '../spool/spool.ts';
import type { Cluster } from '../store/cluster.ts';
import { replay } from '../store/logged/replay.ts';
import { openSqlite, type SqliteStores } from '../store/sqlite/open.ts';
import type { Transport } from '../transport/transport.ts';
import { contentKeysFor } from './content-keys.ts';
import { COMMAND_LINE, createDoor, type Door, operationsOf } from './door.ts';
import { holdKeys } from './erasing.ts';
import {
  dmarcTerms,
  engineSettingsOf,
  type InForce,
  publishTable,
  sessionLimits,
  storedRows,
} from './in-force.ts';
import { holdDirectory, layoutOf } from './layout.ts';
import { createLocalOperations } from './local.ts';
import { createMessageWords } from './message-words.ts';
import { queueOfAll } from './nodes/figures.ts';
import { livingReports } from './nodes/sight.ts';
import type { SharedStorage } from './shared-storage.ts';

/** What opening an installation without a server needs. */
export interface OfflineOptions {
  readonly dataDir: string;
  readonly configFile?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly random: Random;
}

/** An installation, held by this process until it is closed. */
export interface Offline {
  /** The way to the operations, which records changes. */
  readonly door: Door;
  /** Those operations, as the command line. */
  readonly operations: Operations;
  /** The faults of the configuration at the last reading. */
  readonly faults: () => readonly Fault[];
  close(): Promise<void>;
}

/** While nothing runs. */
const NOBODY_SIGNS_IN = { log: silentLog, provider: () => null };

/** Opens an installation as the owner of its data directory. Throws `StoreError`, `SpoolError`. */
export async function openOffline(given: OfflineOptions): Promise<Offline> {
  const options = { ...given, clock: new SharedClock(given.clock) };
  becomeOwnerOf(options.dataDir);
  const lock = await holdDirectory(options.dataDir, options.clock);
  try {
    const stores = await openStores(options);
    const { spool } = stores;
    const load = async () => {
      const read = loadConfig({ ...options, stored: await storedRows(stores.registry) });
      if (read.vault !== null) await holdKeys(stores, read.vault);
      const routesVersion = await publishTable(read, stores.registry, options.clock.wall());
      return { ...read, routesVersion };
    };
    let loaded = await load().catch(async (error) => {
      await stores.close();
      throw error;
    });
    const engine = openEngine(stores, () => loaded, options);
    const readers = openReaders(stores, options, () => loaded);
    const reception = createReception({
      ...stores,
      ...options,
      ...NOBODY_SIGNS_IN,
      box: () => loaded.vault,
      limits: () => sessionLimits(loaded.config),
    });
    const local = createLocalOperations({
      reception,
      ...stores,
      ...options,
      intake: engine.intake,
      acts: engine.acts,
      spool,
      ...readers.parts,
      collection: engine.collection,
      queue: await queueFigures(stores, options.clock),
      // Opening the store already wrote what the log held.
      written: async () => {},
      // Nothing rests while nothing runs.
      foundWell: () => {},
      running: false,
      resolution: () => loaded,
      faults: () => loaded.faults,
      faultsWith: async (stored) =>
        loadConfig({ ...options, stored: { ...(await storedRows(stores.registry)), ...stored } }).faults,
      server: () => null,
      // With no running server to protect, the valid parts of a faulty configuration apply: it can be fixed piecemeal.
      reload: async () => {
        loaded = await load();
        return [];
      },
    });
    const { clock } = options;
    const door = createDoor({ operations: local, journal: stores.journal, clock, log: silentLog });
    return {
      door,
      operations: operationsOf(door, COMMAND_LINE),
      faults: () => loaded.faults,
      close: async () => {
        await readers.close();
        await stores.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** What reads messages and reports; messages in threads that begin when they are needed. */
function openReaders(
  { views, spool, dmarc }: Stores,
  { clock, random }: OfflineOptions,
  loaded: () => InForce,
) {
  const previewer = new Previewer(clock);
  const preflight = new Preflighter(clock);
  const events = new Events();
  const dmarcDesk = createDmarcDesk({ dmarc, clock, random, events, ...dmarcTerms(loaded) });
  return {
    parts: { words: createMessageWords({ views, spool, previewer }), preflight, dmarcDesk },
    close: async () => {
      await Promise.all([previewer.close(), preflight.close()]);
    },
  };
}

type Stores = Omit<SqliteStores, 'applying' | 'rebuild'> &
  Pick<SharedStorage, 'holdSecretKey' | 'close'> & {
    readonly spool: Spool;
    readonly cluster: Cluster | null;
  };

/** Opens facts and contents: in the data directory, or in the configured PostgreSQL. */
async function openStores(options: OfflineOptions & { readonly clock: SharedClock }): Promise<Stores> {
  const { database, events, faults } = earlyConfig(options);
  const eventsKept = events.keep;
  if (faults.length > 0) throw new OperationError('invalid', faults.map(formatFault).join('\n'));
  const keys = contentKeysFor(options);
  if (database.url !== '') {
    // Imported only here: most installations never need it.
    const { openSharedStorage } = await import('./shared-storage.ts');
    return await openSharedStorage({ database, eventsKept, node: NODE, keys, clock: options.clock });
  }
  const layout = layoutOf(options.dataDir);
  const stores = openSqlite(layout.database, { eventsKept });
  try {
    await refuseMoved(stores.registry);
    const spool = await openSegmentSpool({ directory: layout.spool, keys, onFailure() {} });
    await replay(spool, stores.applying).catch(async (error) => {
      await spool.close();
      throw error;
    });
    const close = async () => {
      await spool.close();
      await stores.store.close();
    };
    return { ...stores, cluster: null, spool, holdSecretKey: async () => {}, close };
  } catch (error) {
    await stores.store.close();
    throw error;
  }
}

/** The current figures on lanes: unknown here, but other nodes may be at work. */
async function queueFigures({ cluster }: Stores, clock: Pick<Clock, 'wall'>): Promise<QueueFigures> {
  if (cluster === null) return IDLE;
  const now = clock.wall();
  const reports = livingReports(await cluster.nodes(now), NODE, now);
  return queueOfAll(IDLE, () => reports);
}

/** An engine that never starts: mail is accepted and routed, or retried, and waits in the store. */
function openEngine(
  { store, views, spool }: Stores,
  loaded: () => InForce,
  { clock, random }: OfflineOptions,
): Pick<Engine, 'intake' | 'acts' | 'collection'> {
  const events = new Events();
  const settings = engineSettingsOf(loaded);
  const keysOf = createSigningKeys();
  const signer = new MailSigner({ keys: () => keysOf(loaded().config.domains), clock, log: silentLog });
  const engine = createEngine({
    store,
    views,
    spool,
    clock,
    random,
    events,
    settings,
    node: NODE,
    signer,
  });
  for (const relay of loaded().config.relays) engine.relays.put(relay, NO_TRANSPORT);
  return engine;
}

/** A node that never leases. */
const NODE = 'cli';

const NO_TRANSPORT: Transport = {
  deliver: () => Promise.reject(new Error('nothing is delivered while the server is not running')),
  connections: () => 0,
  close: async () => {},
};
