import type { SessionLimits } from '../accounts/sessions.ts';
import { type Fault, formatFault } from '../config/fault.ts';
import type { Loaded, StoredRows } from '../config/load.ts';
import { localPostmaster, serverName } from '../config/names.ts';
import { type RuleDefinition, ruleDefinition } from '../config/routes.ts';
import type { Config } from '../config/schema.ts';
import type { RoutingTable } from '../domain/route.ts';
import type { EngineSettings } from '../engine/contract.ts';
import { OperationError } from '../operations/call.ts';
import type { Registry } from '../store/registry.ts';

const SECOND_MS = 1000;
const HOUR_MS = 3600 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;
/** Of the bytes in flight, the share that may be messages waiting in memory for their delivery to begin. */
const SHORT_WAY_SHARE = 0.25;

/** Tells the engine what is in force. It asks for every message: what it is told is made anew only when that is another. */
export function engineSettingsOf(inForce: () => InForce): () => EngineSettings {
  let last: { readonly of: InForce; readonly settings: EngineSettings } | null = null;
  return () => {
    const of = inForce();
    if (last?.of !== of) last = { of, settings: engineSettings(of) };
    return last.settings;
  };
}

/** What the engine is told of the configuration, and of what operators hold back. */
export function engineSettings({ config, holds, routesVersion }: InForce): EngineSettings {
  const { delivery, retention, health, limits } = config;
  return {
    routing: tableOf(config, routesVersion),
    retry: {
      firstMs: delivery.retryFirstSeconds * SECOND_MS,
      maxMs: delivery.retryMaxSeconds * SECOND_MS,
      maxAgeMs: delivery.maxAgeHours * HOUR_MS,
      ambiguous: delivery.ambiguous,
    },
    reports: {
      hostname: serverName(config),
      relay: delivery.reportRelay,
      delayAfterMs: delivery.reportDelayHours * HOUR_MS,
      perHour: delivery.reportsPerHour,
    },
    holds,
    retention: {
      contentAgeMs: retention.contentDays * DAY_MS,
      contentMaxBytes: retention.contentMaxBytes,
      capturedAgeMs: retention.capturedDays * DAY_MS,
      capturedMaxBytes: retention.capturedMaxBytes,
      recordAgeMs: retention.recordsDays * DAY_MS,
    },
    compactBelowPercent: retention.compactBelowPercent,
    queue: { maxBytes: limits.maxQueuedBytes, maxMessagesPerKey: limits.maxQueuedPerKey },
    diskCriticalBytes: health.diskCriticalBytes,
    shortWayBytes: limits.maxBytesInFlight * SHORT_WAY_SHARE,
  };
}

/** Routing tables as they are published: numbered, and kept, so that it can be told what decided. */

/** A configuration in force, with the version of the routing table that it comes to. */
export interface InForce extends Loaded {
  readonly routesVersion: number;
}

/** What is kept of a published table. */
export interface TableDefinition {
  readonly rules: readonly RuleDefinition[];
  readonly defaultRelay: string;
  readonly postmaster: string | null;
}

/** Of mail that was routed before there were published tables, and of a configuration that cannot be published. */
const UNPUBLISHED = 1;

/**
 * Publishes the table a configuration comes to, if it is not the newest one already, and gives the version. What is
 * faulty is not published: it is not in force.
 */
export async function publishTable(
  { config, faults }: Loaded,
  registry: Pick<Registry, 'publishRoutes' | 'routeTables'>,
  now: number,
): Promise<number> {
  if (faults.length > 0) return (await registry.routeTables(1))[0]?.version ?? UNPUBLISHED;
  const definition = JSON.stringify(tableDefinition(config));
  return await registry.publishRoutes({ publishedAt: now, origin: config.routesOrigin, definition });
}

/** The table a configuration comes to. */
export function tableOf(config: Config, version: number): RoutingTable {
  return {
    version,
    rules: config.routes,
    defaultRelay: config.delivery.defaultRelay,
    postmaster: config.server.postmaster === null ? localPostmaster(config) : null,
  };
}

/** The same as it is kept and shown. */
function tableDefinition(config: Config): TableDefinition {
  const { rules, defaultRelay, postmaster } = tableOf(config, UNPUBLISHED);
  return { rules: rules.map(ruleDefinition), defaultRelay, postmaster };
}

const MINUTE_MS = 60_000;

/** How sessions are limited, as it is configured now. */
export function sessionLimits({ webui }: Config): SessionLimits {
  return {
    idleMs: webui.sessionTimeoutMinutes * MINUTE_MS,
    maxMs: webui.sessionMaxHours * 60 * MINUTE_MS,
    perUser: webui.maxSessionsPerUser,
  };
}

/** What the store keeps of the configuration. Loaded at every start, so apart from what opens an installation without one. */
export async function storedRows(registry: Registry): Promise<StoredRows> {
  const [settings, relays, holds, domains] = await Promise.all([
    registry.settings(),
    registry.relays(),
    registry.holds(),
    registry.domains(),
  ]);
  return { settings, relays, holds, domains };
}

/** Loads the configuration anew and puts it into force; what is faulty in it is given, and leaves the last good one. */
type Reloading = { readonly reload: () => Promise<readonly Fault[]> };

/** Throws `refused` while the configuration is faulty: what is stored then would not come into force. */
export async function requireGoodSources({ reload }: Reloading): Promise<void> {
  const faults = await reload();
  if (faults.length === 0) return;
  const lines = faults.map(formatFault).join('\n');
  throw new OperationError(
    'refused',
    `Nothing was changed, because the configuration is faulty. Correct it first:\n${lines}`,
  );
}

/**
 * Stores a change and puts it into force. What cannot come into force is taken back, since it would keep the server from
 * its next start; throws `refused` then.
 */
export async function putIntoForce(
  { reload }: Reloading,
  store: () => Promise<unknown>,
  takeBack: () => Promise<unknown>,
): Promise<void> {
  await store();
  const faults = await reload();
  if (faults.length === 0) return;
  await takeBack();
  await reload();
  const lines = faults.map(formatFault).join('\n');
  throw new OperationError('refused', `Nothing was changed: the configuration would be faulty.\n${lines}`);
}
