import { serverName } from '../config/server-name.ts';
import type { EngineSettings } from '../engine/settings.ts';
import { type InForce, tableOf } from './route-tables.ts';

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
