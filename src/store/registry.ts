/** Relays and settings that were made at run time, as opposed to those of the file and the environment. */
export interface Registry {
  /** Every stored relay, by name. */
  relays(): Promise<StoredRelay[]>;
  /** Adds or replaces. */
  putRelay(relay: StoredRelay): Promise<void>;
  /** False: no such relay. Refuses nothing else: whether mail still waits for it, the caller checks. */
  removeRelay(name: string): Promise<boolean>;
  /** Settings by key, values as JSON. */
  settings(): Promise<Map<string, string>>;
  /** Sets (a JSON text) or removes (null). */
  putSetting(key: string, value: string | null): Promise<void>;
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
