import type { HoldKind } from '../domain/lane.ts';
import type { RoutingTable } from '../domain/route.ts';
import type { SettlePolicy } from '../domain/settle.ts';
import type { PurgePolicy } from '../store/upkeep.ts';

/** What the engine is told by configuration; read anew each time, so that keys can apply live. */
export interface EngineSettings {
  readonly routing: RoutingTable;
  readonly retry: SettlePolicy;
  /** Lanes and relays that an operator holds back. */
  readonly holds: ReadonlyMap<string, HoldKind>;
  readonly reports: ReportSettings;
  readonly retention: PurgePolicy;
  /** A segment of which less is referred to is emptied, in percent of its bytes; 0 for never. */
  readonly compactBelowPercent: number;
  readonly queue: {
    /** Bytes of messages that are not final, over all keys; null for half of the disk that is free at the start. */
    readonly maxBytes: number | null;
    /** Messages of one key that are not final. */
    readonly maxMessagesPerKey: number;
  };
  /** Free disk below which intake is suspended, in bytes. */
  readonly diskCriticalBytes: number;
  /** How many bytes of contents may wait in memory for the short way. */
  readonly shortWayBytes: number;
}

/** How delivery status notifications are written and sent (contract §11). */
export interface ReportSettings {
  /** The server's name: Reporting-MTA, and the domain of the From address. */
  readonly hostname: string;
  /** The relay they go by; null: what routing chooses. */
  readonly relay: string | null;
  /** Age at which a sender who asked to be told of delays is told. */
  readonly delayAfterMs: number;
  /** Most reports to one address in an hour. */
  readonly perHour: number;
}

/** How long a lane lease lasts, and how often it is renewed, in ms (design §5). */
export const LANE_LEASE_MS = 45_000;
/** See {@link LANE_LEASE_MS}. */
export const LANE_RENEW_MS = 15_000;
/** We stop trusting a lease this long before its end, so that clocks may differ a little. */
const LANE_MARGIN_MS = 5_000;
/** So long after it was granted or extended a lease is trusted, in ms. */
export const TRUST_MS = LANE_LEASE_MS - LANE_MARGIN_MS;
