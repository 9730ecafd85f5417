import { readFileSync, statSync } from 'node:fs';
import { join, resolve as resolvePath } from 'node:path';
import type { HoldKind } from '../domain/lane.ts';
import { readError } from '../lib/error.ts';
import type { Random } from '../lib/random.ts';
import { tokenKeys } from '../lib/recipient-token.ts';
import type { StoredDomain, StoredHold, StoredRelay } from '../store/registry.ts';
import { foreignDomains, openDomains } from './domains.ts';
import { type Fault, showValue } from './fault.ts';
import { hookTokens } from './hook-tokens.ts';
import { type Resolution, resolve } from './resolve.ts';
import type { Config } from './schema.ts';
import { createVault, loadKey, sealedUnder, type Vault } from './secrets.ts';
import type { OpenedRelay, Sources } from './sources.ts';

/** The stored part of the configuration, as returned by the registry. */
export interface StoredRows {
  readonly settings: ReadonlyMap<string, string>;
  readonly relays: readonly StoredRelay[];
  readonly holds: readonly StoredHold[];
  readonly domains: readonly StoredDomain[];
}

/** Everything `loadConfig` reads besides files. */
export interface LoadOptions {
  readonly dataDir: string;
  /** `--config`. */
  readonly configFile?: string | undefined;
  readonly environment: Sources['environment'];
  readonly stored: StoredRows;
  readonly random: Random;
}

/** What locates file and environment. */
export type OutsideOptions = Pick<LoadOptions, 'dataDir' | 'configFile' | 'environment'>;

/** A configuration with the vault that opens its secrets; the vault is null exactly if a fault says why. */
export interface Loaded extends Resolution {
  /** The path of the configuration file, existing or not. */
  readonly configFile: string;
  readonly vault: Vault | null;
  /** Lanes and relays held by an operator: not configuration, but stored and applied beside it. */
  readonly holds: ReadonlyMap<string, HoldKind>;
}

/** The stored part before anything was set at run time. */
export const NOTHING_STORED: StoredRows = { settings: new Map(), relays: [], holds: [], domains: [] };

const CONFIG_FILE = 'waybill.yaml';
const KEY_FILE = 'secret.key';
const MAX_FILE_BYTES = 1024 * 1024;

/** The data directory, absolute: `--data`, else `WAYBILL_DATA`, else `./data`. Throws like `readSecret`. */
export function dataDirectory(option: string | undefined, environment: Sources['environment']): string {
  return resolvePath(option ?? variable(environment, 'WAYBILL_DATA') ?? 'data');
}

/**
 * Reads the machine's side of the configuration and resolves it. Makes the key that seals stored passwords if it is
 * missing from the data directory, which must exist. Never throws: anything unreadable is a fault.
 */
export function loadConfig(options: LoadOptions): Loaded {
  const { dataDir, random } = options;
  const faults: Fault[] = [];
  const { configFile, sources: withoutStored } = outsideSources(options, faults);
  // The key's path is itself configured, but never by the store, whose secrets the key opens.
  const { keyFile } = resolve(withoutStored).config.secrets;
  const vault = openVault(keyFile, dataDir, random, faults);
  if (keyFile !== null && vault !== null) faults.push(...foreignKeyFaults(keyFile, vault, options.stored));
  const relays = options.stored.relays.map((relay) => openRelay(relay, vault));
  const stored = { settings: options.stored.settings, relays };
  const resolution = resolve({ ...withoutStored, stored });
  const holds = new Map(options.stored.holds.map(({ target, kind }) => [target, kind]));
  const { domains, unreadable, faults: flaws } = openDomains(options.stored.domains, vault);
  const tokens = vault === null ? [] : hookTokens(resolution.config.relays, options.stored.settings, vault);
  const keys = vault === null ? null : tokenKeys(vault.derive);
  const config = {
    ...resolution.config,
    domains,
    unreadableDomains: unreadable,
    hookTokens: tokens,
    tokenKeys: keys,
  };
  return {
    ...resolution,
    config,
    faults: [...faults, ...resolution.faults, ...flaws],
    vault,
    configFile,
    holds,
  };
}

/** The configuration of file and environment alone, with or without a data directory. Never throws. */
function resolveOutside(options: OutsideOptions): Resolution {
  const faults: Fault[] = [];
  const resolution = resolve(outsideSources(options, faults).sources);
  return { ...resolution, faults: [...faults, ...resolution.faults] };
}

