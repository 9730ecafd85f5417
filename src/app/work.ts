import { hostname } from 'node:os';
import { returnPathsOf } from '../config/bounces.ts';
import { rolesOf } from '../config/roles.ts';
import type { Config } from '../config/schema.ts';
import { signingSecrets } from '../config/webhook-secrets.ts';
import { engineSettingsOf } from '../control/in-force.ts';
import { type BoundSmtp, createMailDns } from '../control/mail-dns.ts';
import { queueOfAll } from '../control/nodes/figures.ts';
import { type NodeReport, writeReport } from '../control/nodes/report.ts';
import { createNodesSight, type NodesSight, type OwnNode } from '../control/nodes/sight.ts';
import { mayBePrivate } from '../control/webhook-view.ts';
import type { TopicCounts } from '../dashboard/hints.ts';
import type { QueueFigures } from '../engine/contract.ts';
import { createEngine, type Engine } from '../engine/engine.ts';
import { Budget } from '../lib/budget.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { Events } from '../observe/events.ts';
import type { DeniedSources, RelayHistory } from '../observe/remembered.ts';
import { createSigningKeys } from '../signing/keys.ts';
import { MailSigner } from '../signing/signer.ts';
import type { NodeBeat } from '../store/cluster.ts';
import { PROVIDER_MEMORY } from '../transport/providers/limits.ts';
import { createWebhookPost } from '../transport/providers/webhook-post.ts';
import { capturing } from './dev.ts';
import { fileWebhooks } from './file-webhooks.ts';
import type { LiveConfig } from './live-config.ts';
import { applyRelays, relayStates, type TransportParts } from './relays.ts';
import type { Storage } from './storage.ts';
import { createTlsReporting, type TlsReporting } from './tls-reporting.ts';

/** What the work with mail needs. */
interface WorkParts extends OwnKnowledge {
  readonly storage: Storage;
  readonly live: LiveConfig;
  readonly events: Events;
  readonly random: Random;
  readonly log: Log;
  readonly version: string;
  /** This process's id, new at every start. */
  readonly node: string;
  readonly bound: () => BoundSmtp;
  /** What it reports of its health. */
  readonly condition: () => Pick<NodeReport, 'checks' | 'certificateEndsAt'>;
  /** Everything is captured, whatever the routes say. */
  readonly capturesAll: boolean;
}

/** Before anything is known. */
export const NO_CONDITION: Pick<NodeReport, 'checks' | 'certificateEndsAt'> = {
  checks: [],
  certificateEndsAt: null,
};

/** The engine with its transports, and the other nodes. */
export interface Work {
  readonly engine: Engine;
  /** This node, as reported to the others. */
  readonly self: OwnNode;
  readonly transports: TransportParts;
  /** Not started yet. */
  readonly nodes: NodesSight;
  /** The figures of active lanes, on any node. */
  readonly queue: QueueFigures;
  /** Does not run yet. */
  readonly tlsReporting: TlsReporting;
}

/** Makes the engine with the configured relays; it does not run yet. */
export function createWork(parts: WorkParts): Work {
  const { storage, live, events, clock, random, log, node, version, bound, capturesAll } = parts;
  const keysOf = createSigningKeys();
  const signer = new MailSigner({ keys: () => keysOf(live.config.domains), clock, log });
  const self = ownNode(node, live.config, version, clock.wall());
  const nodes = createNodesSight(storage.cluster, self, clock);
  const settings = engineSettingsOf(() => live.loaded);
  const engine: Engine = createEngine({
    ...storage,
    clock,
    random,
    events,
    signer,
    node,
    settings: capturesAll ? capturing(settings) : settings,
    returnPath: returnPathsOf(() => live.config),
    postWebhook: createWebhookPost({
      clock,
      version,
      secretsOf: ({ endpoint: { id }, secrets }) =>
        signingSecrets(secrets, id, live.loaded.vault, clock.wall()),
      mayBePrivate: (endpoint) => mayBePrivate(endpoint, { resolution: () => live.loaded }),
      dnsServers: () => live.config.dns.servers,
    }),
    fileWebhooks: fileWebhooks({
      ...storage,
      inForce: () => ({ ...live.config.webhooks, vault: live.loaded.vault }),
      clock,
      log,
    }),
    self: { ...self, report: () => ownReport(engine, parts, parts.condition()) },
  });
  const dns = createMailDns(() => live.config, bound, clock, random);
  const tlsReporting = createTlsReporting({ storage, live, engine, dns, clock, log, version, capturesAll });
  const transports: TransportParts = {
    clock,
    random,
    log,
    dns,
    watch: tlsReporting.watch,
    resign: (original, converted) => signer.resign(original, converted),
    memory: new Budget(PROVIDER_MEMORY),
  };
  applyRelays(engine.relays, live.config, transports);
  const queue = queueOfAll(engine.queue, () => nodes.reports());
  return { engine, self, transports, nodes, queue, tlsReporting };
}

/** A name for this process in leases and counters, new at every start. */
export function nodeId(name: string | null, random: Random): string {
  const suffix = Buffer.from(random.fill(new Uint8Array(4))).toString('hex');
  return `${name ?? hostname()}-${process.pid}-${suffix}`;
}

/** This node's report at its start (`startedAt`: wall ms). */
function ownNode(
  id: string,
  config: Pick<Config, 'node' | 'listener'>,
  version: string,
  startedAt: number,
): Omit<NodeBeat, 'sharesWith' | 'report' | 'lanes'> {
  return { id, name: config.node.name ?? hostname(), roles: rolesOf(config), version, startedAt };
}

/** What this process knows in memory and reports to others. */
interface OwnKnowledge {
  readonly denied: DeniedSources;
  readonly history: RelayHistory;
  readonly topics: TopicCounts;
  readonly clock: Clock;
}

/** The report with every beat. */
function ownReport(
  { relays, queue }: Engine,
  known: OwnKnowledge,
  condition: Pick<NodeReport, 'checks' | 'certificateEndsAt'>,
): string {
  const { denied, history, topics, clock } = known;
  return writeReport({
    relays: relayStates(relays, clock),
    lanes: queue.lanes(),
    denied: denied.list(),
    happenings: history.newest(),
    news: topics.counts(),
    ...condition,
  });
}
