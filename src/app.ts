/**
 * The composition root: the only place that puts rooms together. Start order: lock, store, configuration, spool,
 * engine, listeners. Stop order is the reverse, and what is under way gets its time.
 */

import { createReception, type Reception } from './accounts/reception.ts';
import { banner, type Condition, MachineFailure, prepareFirstRun, statusLine } from './app/banner.ts';
import { admitDeveloper, type DevAccess, type DevMode, devFaults, earlyDevFaults } from './app/dev.ts';
import { readNotes } from './app/listener-parts.ts';
import { createListeners, type Listeners } from './app/listeners.ts';
import { LiveConfig, signInTerms } from './app/live-config.ts';
import { announced } from './app/observation.ts';
import { type BoundPorts, loggedPorts, removeRuntime, writeRuntime } from './app/ports.ts';
import { applyRelays } from './app/relays.ts';
import { logContradictions, openStorage, type Storage } from './app/storage.ts';
import { keepUp } from './app/upkeep.ts';
import { createWork, NO_CONDITION, nodeId, type Work } from './app/work.ts';
import type { Fault } from './config/fault.ts';
import { provenNote } from './config/hook-tokens.ts';
import { earlyConfig, type Loaded, loadConfig } from './config/load.ts';
import type { LocalDeps, RunningServer } from './control/deps.ts';
import { createDoor } from './control/door.ts';
import { holdKeys } from './control/erasing.ts';
import { dmarcTerms, publishTable, storedRows } from './control/in-force.ts';
import { layoutOf } from './control/layout.ts';
import { createLocalOperations } from './control/local.ts';
import { NOTHING_BOUND } from './control/mail-dns.ts';
import { createMessageWords } from './control/message-words.ts';
import { deniedOfAll, happeningsOfAll } from './control/nodes/figures.ts';
import { type ControlServer, listenForControl } from './control/server.ts';
import { countTopics, type TopicCounts } from './dashboard/hints.ts';
import type { Clock } from './lib/clock.ts';
import type { Random } from './lib/random.ts';
import { SharedClock } from './lib/shared-clock.ts';
import type { Counting } from './observe/counting.ts';
import { logEvents } from './observe/event-log.ts';
import { Events } from './observe/events.ts';
import { type HookProofs, rememberHookProofs } from './observe/hook-proofs.ts';
import { createLog, LogRing, Output, type ServiceLog } from './observe/log.ts';
import {
  type DeniedSources,
  type RelayHistory,
  rememberDenied,
  rememberRelays,
  tallyDenials,
} from './observe/remembered.ts';
import { countTraffic } from './observe/traffic-counts.ts';
import type { Operations } from './operations/table.ts';
import { Preflighter } from './preflight/preflighter.ts';
import { Previewer } from './preview/previewer.ts';
import { createDmarcDesk } from './reports/dmarc-desk.ts';

/** What the service is started with. */
export interface AppOptions {
  /** Absolute; must exist. */
  readonly dataDir: string;
  readonly configFile?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Tells a person something; the log goes its own way. */
  readonly say: (text: string) => void;
  /** How log lines are written to the standard output: for machines or for people. */
  readonly logFormat: 'json' | 'text';
  /** Told to stop while it starts: then it no longer waits for its database, and rejects with `store_closed`. */
  readonly signal?: AbortSignal;
  /** For one developer's machine: the log goes to the standard error. Absent: for production. */
  readonly dev?: DevMode;
}

/** The service, running. */
export interface App {
  /** Resolves with an exit status when the service ends by itself: the machine failed (contract §15). */
  readonly failed: Promise<number>;
  /** Where it listens and what is wrong, in a line. */
  status(): string;
  /** Where it listens. */
  ports(): BoundPorts;
  /** Reads the configuration and the certificate anew: SIGHUP. */
  reload(): Promise<void>;
  /** Stops accepting, gives what is under way its time, and closes everything. */
  stop(): Promise<void>;
}

/** A configuration that cannot be started with. */
export class ConfigurationError extends Error {
  readonly faults: readonly Fault[];
  constructor(faults: readonly Fault[]) {
    super('the configuration is wrong');
    this.name = 'ConfigurationError';
    this.faults = faults;
  }
}

