import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ExportDeps, exportMessages } from '../control/export.ts';
import { MAX_SUBJECT, shortened } from '../control/kept.ts';
import type { NodesSight } from '../control/nodes/sight.ts';
import type { Topic } from '../dashboard/contract.ts';
import type { Downloads } from '../dashboard/downloads.ts';
import { HintFeed, isTopic } from '../dashboard/hints.ts';
import { createDashboard, type Dashboard } from '../dashboard/server.ts';
import type { Clock } from '../lib/clock.ts';
import type { Certificate } from '../tls/certificate.ts';
import { dashboardVisitors, hostsAreOpen } from './dashboard-visitors.ts';
import { createDownloads } from './downloads.ts';
import { guardSettings } from './guard-settings.ts';
import type { ListenerParts } from './listener-parts.ts';
import type { LiveConfig } from './live-config.ts';
import type { Observation } from './observation.ts';
import type { BoundPorts } from './ports.ts';
import type { Storage } from './storage.ts';

/** Where `npm run web` puts the page: `dist/web`, seen from the source and from what it is compiled to. */
const SITE = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../dist/web' : '../web', import.meta.url),
);

/** Makes the server of the dashboard's port. */
export function dashboard(
  parts: ListenerParts,
  port: number,
  certificate: Certificate,
  { health, metrics }: Observation,
  bound: BoundPorts,
): Dashboard {
  const { live, clock, random, log, events, ready, door, words, storage, dataDir } = parts;
  const feed = new HintFeed({ events, clock, random });
  void tellNewsOfOthers({ nodes: parts.nodes, feed, clock, signal: parts.signal });
  const downloads = createDownloads({
    ...{ storage, words, backupDirectory: join(dataDir, 'backups') },
    export: createExport(parts),
    ...{ journal: storage.journal, clock },
  });
  const server = createDashboard({
    ...{ port, certificate, health, metrics, clock, random, log, events, ready, door, feed, downloads },
    visitors: dashboardVisitors(parts, bound),
    siteDirectory: SITE,
    maxMessageBytes: () => live.config.api.maxMessageBytes,
    maxEventStreams: () => live.config.webui.maxEventStreams,
    hosts: live.config.webui.bind,
    settings: () => ({
      ...guardSettings(live),
      anyHost: parts.reception.isLinkOut() && hostsAreOpen(live),
    }),
  });
  return {
    listen: server.listen,
    close: async (signal) => {
      feed.stop();
      await server.close(signal);
    },
  };
}

/** What exporting takes. */
interface ExportParts extends Pick<ExportDeps, 'queue' | 'clock'> {
  readonly storage: Pick<Storage, 'views' | 'keyring' | 'journal'>;
  readonly live: Pick<LiveConfig, 'loaded'>;
}

/** Exports what a query finds. It is written down before anything is read: what was begun has left. */
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

/** What it takes. */
interface NewsOptions {
  readonly nodes: Pick<NodesSight, 'nodes' | 'reports'>;
  readonly feed: Pick<HintFeed, 'note'>;
  readonly clock: Clock;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** How often it is looked, in ms: what others tell comes every two seconds. */
const LOOK_MS = 1_000;

/** Has the dashboard's pages told what happens on other nodes, until the signal aborts. Never rejects. */
export async function tellNewsOfOthers({ nodes, feed, clock, signal }: NewsOptions): Promise<void> {
  let heard = countsOf(nodes);
  let seen = membersOf(nodes);
  while (!signal.aborted) {
    await clock.sleep(LOOK_MS, signal);
    const now = countsOf(nodes);
    const members = membersOf(nodes);
    feed.note([...changedTopics(heard, now), ...(members === seen ? [] : (['health'] as const))]);
    // Of a node that is silent for a while, what it told last is what it is compared with again.
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

/** Of a node that is seen for the first time everything that it has done is news. */
function changedTopics(before: ReadonlyMap<string, Counts>, now: ReadonlyMap<string, Counts>): Topic[] {
  const changed = new Set<Topic>();
  for (const [node, counts] of now)
    for (const [topic, count] of Object.entries(counts))
      if (isTopic(topic) && count !== before.get(node)?.[topic]) changed.add(topic);
  return [...changed];
}
