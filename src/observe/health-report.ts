import type { BreakerState, DiskStatus, HealthCheck, HealthStatus } from '../domain/health.ts';
import type { RelayQuota } from './spent-relays.ts';

/** A relay as health shows it. */
export interface RelayStatus {
  readonly name: string;
  readonly state: BreakerState;
  /** What its next hop says that refuses us, in short: `auth_failed 535 5.7.8`; null where it does not. */
  readonly refusal: string | null;
  /** Attempts under way. */
  readonly inflight: number;
  /** Nothing is sent by it, as an operator wants or because its password cannot be read. */
  readonly disabled: boolean;
  /** What it may be given today (UTC), and has been, as far as this node knows; null without a limit. */
  readonly quota: RelayQuota | null;
}

/** A node as the others see it. */
export interface NodeStatus {
  /** Another at every start. */
  readonly id: string;
  /** What its operators call it. */
  readonly name: string;
  readonly roles: readonly string[];
  /** Of the program. */
  readonly version: string;
  /** Wall ms. */
  readonly lastSeenAt: number;
  /** It has not been heard of for longer than a node that works is silent. */
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
  readonly smtp: {
    readonly listening: boolean;
    readonly configuredPorts: readonly number[];
    readonly listeningPorts: readonly number[];
    /** The same as `configuredPorts`, for those who know it by its old name. */
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
