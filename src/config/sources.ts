import type { SettingKey } from './schema.ts';

/** The inputs of a configuration, already read. */
export interface Sources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The configuration file; null if there is none. */
  readonly file: { readonly path: string; readonly text: string } | null;
  /** Values set at run time: settings by key with values as JSON, and relays. */
  readonly stored: {
    readonly settings: ReadonlyMap<string, string>;
    readonly relays: readonly OpenedRelay[];
  };
  /** Text of a file that a setting refers to, without its last line end. Throws if it cannot be read. */
  readonly readSecret: (path: string) => string;
}

/** A stored relay with its secret decrypted. */
export interface OpenedRelay {
  readonly name: string;
  /** JSON of the definition, without its password. */
  readonly definition: string;
  readonly disabled: boolean;
  readonly password: string | null;
  /** A password is stored, but the present key does not open it. */
  readonly unreadable: boolean;
}

/** The source of a value. A later one in this order overrides an earlier one. */
export type Origin = 'default' | 'stored' | 'file' | 'environment';

/** One setting's value in force. */
export interface Effective {
  readonly key: SettingKey;
  readonly value: unknown;
  readonly origin: Origin;
  /** The origin with its place, such as `file /etc/waybill.yaml`. */
  readonly source: string;
}
