import type { ApiKey } from '../domain/key.ts';
import type { SigningSecret } from './accounts.ts';
import type { StoredDomain, StoredRelay } from './registry.ts';
import type { SavedTemplate, TemplateBounds } from './templates.ts';
import type { EndpointLimits, StoredEndpoint } from './webhooks.ts';

/** Many changes of the configuration, which are made together or not at all (docs/configuration-as-code.md). */
export interface Configuring {
  /** All that changes are judged by, as it is at one time. */
  configured(): Promise<Configured>;
  /**
   * Makes all changes in one transaction, if all that they were judged by is still as it was, `seen`. Returns what is
   * not: nothing was changed then. Errors are `StoreError`.
   */
  configure(changes: ConfigurationChanges, seen: Configured): Promise<readonly Meanwhile[]>;
}

/** See {@link Configuring.configured}; each list is in a fixed order. */
export interface Configured {
  readonly relays: readonly StoredRelay[];
  /** By key, values as JSON; notes are among them. */
  readonly settings: ReadonlyMap<string, string>;
  readonly domains: readonly StoredDomain[];
  /** Those not revoked; when they were last used, which changes by itself, is left out. */
  readonly keys: readonly ApiKey[];
  /** The access key ids of keys whose clients sign, by the keys' ids. */
  readonly signing: ReadonlyMap<string, string>;
  readonly webhooks: readonly WebhookRow[];
  readonly templates: readonly TemplateState[];
  /** Names of the users who can sign in and administer. */
  readonly administrators: readonly string[];
}

/** Something that others changed meanwhile. */
export interface Meanwhile {
  readonly kind: 'relay' | 'setting' | 'domain' | 'key' | 'webhook' | 'template' | 'administrator';
  /** A webhook's is its URL. */
  readonly name: string;
  readonly how: 'added' | 'changed' | 'removed';
}

/** A row as it is, and as it will be; null: it is not there. One of the two is. */
export type Swap<Before, After = Before> =
  | { readonly before: Before; readonly after: After | null }
  | { readonly before: null; readonly after: After };

/** A key; without one afterwards, it is revoked. */
export type KeySwap =
  | { readonly before: ApiKey; readonly after: ApiKey | null }
  | { readonly before: null; readonly after: NewKey };

/** A key with the SHA-256 of its secret (hex), and with what its client signs with, if it does. */
interface NewKey {
  readonly key: ApiKey;
  readonly secretHash: string;
  readonly signing: SigningSecret | null;
}

/** An endpoint with its sealed secrets; one that is enabled begins as a healthy one. */
export type WebhookSwap = Swap<WebhookRow>;

/** See {@link WebhookSwap}. */
export type WebhookRow = Pick<StoredEndpoint, 'endpoint' | 'secrets'>;

/** A template: its state before, and the version that is saved, whether it is published or not. */
export type TemplateSwap = Swap<TemplateState, SavedTemplate & { readonly isPublished: boolean }>;

/** What every change of a template changes. */
export interface TemplateState {
  readonly id: string;
  readonly alias: string;
  readonly version: number;
  readonly publishedVersion: number | null;
}

/** All that changes, by kind. */
export interface ConfigurationChanges {
  readonly relays: readonly Swap<StoredRelay>[];
  /** See `Registry.putSettings`. */
  readonly settings: ReadonlyMap<string, string | null>;
  readonly domains: readonly Swap<StoredDomain>[];
  readonly keys: readonly KeySwap[];
  readonly webhooks: readonly WebhookSwap[];
  readonly templates: readonly TemplateSwap[];
  /** Wall ms. */
  readonly now: number;
  readonly bounds: {
    readonly webhooks: EndpointLimits;
    readonly templates: TemplateBounds;
  };
}