function refuseFaults(faults: readonly Fault[]): void {
  if (faults.length > 0) throw new ConfigurationError(faults);
}

/** The file descriptors of the standard output and the standard error. */
const STDOUT = 1;
const STDERR = 2;
/** How much larger a control request may be than the message in it: base64, and the JSON around it. */
const CONTROL_OVERHEAD = 1.5;

/** Starts the service. Rejects with `ConfigurationError`, `StoreError`, `ListenError` or `CertificateError`. */
export async function startApp(options: AppOptions): Promise<App> {
  const service = new Service({ ...options, clock: new SharedClock(options.clock) });
  try {
    await service.start();
    return service;
  } catch (error) {
    await service.stop();
    throw error;
  }
}

/** All parts have one clock, which turns to the database's time once there is one that others use too. */
interface ServiceOptions extends AppOptions {
  readonly clock: SharedClock;
}

class Service implements App {
  readonly #options: ServiceOptions;
  readonly #stopping = new AbortController();
  readonly #events = new Events();
  readonly #denied: DeniedSources;
  readonly #history: RelayHistory;
  readonly #topics: TopicCounts;
  readonly #lastLines = new LogRing();
  #failure: MachineFailure | null = null;
  #log: ServiceLog | null = null;
  #storage: Storage | null = null;
  #live: LiveConfig | null = null;
  #work: Work | null = null;
  #denials: Counting | null = null;
  #traffic: Counting | null = null;
  #hookProofs: HookProofs | null = null;
  #previewer: Previewer | null = null;
  #preflighter: Preflighter | null = null;
  #listeners: Listeners | null = null;
  #control: ControlServer | null = null;
  /** Ends some time after {@link #stopping} aborts. */
  #upkeep: Promise<unknown> = Promise.resolve();
  /** Every listener accepts, or has. */
  #started = false;
  /** Told to stop: whoever asks hears that we are not ready, while requests are still answered. */
  #leaving = false;

  constructor(options: ServiceOptions) {
    this.#options = options;
    this.#denied = rememberDenied(this.#events, options.clock);
    this.#history = rememberRelays(this.#events, options.clock);
    this.#topics = countTopics(this.#events);
  }

  get failed(): Promise<number> {
    return this.#failure?.ended ?? new Promise(() => {});
  }

