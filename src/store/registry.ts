import type { HoldKind } from '../domain/lane.ts';

/** Relays and settings made at run time, as opposed to those of the file and the environment. */
export interface Registry {
  /** Every stored relay, by name. */
  relays(): Promise<StoredRelay[]>;
  /** Adds or replaces, and sets or removes `settings` as {@link putSettings} does, in one transaction. */
  putRelay(relay: StoredRelay, settings?: SettingChanges): Promise<void>;
  /**
   * False: no such relay. Removes the holds on it and its lanes, so that a new relay of its name begins free. The
   * caller checks whether mail still waits for it. Sets or removes `settings` in the same transaction.
   */
  removeRelay(name: string, settings?: SettingChanges): Promise<boolean>;
  /** Settings by key, values as JSON. */
  settings(): Promise<Map<string, string>>;
  /** Sets a value (JSON text) or removes it (null). */
  putSetting(key: string, value: string | null): Promise<void>;
  /** The same for several, in one transaction. */
  putSettings(values: SettingChanges): Promise<void>;
  /** Every sending domain, by name. */
  domains(): Promise<StoredDomain[]>;
  /** Adds or replaces. */
  putDomain(domain: StoredDomain): Promise<void>;
  /** False: no such domain. */
  removeDomain(name: string): Promise<boolean>;
  /** Lanes and relays that an operator holds back, by target. */
  holds(): Promise<StoredHold[]>;
  /** Places a hold on a target, replacing any earlier one, or (null) lifts it. */
  putHold(target: string, hold: Omit<StoredHold, 'target'> | null): Promise<void>;
  /**
   * Changes with every change of relays, settings, domains or holds, on any node: nodes notice each other's changes by
   * it. Constant if only one process uses the store.
   */
  revision(): Promise<number>;
  /**
   * Publishes a routing table. Returns its version: the newest one's if the table is the same, else one more. The first
   * is 2: mail of version 1 was routed before there were tables.
   */
  publishRoutes(table: Omit<StoredRoutes, 'version'>): Promise<number>;
  /** The last published tables, newest first; at most `limit`. */
  routeTables(limit: number): Promise<StoredRoutes[]>;
}

/** Settings by key: JSON text to set, or null to remove. */
export type SettingChanges = ReadonlyMap<string, string | null>;

/** Prefix of keys that are no settings: notes that the program keeps for itself. */
export const NOTE_PREFIX = 'note.';

/** How many published tables are kept. */
export const MAX_ROUTE_TABLES = 100;

/** The version before the first published one. */
export const UNPUBLISHED = 1;

/** An operator's hold on a lane, or on a relay with all its lanes. */
export interface StoredHold {
  /** A lane's name, or a relay's. */
  readonly target: string;
  readonly kind: HoldKind;
  /** Wall ms. */
  readonly since: number;
}

/** A published routing table. */
export interface StoredRoutes {
  readonly version: number;
  /** Wall ms. */
  readonly publishedAt: number;
  /** Where its rules came from. */
  readonly origin: 'file' | 'stored';
  /** JSON: the rules as in the configuration file, the default relay, the postmaster's address. */
  readonly definition: string;
}

/** A relay as stored: its definition as in the configuration file, its secret sealed. */
export interface StoredRelay {
  readonly name: string;
  /** JSON of the definition, without secrets. */
  readonly definition: string;
  /** The sealed secret; null for none. */
  readonly secret: string | null;
  readonly disabled: boolean;
}

/** A sending domain as stored, its private keys sealed. */
export interface StoredDomain {
  /** In lower case, A-labels. */
  readonly name: string;
  /** JSON: its keys without their secrets, and when it was added. */
  readonly definition: string;
  /** JSON: sealed private keys by selector. */
  readonly secrets: string;
}
