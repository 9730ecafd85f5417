import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createSavedViews } from '../accounts/saved-views.ts';
import { hostname as hostNames } from '../config/kinds.ts';
import { MAX_SUBJECT, shortened } from '../control/door.ts';
import { type ExportDeps, exportMessages } from '../control/export.ts';
import { sessionLimits } from '../control/in-force.ts';
import type { WordedMessage } from '../control/message-words.ts';
import type { NodesSight } from '../control/nodes/sight.ts';
import type { Downloads } from '../dashboard/downloads.ts';
import { HintFeed } from '../dashboard/hints.ts';
import { createDashboard, type Dashboard } from '../dashboard/server.ts';
import type { FirstStepsBook, Pointers } from '../dashboard/session-calls.ts';
import { createSharedStories, type SharedStories } from '../dashboard/shared-stories.ts';
import { createVisitors, type Visitors } from '../dashboard/visitors.ts';
import { INBOX } from '../domain/relay.ts';
import type { Challenges } from '../http/server.ts';
import type { StreamedBody } from '../http/stream.ts';
import { openContent } from '../ingest/http/find-message.ts';
import { RateLimiter } from '../ingest/rate.ts';
import type { Clock } from '../lib/clock.ts';
import { isMessageId } from '../lib/id.ts';
import { isOwnHost, LOOPBACK_ONLY } from '../lib/network.ts';
import { OperationError } from '../operations/call.ts';
import { isTopic, type Topic } from '../operations/operation.ts';
import { documentOf, policyOf } from '../preview/parsed.ts';
import type { Spool } from '../spool/spool.ts';
import type { Journal } from '../store/journal.ts';
import { StoreError } from '../store/store.ts';
import type { Views } from '../store/views.ts';
import type { Certificate } from '../tls/certificate.ts';
import type { ListenerParts } from './listener-parts.ts';
import { cidrs, guardSettings, type LiveConfig } from './live-config.ts';
import type { Observation } from './observation.ts';
import type { BoundPorts } from './ports.ts';
import type { Storage } from './storage.ts';

/** Where `npm run web` puts the page: `dist/web`, relative to the source and to its compiled form. */
const SITE = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../dist/web' : '../web', import.meta.url),
);

/** Without signing in, nobody is trusted to say where a request comes from. */
const NO_PROXIES: readonly string[] = [];

/** Sources whose readings of shared stories are counted; the least recently seen one makes room. */
const MAX_READERS = 10_000;

/** Makes the server of the dashboard's port. */
export function dashboard(
  parts: ListenerParts,
  port: number,
  certificate: Certificate,
  { health, metrics }: Observation,
  bound: BoundPorts,
  challenges: Challenges,
): Dashboard {
  const { live, clock, random, log, events, ready, door, words, storage, dataDir } = parts;
  const feed = new HintFeed({ events, clock, random });
  void tellNewsOfOthers({ nodes: parts.nodes, feed, clock, signal: parts.signal });
  const downloads = createDownloads({
    storage,
    words,
    backupDirectory: join(dataDir, 'backups'),
    export: createExport(parts),
    journal: storage.journal,
    clock,
  });
  const stories = createSharedStories({
    reception: parts.reception,
    sharing: storage.sharing,
    operations: parts.operations,
    document: downloads.document,
    readings: new RateLimiter({ maxWindows: MAX_READERS }),
    maxDays: () => live.config.webui.storyLinkMaxDays,
  });
  const server = createDashboard({
    port,
    certificate,
    challenges,
    health,
    metrics,
    clock,
    random,
    log,
    events,
    ready,
    door,
    feed,
    downloads,
    visitors: dashboardVisitors(parts, bound, stories),
    stories,
    servesPlain: parts.dev !== null,
    siteDirectory: SITE,
    maxMessageBytes: () => live.config.api.maxMessageBytes,
    maxEventStreams: () => live.config.webui.maxEventStreams,
    hosts: live.config.webui.bind,
    settings: () =>
      parts.dev === null
        ? { ...guardSettings(live), anyHost: parts.reception.isLinkOut() && hostsAreOpen(live) }
        : {
            allowedCidrs: cidrs(live.config.webui.allowedCidrs),
            trustedProxies: cidrs(NO_PROXIES),
            ...LOOPBACK_ONLY,
          },
  });
  return {
    listen: server.listen,
    close: async (signal) => {
      feed.stop();
      await server.close(signal);
    },
  };
}

interface ExportParts extends Pick<ExportDeps, 'queue' | 'clock'> {
  readonly storage: Pick<Storage, 'views' | 'keyring' | 'journal'>;
  readonly live: Pick<LiveConfig, 'loaded'>;
}