function outsideSources(
  options: OutsideOptions,
  faults: Fault[],
): { readonly configFile: string; readonly sources: Sources } {
  const { path, file } = readConfigFile(options, faults);
  const stored = { settings: new Map(), relays: [] };
  return { configFile: path, sources: { environment: options.environment, file, stored, readSecret } };
}

/** Text of a secret's file without its last line end. Throws if it cannot be read. */
export function readSecret(path: string): string {
  return readBounded(path).replace(/\r?\n$/, '');
}

/** `--config`, otherwise `WAYBILL_CONFIG`, otherwise `waybill.yaml` in the data directory, which may be missing. */
function readConfigFile(options: OutsideOptions, faults: Fault[]): { path: string; file: Sources['file'] } {
  const { dataDir, configFile, environment } = options;
  let path = join(dataDir, CONFIG_FILE);
  let chosen: string | undefined;
  try {
    chosen = configFile ?? variable(environment, 'WAYBILL_CONFIG');
    path = resolvePath(chosen ?? path);
    return { path, file: { path, text: readBounded(path) } };
  } catch (error) {
    if (chosen === undefined && isMissing(error, path)) return { path, file: null };
    faults.push({ key: path, value: null, rule: `cannot be read: ${readError(error)}`, source: 'file' });
    return { path, file: null };
  }
}

function openVault(keyFile: string | null, dataDir: string, random: Random, faults: Fault[]): Vault | null {
  const path = keyFile ?? join(dataDir, KEY_FILE);
  try {
    return createVault(loadKey(path, random, keyFile === null), random);
  } catch (error) {
    faults.push({ key: 'secrets.key_file', value: showValue(path), rule: readError(error), source: 'file' });
    return null;
  }
}

/** A named key must be the one that sealed the store's secrets; the loss of our own key is survivable. */
function foreignKeyFaults(keyFile: string, vault: Vault, stored: StoredRows): Fault[] {
  const relays = stored.relays.filter(({ secret }) => secret !== null && sealedUnder(secret) !== vault.keyId);
  const foreign = [
    ...relays.map(({ name }) => ({ what: `the password of relay ${name}`, source: 'stored relay' })),
    ...foreignDomains(stored.domains, vault).map((name) => ({
      what: `a signing key of domain ${name}`,
      source: 'stored domain',
    })),
  ];
  return foreign.map(({ what, source }) => ({
    key: 'secrets.key_file',
    value: showValue(keyFile),
    rule: `is not the key that ${what} was encrypted with`,
    source,
  }));
}

function openRelay(relay: StoredRelay, vault: Vault | null): OpenedRelay {
  const { name, definition, disabled, secret } = relay;
  const password = secret === null ? null : (vault?.open(secret, name) ?? null);
  return { name, definition, disabled, password, unreadable: secret !== null && password === null };
}

/** An environment variable, or the text of the file named by its `_FILE` twin. Throws if that cannot be read. */
export function variable(environment: Sources['environment'], name: string): string | undefined {
  const path = environment[`${name}_FILE`];
  return environment[name] ?? (path === undefined ? undefined : readSecret(path));
}

/** Whether `path` itself is missing, rather than something on the way to it. */
function isMissing(error: unknown, path: string): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === 'ENOENT' &&
    'path' in error &&
    error.path === path
  );
}

function readBounded(path: string): string {
  if (statSync(path).size > MAX_FILE_BYTES) throw new Error(`${path} is larger than ${MAX_FILE_BYTES} bytes`);
  return readFileSync(path, 'utf8');
}

/** What must be known before the store, which has other settings, can be read. */
interface EarlyConfig {
  readonly database: Config['database'];
  readonly events: Config['events'];
  readonly node: Config['node'];
  /** Faults of these. Others show once everything is read. */
  readonly faults: readonly Fault[];
}

/** Reads the store's location, and what it keeps, from file and environment. */
export function earlyConfig(options: OutsideOptions): EarlyConfig {
  const { config, faults } = resolveOutside(options);
  const { database, events, node } = config;
  return {
    database,
    events,
    node,
    faults: faults.filter(({ key }) => /^(database|events|node)\./.test(key)),
  };
}
