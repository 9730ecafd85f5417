import { statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { type Fault, formatFault, shortKey } from '../config/fault.ts';
import { type Loaded, type LoadOptions, loadConfig, type StoredRows } from '../config/load.ts';
import { serverName } from '../config/names.ts';
import { afterReload, changedSettings } from '../config/reload.ts';
import type { Config } from '../config/schema.ts';
import { type InForce, oidcSettings, sessionLimits } from '../control/in-force.ts';
import type { GuardSettings } from '../dashboard/guard.ts';
import type { HealthCheck } from '../domain/health.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { type CidrSet, parseCidrs } from '../lib/network.ts';
import { OidcProvider, type OidcSettings } from '../oidc/provider.ts';

/** How often the file, and other nodes' changes, are checked, in ms: changes apply within a second (contract §12). */
const LOOK_MS = 500;

const FAULTY: HealthCheck = {
  name: 'configuration',
  status: 'degraded',
  detail: 'The configuration is wrong; the previous settings are in force. The log says what is wrong.',
};

const UNREADABLE: HealthCheck = {
  name: 'credentials_unreadable',
  status: 'degraded',
  detail: 'The password of a relay cannot be read with the present key; mail for it waits.',
};

const UNSIGNED: HealthCheck = {
  name: 'signing_keys_unreadable',
  status: 'degraded',
  detail: 'A domain’s signing key cannot be read with the present key; mail goes out without its signature.',
};

/** What reloading needs. */
interface LiveConfigOptions extends Omit<LoadOptions, 'stored'> {
  readonly first: InForce;
  readonly stored: () => Promise<StoredRows>;
  /** Changes whenever another node has changed what is stored. */
  readonly revision: () => Promise<number>;
  /** The revision read before `first`. */
  readonly firstRevision: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Publishes a configuration's routing table, and returns its version. */
  readonly publish: (next: Loaded) => Promise<number>;
  /**
   * Called after every reload, which ends when it resolves: everything then uses the new configuration. `ways`: the
   * routing table, or the operators' holds, changed.
   */
  readonly onChange: (config: Config, ways: boolean) => Promise<void>;
  /** Stops watching. */
  readonly signal: AbortSignal;
}

/**
 * The configuration in force: settings that need a restart stay as they were at the start. Loads again on request, and
 * when the file changes; faulty sources leave the old settings in force and appear in health (contract §12).
 */
export class LiveConfig {
  readonly #options: LiveConfigOptions;
  #loaded: InForce;
  /** One at a time: an earlier reading must not take effect last. */
  #reloading: Promise<unknown> = Promise.resolve();
  #faults: readonly Fault[] = [];

  constructor(options: LiveConfigOptions) {
    this.#options = options;
    this.#loaded = options.first;
  }

  /** The configuration in force. */
  get config(): Config {
    return this.#loaded.config;
  }

  /** The same, with its sources and faults. */
  get loaded(): InForce {
    return this.#loaded;
  }

  /** The faults of the sources at the last reading. */
  get faults(): readonly Fault[] {
    return this.#faults;
  }

  /** What health should report about it. */
  notices(): readonly HealthCheck[] {
    const { unreadableRelays, unreadableDomains } = this.config;
    return [
      ...(this.#faults.length > 0 ? [FAULTY] : []),
      ...(unreadableRelays.length > 0 ? [UNREADABLE] : []),
      ...(unreadableDomains.length > 0 ? [UNSIGNED] : []),
    ];
  }

  /** Reads every source again. Returns the faults that leave the old settings in force. */
  reload(): Promise<readonly Fault[]> {
    const reloaded = this.#reloading.then(() => this.#reload());
    this.#reloading = reloaded.catch(() => {});
    return reloaded;
  }

  /** The faults if these settings and relays were the stored ones, settings' values as JSON. Changes nothing. */
  async faultsWith(changed: Partial<StoredRows>): Promise<readonly Fault[]> {
    const stored = { ...(await this.#options.stored()), ...changed };
    const read = loadConfig({ ...this.#options, stored });
    return read.faults.length > 0 ? read.faults : afterReload(this.#options.first, read).faults;
  }

  async #reload(): Promise<readonly Fault[]> {
    const { log, onChange, publish, first } = this.#options;
    const read = loadConfig({ ...this.#options, stored: await this.#options.stored() });
    const next = afterReload(first, read);
    const faults = [...next.faults, ...this.#lostFile(read)];
    this.#faults = faults;
    for (const fault of faults)
      log.error('config.fault', { key: shortKey(fault), message: formatFault(fault) });
    if (faults.length > 0) {
      await this.#applyHolds(read);
      return faults;
    }
    const applied = changedSettings(this.#loaded.effective, next.effective);
    const waiting = isDeepStrictEqual(this.#loaded.pending, next.pending) ? [] : next.pending;
    const routesVersion = await publish(next);
    if (routesVersion !== this.#loaded.routesVersion)
      log.info('routes.published', { version: routesVersion, origin: next.config.routesOrigin });
    const ways = routesVersion !== this.#loaded.routesVersion || this.#holdsDiffer(next);
    this.#loaded = { ...next, routesVersion };
    if (applied.length > 0) log.info('config.applied', { keys: applied.join(' ') });
    if (waiting.length > 0)
      log.warn('config.restart_needed', { keys: waiting.map(({ key }) => key).join(' ') });
    await onChange(next.config, ways);
    return [];
  }

  /** Operators can hold mail even while the configuration is faulty. */
  async #applyHolds(next: Loaded): Promise<void> {
    if (!this.#holdsDiffer(next)) return;
    this.#loaded = { ...this.#loaded, holds: next.holds };
    await this.#options.onChange(this.config, true);
  }

  #holdsDiffer({ holds }: Loaded): boolean {
    return !isDeepStrictEqual(holds, this.#loaded.holds);
  }

  /**
   * A file that had content and is now empty is being written, or was moved away: without its relays, mail would be
   * captured instead of sent. An operator who means it restarts the server.
   */
  #lostFile(next: Loaded): readonly Fault[] {
    if (!saysSomething(this.#loaded) || saysSomething(next)) return [];
    const rule = 'is missing or empty now; restart the server to run without it';
    return [{ key: this.#loaded.configFile, value: null, rule, source: 'file' }];
  }

  /**
   * Reloads whenever the file changes, or another node changes what is stored, until the signal aborts. A store that
   * does not answer is asked again; the log mentions it once, until it answers.
   */
  async watch(): Promise<void> {
    const { clock, signal, log, first, revision, firstRevision } = this.#options;
    let seen = `${stampOf(first.configFile)} ${firstRevision}`;
    let isAway = false;
    while (!signal.aborted) {
      await clock.sleep(LOOK_MS, signal);
      try {
        const now = `${stampOf(first.configFile)} ${await revision()}`;
        if (now !== seen) await this.reload();
        seen = now;
        isAway = false;
      } catch (error) {
        if (!isAway) log.warn('config.not_reloaded', { message: String(error) });
        isAway = true;
      }
    }
  }
}

/** Whether any setting, relay or rule in force, or a fault, comes from the file. */
function saysSomething({ effective, config, faults, configFile }: Loaded): boolean {
  return (
    faults.some(({ source }) => source === `file ${configFile}`) ||
    effective.some(({ origin }) => origin === 'file') ||
    config.relays.some(({ origin }) => origin === 'file') ||
    config.routesOrigin === 'file'
  );
}

/** Changes with the file. For an inaccessible file, its error's code. */
function stampOf(file: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(file);
    return `${mtimeMs} ${size} ${ino}`;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

const parsed = new WeakMap<readonly string[], CidrSet>();

/** Validated ranges of the configuration, parsed once for each list. */
export function cidrs(list: readonly string[]): CidrSet {
  const known = parsed.get(list);
  if (known) return known;
  const result = parseCidrs(list);
  if (!result.ok) throw new Error(`an unchecked range: ${result.entry}`);
  parsed.set(list, result.cidrs);
  return result.cidrs;
}

/** Who may use the dashboard's port, as configured now, except `anyHost`. */
export function guardSettings({ config }: LiveConfig): Omit<GuardSettings, 'anyHost'> {
  return {
    allowedCidrs: cidrs(config.webui.allowedCidrs),
    trustedProxies: cidrs(config.webui.trustedProxies),
    allowedHosts: config.webui.allowedHosts,
    hostname: serverName(config),
  };
}

/** The terms of signing in, as configured now. */
export function signInTerms(live: Pick<LiveConfig, 'config' | 'loaded'>, clock: Clock) {
  let made: { readonly settings: OidcSettings; readonly provider: OidcProvider } | null = null;
  return {
    box: () => live.loaded.vault,
    limits: () => sessionLimits(live.config),
    /** The same until its own settings change: it remembers what it was told. */
    provider: () => {
      const settings = oidcSettings(live.config);
      if (!isDeepStrictEqual(settings, made?.settings ?? null))
        made = settings === null ? null : { settings, provider: new OidcProvider(settings, clock) };
      return made?.provider ?? null;
    },
  };
}
