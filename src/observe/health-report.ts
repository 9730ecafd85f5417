import type { BreakerState, DiskStatus, HealthCheck, HealthStatus } from '../domain/health.ts';
import { relayOfLane } from '../domain/lane.ts';
import type { SpentRelay } from '../domain/quota.ts';
import type { LaneDepth } from '../store/views.ts';

/** A relay as health shows it. */
export interface RelayStatus {
  readonly name: string;
  readonly state: BreakerState;
  /** The next hop's refusal of us, in short: `auth_failed 535 5.7.8`; null if there is none. */
  readonly refusal: string | null;
  /** Attempts under way. */
  readonly inflight: number;
  /** Nothing is sent by it, because an operator disabled it or its password cannot be read. */
  readonly disabled: boolean;
  /** Today's allowance (UTC) and use, as far as this node knows; null without a limit. */
  readonly quota: RelayQuota | null;
}

/** A node as the others see it. */
export interface NodeStatus {
  /** New at every start. */
  readonly id: string;
  /** The operators' name for it. */
  readonly name: string;
  readonly roles: readonly string[];
  /** Version of the program. */
  readonly version: string;
  /** Wall ms. */
  readonly lastSeenAt: number;
  /** It was silent for longer than a working node would be. */
  readonly missing: boolean;
}

/** The body of `GET /health` (contract §7). */
export interface HealthReport {
  readonly status: HealthStatus;
  readonly message: string;
  readonly version: string;
  readonly startedAt: string;
  readonly uptimeSeconds: number;
  readonly time: string;
  readonly database: {
    readonly reachable: boolean;
    readonly engine: string;
    readonly sizeBytes: number;
    readonly latencyMs: number;
  };
  readonly disk: {
    readonly freeBytes: number | null;
    readonly totalBytes: number | null;
    readonly status: DiskStatus;
  };
  readonly spool: {
    readonly incoming: number;
    readonly processing: number;
    readonly failed: number;
    readonly oldestSeconds: number;
  };
  /** What of the contents of mail is encrypted at rest; null while that is unknown. */
  readonly encryption: {
    /** Whether new contents are. */
    readonly contents: boolean;
    /** Names the key; reveals nothing of it. Null: nothing is encrypted. */
    readonly key: string | null;
    readonly segments: number;
    readonly encryptedSegments: number;
  } | null;
  readonly smtp: {
    readonly listening: boolean;
    readonly configuredPorts: readonly number[];
    readonly listeningPorts: readonly number[];
    /** The same as `configuredPorts`, under its old name. */
    readonly ports: readonly number[];
    readonly configuredTlsPorts: readonly number[];
    readonly listeningTlsPorts: readonly number[];
  };
  readonly api: {
    readonly listening: boolean;
    readonly port: number | null;
    readonly tlsPort: number | null;
  };
  readonly relays: readonly Omit<RelayStatus, 'quota' | 'refusal'>[];
  readonly nodes: readonly {
    readonly id: string;
    readonly name: string;
    readonly roles: readonly string[];
    readonly version: string;
    readonly lastSeenAt: string;
  }[];
  readonly checks: readonly HealthCheck[];
}

/** A relay's allowance for today (UTC) and its use, as far as this node knows. */
export interface RelayQuota {
  readonly allowance: number;
  readonly used: number;
  /** The allowance is a step of its warm-up. */
  readonly warming: boolean;
  /** The day on which its warm-up begins, such as `2026-12-01`; null once begun, or without one. */
  readonly begins: string | null;
  /** Mail that is not of high priority gets no more today. */
  readonly spent: boolean;
}

interface Status {
  readonly name: string;
  readonly quota: RelayQuota | null;
}

/** The relays that are spent, with the mail waiting for each in these lanes at `now` (wall ms). */
export function spentRelays(
  relays: readonly Status[],
  lanes: readonly LaneDepth[],
  now: number,
): readonly SpentRelay[] {
  return relays.flatMap(({ name, quota }) => {
    if (quota === null || !quota.spent) return [];
    const own = lanes.filter(({ lane }) => relayOfLane(lane) === name);
    const waiting = own.reduce((sum, lane) => sum + lane.waiting, 0);
    const oldest = oldestOf(own);
    const latenessMs = oldest === null ? 0 : Math.max(0, now - oldest);
    return [{ relay: name, ...quota, waiting, latenessMs }];
  });
}

/**
 * When the longest waiting delivery that does not wait for a spent relay came due (wall ms); null if there is none. If
 * the lanes are unknown (null), that of all deliveries.
 */
export function dueBesides(
  oldestDueAt: number | null,
  relays: readonly Status[],
  lanes: readonly LaneDepth[] | null,
): number | null {
  const spent = new Set(relays.flatMap(({ name, quota }) => (quota?.spent === true ? [name] : [])));
  if (oldestDueAt === null || spent.size === 0 || lanes === null) return oldestDueAt;
  return oldestOf(lanes.filter(({ lane }) => !spent.has(relayOfLane(lane))));
}

function oldestOf(lanes: readonly LaneDepth[]): number | null {
  const dues = lanes.flatMap(({ oldestDueAt }) => (oldestDueAt === null ? [] : [oldestDueAt]));
  return dues.reduce<number | null>((first, due) => (first === null || due < first ? due : first), null);
}
