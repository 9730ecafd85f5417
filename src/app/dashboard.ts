import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHintFeed } from '../dashboard/hints.ts';
import { createDashboard, type Dashboard } from '../dashboard/server.ts';
import type { Certificate } from '../tls/certificate.ts';
import { dashboardVisitors, hostsAreOpen } from './dashboard-visitors.ts';
import { createDownloads } from './downloads.ts';
import { createExport } from './exports.ts';
import { guardSettings } from './guard-settings.ts';
import type { ListenerParts } from './listener-parts.ts';
import { tellNewsOfOthers } from './news-of-others.ts';
import type { Observation } from './observation.ts';
import type { BoundPorts } from './ports.ts';

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
  const feed = createHintFeed({ events, clock, random });
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
