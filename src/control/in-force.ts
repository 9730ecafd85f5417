import type { SessionLimits } from '../accounts/sessions.ts';
import { type Fault, formatFault } from '../config/fault.ts';
import type { Loaded, StoredRows } from '../config/load.ts';
import { localPostmaster, serverName } from '../config/names.ts';
import { type RuleDefinition, ruleDefinition } from '../config/routes.ts';
import type { Config } from '../config/schema.ts';
import type { RoutingTable } from '../domain/route.ts';
import type { SuppressionRules } from '../domain/suppression.ts';
import type { EngineSettings } from '../engine/contract.ts';
import type { OidcSettings } from '../oidc/provider.ts';
import { OperationError } from '../operations/call.ts';
import type { Registry } from '../store/registry.ts';

const SECOND_MS = 1000;
const HOUR_MS = 3600 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;
/** The share of the bytes in flight for messages that wait in memory for their delivery to begin. */
const SHORT_WAY_SHARE = 0.25;

/** The engine's settings from what is in force, rebuilt only after a change: the engine asks for every message. */
export function engineSettingsOf(inForce: () => InForce): () => EngineSettings {
  let last: { readonly of: InForce; readonly settings: EngineSettings } | null = null;
  return () => {
    const of = inForce();
    if (last?.of !== of) last = { of, settings: engineSettings(of) };
    return last.settings;
  };
}

/** Which DMARC reports are taken in, and for how many days they are kept. */
export function dmarcTerms(inForce: () => Pick<InForce, 'config'>) {
  return {
    domains: () => inForce().config.domains.map(({ name }) => name),
    days: () => inForce().config.retention.reportsDays,
  };
}

/** The engine's settings from the configuration and the operators' holds. */
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
      eventAgeMs: retention.eventsDays * DAY_MS,
      feedbackAgeMs: retention.feedbackDays * DAY_MS,
      maxUnsubscribeLinks: limits.maxUnsubscribeLinks,
    },
    suppressions: suppressionRules(config),
    tokenAgeMs: config.bounces.maxAgeDays * DAY_MS,
    compactBelowPercent: retention.compactBelowPercent,
    queue: { maxBytes: limits.maxQueuedBytes, maxMessagesPerKey: limits.maxQueuedPerKey },
    diskCriticalBytes: health.diskCriticalBytes,
    shortWayBytes: limits.maxBytesInFlight * SHORT_WAY_SHARE,
  };
}

/** What governs the suppression list. */
export function suppressionRules({
  suppressions,
  limits,
}: Pick<Config, 'suppressions' | 'limits'>): SuppressionRules {
  const { hardBounce, complaint, unsubscribe } = suppressions.scope;
  return {
    scope: { hard_bounce: hardBounce, complaint, unsubscribe },
    days: suppressions.expireDays,
    softBounces: suppressions.softBounces,
    maxEntries: limits.maxSuppressions,
  };
}

// Published routing tables: numbered and kept, so that past decisions can be explained.

/** A configuration in force, with the version of its routing table. */
export interface InForce extends Loaded {
  readonly routesVersion: number;
}

/** The stored form of a published table. */
export interface TableDefinition {
  readonly rules: readonly RuleDefinition[];
  readonly defaultRelay: string;
  readonly postmaster: string | null;
}

/** The version for mail routed before there were published tables, and for a configuration that cannot be published. */
const UNPUBLISHED = 1;

/**
 * Publishes a configuration's table unless it equals the newest one, and returns the version. A faulty configuration is
 * not published: it is not in force.
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

/** A configuration's routing table. */
export function tableOf(config: Config, version: number): RoutingTable {
  return {
    version,
    rules: config.routes,
    defaultRelay: config.delivery.defaultRelay,
    postmaster: config.server.postmaster === null ? localPostmaster(config) : null,
  };
}

/** The same in its stored and displayed form. */
function tableDefinition(config: Config): TableDefinition {
  const { rules, defaultRelay, postmaster } = tableOf(config, UNPUBLISHED);
  return { rules: rules.map(ruleDefinition), defaultRelay, postmaster };
}

const MINUTE_MS = 60_000;

/** The limits on sessions, as configured now. */
export function sessionLimits({ webui }: Config): SessionLimits {
  return {
    idleMs: webui.sessionTimeoutMinutes * MINUTE_MS,
    maxMs: webui.sessionMaxHours * 60 * MINUTE_MS,
    perUser: webui.maxSessionsPerUser,
  };
}

/** The identity provider that users may sign in with, as configured; null: none. */
export function oidcSettings({ signIn: { oidc } }: Pick<Config, 'signIn'>): OidcSettings | null {
  const { issuer, clientId } = oidc;
  if (issuer === null || clientId === null) return null;
  const { clientSecret, name, publicUrl, scopes, caFile, allowHttp } = oidc;
  const { groupsClaim, roles, defaultRole, emailDomains } = oidc;
  return {
    issuer,
    clientId,
    clientSecret,
    name,
    publicUrl,
    scopes,
    caFile,
    allowHttp,
    rules: { groupsClaim, roles, defaultRole, emailDomains },
    sessionMs: oidc.sessionHours * 60 * MINUTE_MS,
  };
}

/** The stored part of the configuration. Separate from opening an installation, because every start loads it. */
export async function storedRows(registry: Registry): Promise<StoredRows> {
  const [settings, relays, holds, domains] = await Promise.all([
    registry.settings(),
    registry.relays(),
    registry.holds(),
    registry.domains(),
  ]);
  return { settings, relays, holds, domains };
}

/** Reloads the configuration. Returns its faults; with any, the last good configuration stays in force. */
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
