import type { Loaded } from '../config/load.ts';
import { localPostmaster, serverName } from '../config/server-name.ts';
import type { EngineSettings } from '../engine/settings.ts';

const SECOND_MS = 1000;
const HOUR_MS = 3600 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;
/** Of the bytes in flight, the share that may be messages waiting in memory for their delivery to begin. */
const SHORT_WAY_SHARE = 0.25;

/** What the engine is told of the configuration, and of what operators hold back. */
export function engineSettings({ config, holds }: Pick<Loaded, 'config' | 'holds'>): EngineSettings {
  const { delivery, retention, health, limits } = config;
  return {
    // The table of routes is still the default relay and what is built in, so there is only one version of it.
    routing: {
      version: 1,
      rules: [],
      defaultRelay: delivery.defaultRelay,
      postmaster: config.server.postmaster === null ? localPostmaster(config) : null,
    },
    retry: {
      firstMs: delivery.retryFirstSeconds * SECOND_MS,
      maxMs: delivery.retryMaxSeconds * SECOND_MS,
      maxAgeMs: delivery.maxAgeHours * HOUR_MS,
      ambiguous: delivery.ambiguous,
    },
    reports: {
      hostname: serverName(config),
      relay: null,
      delayAfterMs: 4 * HOUR_MS,
      perHour: 20,
    },
    holds,
    retention: {
      contentAgeMs: retention.contentDays * DAY_MS,
      contentMaxBytes: retention.contentMaxBytes,
      capturedAgeMs: retention.capturedDays * DAY_MS,
      capturedMaxBytes: retention.capturedMaxBytes,
      recordAgeMs: retention.recordsDays * DAY_MS,
    },
    queue: { maxBytes: limits.maxQueuedBytes, maxMessagesPerKey: limits.maxQueuedPerKey },
    diskCriticalBytes: health.diskCriticalBytes,
    shortWayBytes: limits.maxBytesInFlight * SHORT_WAY_SHARE,
  };
}