/** Exports the result of a query. Recorded before anything is read: data leaves as soon as the export begins. */
function createExport({ storage, live, queue, clock }: ExportParts): Downloads['export'] {
  const { views, keyring, journal } = storage;
  return async (actor, request) => {
    const pieces = exportMessages(request, { views, keyring, queue, clock, resolution: () => live.loaded });
    await journal.record([
      {
        at: clock.wall(),
        actorKind: actor.kind,
        actor: actor.name,
        sourceAddress: actor.sourceAddress,
        action: 'export',
        subject: shortened(request.query, MAX_SUBJECT),
        before: null,
        after: JSON.stringify({ format: request.format }),
      },
    ]);
    return encoded(pieces);
  };
}

async function* encoded(pieces: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield Buffer.from(piece);
}

/** What the watch needs. */
interface NewsOptions {
  readonly nodes: Pick<NodesSight, 'nodes' | 'reports'>;
  readonly feed: Pick<HintFeed, 'note'>;
  readonly clock: Clock;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** How often to check, in ms: other nodes report every two seconds. */
const LOOK_MS = 1_000;

/** Announces changes on other nodes to the dashboard's pages, until the signal aborts. Never rejects. */
export async function tellNewsOfOthers({ nodes, feed, clock, signal }: NewsOptions): Promise<void> {
  let heard = countsOf(nodes);
  let seen = membersOf(nodes);
  while (!signal.aborted) {
    await clock.sleep(LOOK_MS, signal);
    const now = countsOf(nodes);
    const members = membersOf(nodes);
    feed.note([...changedTopics(heard, now), ...(members === seen ? [] : (['health'] as const))]);
    // When a silent node returns, it is compared with its last report.
    const ids = new Set(nodes.nodes().map(({ id }) => id));
    heard = new Map([...heard, ...now].filter(([node]) => ids.has(node)));
    seen = members;
  }
}

type Counts = Readonly<Record<string, number>>;

function countsOf(nodes: NewsOptions['nodes']): Map<string, Counts> {
  return new Map(nodes.reports().map(({ node, news }) => [node, news]));
}

function membersOf(sight: NewsOptions['nodes']): string {
  return sight
    .nodes()
    .map(({ id, missing }) => `${id}${missing ? ' missing' : ''}`)
    .join('\n');
}

/** For a new node, everything it has done is news. */
function changedTopics(before: ReadonlyMap<string, Counts>, now: ReadonlyMap<string, Counts>): Topic[] {
  const changed = new Set<Topic>();
  for (const [node, counts] of now)
    for (const [topic, count] of Object.entries(counts))
      if (isTopic(topic) && count !== before.get(node)?.[topic]) changed.add(topic);
  return [...changed];
}

type Parts = Pick<
  ListenerParts,
  'reception' | 'events' | 'notes' | 'live' | 'storage' | 'version' | 'log' | 'dev'
>;

const HOST_KEY = 'webui.allowed_hosts';
const MAX_HOSTS = 100;

/** Receives the users of the dashboard. `bound` is read at every request. */
function dashboardVisitors(parts: Parts, bound: BoundPorts, stories: SharedStories): Visitors {
  const { reception, events, notes, live, version, dev } = parts;
  return createVisitors({
    reception,
    events,
    resident: dev?.resident ?? null,
    version,
    instance: notes.instance,
    trustedProxies: () => cidrs(dev === null ? live.config.webui.trustedProxies : NO_PROXIES),
    idleMs: () => sessionLimits(live.config).idleMs,
    pointers: (host) => pointersFor(host, bound),
    firstSteps: firstSteps(parts),
    stories,
    savedViews: createSavedViews({
      sharing: parts.storage.sharing,
      clock: reception.clock,
      random: reception.random,
      max: () => live.config.webui.maxSavedViews,
    }),
    isClaimed: onceTrue(async () => {
      const users = await reception.accounts.users(reception.clock.wall());
      return users.some(({ passwordHash }) => passwordHash !== null);
    }),
    hasPasskey: (host) => reception.accounts.hasPasskey(host),
    allowHost: (host) => allowHost(host, parts),
  });
}

/** Whether `webui.allowed_hosts` may be extended: file and environment take precedence. */
function hostsAreOpen(live: LiveConfig): boolean {
  const origin = live.loaded.effective.find(({ key }) => key === HOST_KEY)?.origin;
  return origin === 'default' || origin === 'stored';
}

/** The holder of the first set-up link may use any host name (contract §1): from now on that name is ours. */
async function allowHost(host: string, { live, storage, log }: Parts): Promise<boolean> {
  const { allowedHosts } = live.config.webui;
  const isKnown = isOwnHost(host, { ...guardSettings(live), anyHost: false });
  const isNew = !isKnown && hostNames.read(host) !== undefined && allowedHosts.length < MAX_HOSTS;
  if (!isNew || !hostsAreOpen(live)) return false;
  await storage.registry.putSetting(HOST_KEY, JSON.stringify([...allowedHosts, host]));
  await live.reload();
  log.info('sign_in.host_allowed', { host });
  return true;
}

/** By the host name that the user has for us, on plain ports: pasted examples must work. */
function pointersFor(host: string, { api, apiTls, smtp }: BoundPorts): Pointers {
  const [smtpPort] = smtp;
  const plain = api === null ? null : `http://${host}:${api}`;
  return {
    apiUrl: plain ?? (apiTls === null ? null : `https://${host}:${apiTls}`),
    smtp: smtpPort === undefined ? null : { host: host.replace(/^\[(.*)\]$/, '$1'), port: smtpPort },
  };
}

function firstSteps({ notes, storage, live }: Parts): FirstStepsBook {
  const hasKey = onceTrue(async () => (await storage.keyring.list()).length > 0);
  const hasMessage = onceTrue(async () => {
    const query = { owner: 'all', statuses: [], before: null, limit: 1 } as const;
    return (await storage.views.list(query)).messages.length > 0;
  });
  return {
    read: async () => ({
      skipped: await notes.skipped(),
      hasKey: await hasKey(),
      hasMessage: await hasMessage(),
      hasRelay: live.config.relays.some(({ name }) => name !== INBOX),
    }),
    skip: (skipped) => notes.skip(skipped),
  };
}

/** Asks until the answer is yes, which is then final. While the store is too busy to answer, it is no. */
function onceTrue(ask: () => Promise<boolean>): () => Promise<boolean> {
  let known = false;
  return async () => {
    try {
      known ||= await ask();
    } catch (error) {
      if (!(error instanceof StoreError && error.code === 'store_busy')) throw error;
    }
    return known;
  };
}

/** What downloads need. */
interface DownloadParts {
  readonly storage: { readonly views: Pick<Views, 'message'>; readonly spool: Pick<Spool, 'read'> };
  readonly words: { read(id: string): Promise<Pick<WordedMessage, 'words'>> };
  /** The result of a query, as a file. */
  readonly export: Downloads['export'];
  /** The folder of the backups that this installation made. */
  readonly backupDirectory: string;
  /** Records, before the first byte, who took a backup. */
  readonly journal: Pick<Journal, 'record'>;
  readonly clock: Pick<Clock, 'wall'>;
}

/** The downloads of the dashboard. */
export function createDownloads({ storage, words, backupDirectory, ...parts }: DownloadParts): Downloads {
  const { views, spool } = storage;
  return {
    source: async (id) => {
      const detail = isMessageId(id) ? await views.message(id) : null;
      if (detail === null) throw new OperationError('not_found', `There is no message ${id}.`);
      return await openContent(detail.message, spool, 404);
    },
    part: async (id, number) => {
      const file = (await words.read(id)).words.attachments[number];
      if (file === undefined) throw new OperationError('not_found', 'The message has no such file.');
      return { filename: file.filename, bytes: file.content };
    },
    document: async (id, look) => {
      const { words: message } = await words.read(id);
      return { html: documentOf(message, look), policy: policyOf(message, look) };
    },
    export: parts.export,
    backup: async (actor, name) => {
      const body = await openBackup(backupDirectory, name);
      const { kind: actorKind, name: by, sourceAddress } = actor;
      const act = {
        action: 'downloadBackup',
        subject: shortened(name, MAX_SUBJECT),
        before: null,
        after: null,
      };
      await parts.journal.record([{ at: parts.clock.wall(), actorKind, actor: by, sourceAddress, ...act }]);
      return body;
    },
  };
}

/** A name is looked up among the existing files, so that it cannot lead elsewhere. */
async function openBackup(directory: string, name: string): Promise<StreamedBody> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const found = entries.find((entry) => entry.isFile() && entry.name === name && !name.startsWith('.'));
  if (found === undefined) throw new OperationError('not_found', 'There is no such backup.');
  const file = join(directory, found.name);
  const { size } = await stat(file);
  // A file still being written must not exceed the announced length.
  const end = size > 0 ? { end: size - 1 } : {};
  return { sizeBytes: size, chunks: () => createReadStream(file, end) };
}