  async start(): Promise<void> {
    const { clock, random, dataDir, version, say } = this.#options;
    const layout = layoutOf(dataDir);
    // The machine may fail before there is a log to say so in.
    const broken = Promise.withResolvers<Error & { readonly code: string }>();
    const early = earlyConfig(this.#options);
    const { dev } = this.#options;
    refuseFaults([...early.faults, ...(dev === undefined ? [] : earlyDevFaults(early))]);
    const node = nodeId(early.node.name, random);
    const { database } = early;
    const eventsKept = early.events.keep;
    const onFailure = broken.resolve;
    const storage = await openStorage({ ...this.#options, database, eventsKept, node, onFailure });
    this.#storage = storage;
    const { live, log } = await this.#configure(storage);
    const failure = new MachineFailure(clock, log);
    this.#failure = failure;
    void broken.promise.then((error) => failure.report(error, () => this.#haltWork()));

    const condition = () => this.#listeners?.condition() ?? NO_CONDITION;
    const known = { denied: this.#denied, history: this.#history, topics: this.#topics, condition };
    const facts = { bound: () => this.#listeners?.ports ?? NOTHING_BOUND, capturesAll: dev !== undefined };
    const own = { ...known, ...facts, events: this.#events, node, version };
    const work = createWork({ storage, live, log, clock, random, ...own });
    this.#work = work;
    const { engine, nodes } = work;
    this.#traffic = countTraffic({ ...storage, ...engine, events: this.#events, clock, log });
    this.#denials = tallyDenials({ events: this.#events, store: storage.store, node, clock, log });
    this.#hookProofs = rememberHookProofs({
      ...storage,
      events: this.#events,
      noteOf: provenNote,
      clock,
      log,
    });
    this.#previewer = new Previewer(clock);
    this.#preflighter = new Preflighter(clock);
    const words = createMessageWords({ ...storage, previewer: this.#previewer });
    const readers = { words, preflight: this.#preflighter };
    const reception = this.#receive(storage, live, log);
    const { access, setUpPath } = await this.#admit(reception, storage);
    const dmarcTaking = { ...dmarcTerms(() => live.loaded), events: this.#events };
    const dmarcDesk = createDmarcDesk({ ...storage, clock, random, ...dmarcTaking });
    const operations = this.#operations(storage, live, work, { ...readers, dmarcDesk }, reception);
    const door = announced(createDoor({ operations, journal: storage.journal, clock, log }), this.#events);
    // biome-ignore format: names alone, then what is made here
    this.#listeners = await createListeners({
      storage, live, ...work, log, clock, random, version, node, dataDir, ...readers, dmarcDesk, operations, door, reception,
      notes: await readNotes(storage.registry, live.loaded.vault?.keyId ?? null, random),
      events: this.#events,
      dev: access,
      onFailure,
      failed: () => failure.failed,
      ready: () => !this.#leaving && engine.intake.suspended(null) === null && this.#reachesStore(),
      signal: this.#stopping.signal,
    });
    await engine.start({ seize: storage.cluster === null });
    await nodes.start();
    const ports = await this.#listeners.listen();
    const maxRequestBytes = () => live.config.api.maxMessageBytes * CONTROL_OVERHEAD;
    this.#control = await listenForControl({ dataDir, door, maxRequestBytes, log });
    writeRuntime(layout.runtime, version, ports);
    const kept = { storage, live, reception, clock, random, log, signal: this.#stopping.signal };
    this.#upkeep = keepUp({ ...kept, ...work, node });
    this.#started = true;
    log.info('service.started', { version, ...loggedPorts(ports) });
    if (dev === undefined) say(banner(version, dataDir, live.config, ports, this.#condition(), setUpPath));
  }

  status(): string {
    const { ports } = this.#listeners ?? {};
    return ports === undefined ? 'Starting' : statusLine(ports, this.#condition());
  }

  ports(): BoundPorts {
    if (this.#listeners === null) throw new Error('it does not listen yet');
    return this.#listeners.ports;
  }

  #condition(): Condition {
    const checks = this.#listeners?.health.report().checks ?? [];
    return { checks, suspension: this.#work?.engine.intake.suspended(null)?.detail ?? null };
  }

  async reload(): Promise<void> {
    await this.#live?.reload();
    await this.#listeners?.reloadCertificate();
  }

  async stop(): Promise<void> {
    const { clock, dataDir } = this.#options;
    const { delaySeconds = 0, graceSeconds = 0 } = this.#live?.config.shutdown ?? {};
    this.#leaving = true;
    this.#log?.info('service.stopping');
    // Only who has been sent requests needs time to be taken out of service; until then it goes on with its work.
    if (this.#started) await clock.sleep(delaySeconds * 1000);
    this.#work?.engine.suspend();
    // Without the data directory's lock, what lies there is another server's.
    if (this.#storage !== null) removeRuntime(layoutOf(dataDir).runtime);
    this.#stopping.abort();
    const deadline = new AbortController();
    const done = new AbortController();
    const late = clock.sleep(graceSeconds * 1000, done.signal).then(() => deadline.abort());
    await this.#control?.close();
    await Promise.all([this.#listeners?.close(deadline.signal), this.#work?.engine.stop(deadline.signal)]);
    done.abort();
    await late;
    await this.#upkeep;
    this.#work?.nodes.stop();
    await Promise.all([this.#previewer?.close(), this.#preflighter?.close()]);
    await Promise.all([this.#denials?.stop(), this.#traffic?.stop(), this.#hookProofs?.stop()]);
    await this.#storage?.close();
    this.#log?.info('service.stopped');
    this.#log?.flush();
  }

  /** Reads the configuration and begins to log and to watch. */
  async #configure(storage: Storage): Promise<{ live: LiveConfig; log: ServiceLog }> {
    const { clock, logFormat: format } = this.#options;
    const stored = () => storedRows(storage.registry);
    const revision = () => storage.registry.revision();
    const firstRevision = await revision();
    const loaded = loadConfig({ ...this.#options, stored: await stored() });
    refuseFaults(
      this.#options.dev === undefined ? loaded.faults : [...loaded.faults, ...devFaults(loaded.config)],
    );
    if (loaded.vault !== null) await holdKeys(storage, loaded.vault);
    const publish = (next: Loaded) => publishTable(next, storage.registry, clock.wall());
    const first = { ...loaded, routesVersion: await publish(loaded) };
    const destination = new Output(this.#options.dev === undefined ? STDOUT : STDERR, clock);
    const log = createLog({ ...first.config.log, format, clock, destination, ring: this.#lastLines });
    this.#log = log;
    logEvents(this.#events, log);
    logContradictions(storage, log);
    for (const name of first.ignored) log.debug('config.ignored', { variable: name });
    const live = new LiveConfig({
      ...this.#options,
      first,
      stored,
      revision,
      firstRevision,
      publish,
      log,
      signal: this.#stopping.signal,
      onChange: async (config, ways) => {
        log.configure(config.log);
        if (this.#work === null) return;
        const { engine, transports } = this.#work;
        applyRelays(engine.relays, config, transports);
        if (ways) engine.waysChanged();
        await this.#listeners?.configured();
      },
    });
    this.#live = live;
    void live.watch();
    return { live, log };
  }

  /** Who may use the dashboard at first: the developer whose machine this is, or whoever claims it. */
  async #admit(
    reception: Reception,
    { keyring }: Storage,
  ): Promise<{ readonly access: DevAccess | null; readonly setUpPath: string | null }> {
    const { clock, random, dev, environment } = this.#options;
    if (dev !== undefined)
      return { access: await admitDeveloper(dev, keyring, clock, random), setUpPath: null };
    const firstRun = await prepareFirstRun(reception, environment);
    if (firstRun.kind === 'faulty') throw new ConfigurationError([firstRun.fault]);
    return { access: null, setUpPath: firstRun.kind === 'link' ? firstRun.path : null };
  }

  #receive(storage: Storage, live: LiveConfig, log: ServiceLog): Reception {
    const { clock, random } = this.#options;
    return createReception({ ...storage, clock, random, log, ...signInTerms(live, clock) });
  }

  #operations(
    storage: Storage,
    live: LiveConfig,
    { engine, queue }: Work,
    readers: Pick<LocalDeps, 'words' | 'preflight' | 'dmarcDesk'>,
    reception: Reception,
  ): Operations {
    const { dataDir, clock, random } = this.#options;
    return createLocalOperations({
      ...storage,
      clock,
      random,
      intake: engine.intake,
      acts: engine.acts,
      queue,
      collection: engine.collection,
      foundWell: (relay) => engine.relays.foundWell(relay),
      ...readers,
      reception,
      dataDir,
      running: true,
      resolution: () => live.loaded,
      faults: () => live.faults,
      reload: () => live.reload(),
      faultsWith: (stored) => live.faultsWith(stored),
      server: () => this.#server(),
    });
  }

  /** What operators are shown of this process; null before its ports are known. */
  #server(): RunningServer | null {
    if (this.#listeners === null || this.#work === null) return null;
    const { nodes, self } = this.#work;
    const { health, certificate, keeper, ports } = this.#listeners;
    return {
      version: this.#options.version,
      node: { id: self.id, name: self.name },
      certificate,
      keeper,
      webuiPort: ports.webui,
      capturesAll: this.#options.dev !== undefined,
      health: () => health.report(),
      denied: () => deniedOfAll(this.#denied.list(), nodes.reports()),
      takeBackDenied: this.#denied.takeBack,
      relayHistory: (relay) => happeningsOfAll(this.#history.of(relay), nodes.reports(), relay),
      hookProofs: (relay) => this.#hookProofs?.of(relay) ?? { provenAt: null, refusedAt: null },
      forgetHookProofs: (relay) => this.#hookProofs?.forget(relay),
      logLines: () => this.#lastLines.lines(),
    };
  }

  /** A node that is cut off from a database which others reach had better be asked for nothing. */
  #reachesStore(): boolean {
    const health = this.#storage?.cluster === null ? undefined : this.#listeners?.health;
    return health?.snapshot().databaseReachable ?? true;
  }

  /** The machine failed: no mail in, no attempts out, until the process ends. */
  #haltWork(): void {
    const now = new AbortController();
    now.abort();
    void this.#work?.engine.stop(now.signal);
  }
}
