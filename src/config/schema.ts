import type { SendingDomain } from '../domain/domain-keys.ts';
import type { Relay } from '../domain/relay.ts';
import type { RouteRule } from '../domain/route.ts';
import type { TokenKeys } from '../lib/recipient-token.ts';
import type { HookTokens } from './hook-tokens.ts';
import { SETTINGS } from './settings.ts';

type Table = typeof SETTINGS;

/** The key of a setting: its section and its name, such as `api.port`; between them it may have a group. */
export type SettingKey = keyof Table;

/** The name in code of `max_connections`: `maxConnections`. */
export type Camel<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : S;
type HeadOf<K extends string> = K extends `${infer Head}.${string}` ? Head : K;
type RestOf<K extends string, Head extends string> = K extends `${Head}.${infer Rest}` ? Rest : never;
/** The settings whose keys begin with `Prefix` and go on as `K`, as objects within objects. */
type Values<Prefix extends string, K extends string> = {
  readonly [Head in HeadOf<K> as Camel<Head>]: `${Prefix}${Head}` extends SettingKey
    ? Table[`${Prefix}${Head}`]['fallback']
    : Values<`${Prefix}${Head}.`, RestOf<K, Head>>;
};

/**
 * The configuration in force. `api.rate_limit_per_key` is `api.rateLimitPerKey` here; units are those in the key's
 * name.
 */
export interface Config extends Values<'', SettingKey> {
  /** Every relay: the built-in inbox first, then those of the file, then stored ones. */
  readonly relays: readonly Relay[];
  /** The routing rules: the file's, otherwise the stored ones. */
  readonly routes: readonly RouteRule[];
  /** Where the rules can be changed. */
  readonly routesOrigin: 'file' | 'stored';
  /** Relays whose stored password cannot be read with the present key. */
  readonly unreadableRelays: readonly string[];
  /** Every sending domain, by name, with its keys decrypted. */
  readonly domains: readonly SendingDomain[];
  /** Domains with a key that the present secret key cannot open: that key signs nothing. */
  readonly unreadableDomains: readonly string[];
  /** The tokens of every relay whose provider has webhooks. */
  readonly hookTokens: readonly HookTokens[];
  /** Keys of the tokens in return paths and links to unsubscribe; null if `secret.key` cannot be read. */
  readonly tokenKeys: TokenKeys | null;
}

/** Whether `key` names a setting. */
export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(SETTINGS, key);
}

/** Every setting's key, in the table's order. */
export const SETTING_KEYS: readonly SettingKey[] = Object.keys(SETTINGS).filter(isSettingKey);

/** `max_connections` → `maxConnections`. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}
