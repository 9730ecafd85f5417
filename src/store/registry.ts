import type { HoldKind } from '../domain/lane.ts';

/** Relays and settings that were made at run time, as opposed to those of the file and the environment. */
export interface Registry {
  /** Every stored relay, by name. */
  relays(): Promise<StoredRelay[]>;
  /** Adds or replaces, and sets or removes `settings` as {@link putSettings} does, in one transaction. */
  putRelay(relay: StoredRelay, settings?: SettingChanges): Promise<void>;
  /**
   * False: no such relay. What held it or its lanes back goes with it: another of its name begins free. Refuses nothing
   * else: whether mail still waits for it, the caller checks. Sets or removes `settings` in the same transaction.
   */
  removeRelay(name: string, settings?: SettingChanges): Promise<boolean>;
  /** Settings by key, values as JSON. */
  settings(): Promise<Map<string, string>>;
  /** Sets (a JSON text) or removes (null). */
  putSetting(key: string, value: string | null): Promise<void>;
  /** The same of several, in one transaction. */
  putSettings(values: SettingChanges): Promise<void>;
  /** Every domain that mail is sent from, by name. */
  domains(): Promise<StoredDomain[]>;
  /** Adds or replaces. */
  putDomain(domain: StoredDomain): Promise<void>;
  /** False: no such domain. */
  removeDomain(name: string): Promise<boolean>;
  /** Lanes and relays that an operator holds back, by target. */
  holds(): Promise<StoredHold[]>;
  /** Holds a target back, whether or not it was before, or (null) lets it go. */
  putHold(target: string, hold: Omit<StoredHold, 'target'> | null): Promise<void>;
  /**
   * Another number after every change of relays, settings, domains or holds, whoever made it: what several nodes notice
   * each other's changes by. The same for good where one process alone uses the store.
   */
  revision(): Promise<number>;
  /**
   * Publishes a routing table. Returns its version: the newest one's, when that says the same; else one more than the
   * last. The first is 2: mail of version 1 was routed before there were tables.
   */
  publishRoutes(table: Omit<StoredRoutes, 'version'>): Promise<number>;
  /** The tables published last, newest first; at most `limit`. */
  routeTables(limit: number): Promise<StoredRoutes[]>;
}

/** Settings by key: a JSON text that is set, or null for one that is removed. */
export type SettingChanges = ReadonlyMap<string, string | null>;

/** Begins the keys of what is kept among the settings and is none: notes of the program to itself. */
export const NOTE_PREFIX = 'note.';

/** How many published tables are kept, the newest ones. */
export const MAX_ROUTE_TABLES = 100;

/** The version before the first that is published. */
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
  /** Sealed secret; null when it has none. */
  readonly secret: string | null;
  readonly disabled: boolean;
}

/** A domain that mail is sent from, as stored: its keys' secrets sealed. */
export interface StoredDomain {
  /** In lower case, A-labels. */
  readonly name: string;
  /** JSON: its keys without their secrets, and since when it is known. */
  readonly definition: string;
  /** JSON: sealed private keys by selector. */
  readonly secrets: string;
}
