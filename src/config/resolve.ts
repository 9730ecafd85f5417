import type { Relay } from '../domain/relay.ts';
import { checkTogether } from './checks.ts';
import { type Fault, showValue } from './fault.ts';
import { type Given, gather } from './gather.ts';
import { flawsOf, isRecord } from './kinds.ts';
import type { RelaySource } from './relay-checks.ts';
import { BUILTIN_INBOX, readRelay } from './relays.ts';
import { roleFaults } from './roles.ts';
import { type RoutesSource, readRoutes } from './routes.ts';
import { type Config, camelCase, SETTING_KEYS, type SettingKey } from './schema.ts';
import type { Setting } from './setting.ts';
import { SETTINGS } from './settings.ts';
import type { Effective, OpenedRelay, Sources } from './sources.ts';

/** The result of combining the sources. */
export interface Resolution {
  /** With the default in place of every faulty value: if there are faults, only for display, not to start with. */
  readonly config: Config;
  readonly faults: readonly Fault[];
  /** Every setting, in the table's order. */
  readonly effective: readonly Effective[];
  /** After a reload, the values that settings needing a restart would get, where they differ; otherwise empty. */
  readonly pending: readonly Effective[];
  /** Names of unknown `WAYBILL_*` variables. */
  readonly ignored: readonly string[];
}

/** Combines the sources: environment over file over stored settings over default. */
export function resolve(sources: Sources): Resolution {
  const { given, relays: definitions, routes, faults: earlier, ignored } = gather(sources);
  const faults = [...earlier];
  const effective = SETTING_KEYS.map((key) => readSetting(key, given.get(key), faults));
  const settings = nest(effective);
  const { privateRelays } = settings.delivery;
  const relays = definitions.flatMap((definition): Relay[] => {
    const reading = readRelay({ ...definition, privateRelays });
    if (reading.relay !== null) return [reading.relay];
    faults.push(...reading.faults);
    return [];
  });
  const list = routes ?? NO_ROUTES;
  // Stored rules were valid when published; a relay removed since then must not keep a server down.
  const named = list.origin === 'file' ? definitions.map(declaredName) : null;
  const { rules, faults: routeFaults } = readRoutes(list, named);
  faults.push(...routeFaults);
  const { stored } = sources;
  const config: Config = {
    ...settings,
    relays: [BUILTIN_INBOX, ...relays.map((relay) => withState(relay, stored.relays))],
    routes: rules,
    routesOrigin: routes?.origin ?? 'stored',
    unreadableRelays: stored.relays.filter((relay) => relay.unreadable).map((relay) => relay.name),
    // Neither domains nor tokens are settings: the reader of the store adds them.
    domains: [],
    unreadableDomains: [],
    hookTokens: [],
    // Nor is what follows from the secret key.
    tokenKeys: null,
  };
  const good = new Set(config.relays.map(({ name }) => name));
  const faultyRelays = definitions.map(declaredName).filter((name) => !good.has(name));
  const isStoreKnown = !faults.some(({ key }) => key === 'database.url');
  return {
    config,
    faults: [
      ...faults,
      ...checkTogether(config, effective, faultyRelays),
      ...(isStoreKnown ? roleFaults(config, effective) : []),
    ],
    effective,
    pending: [],
    ignored,
  };
}

function readSetting(key: SettingKey, given: Given | undefined, faults: Fault[]): Effective {
  const setting: Setting<unknown> = SETTINGS[key];
  const fallback: Effective = { key, value: setting.fallback, origin: 'default', source: 'default' };
  if (given === undefined) return fallback;
  const { raw, origin, source } = given;
  if (origin === 'stored' && setting.notStored) {
    const rule = 'can only be set in the configuration file and the environment';
    faults.push({ key, value: null, rule, source });
    return fallback;
  }
  const value = setting.kind.read(raw);
  if (value !== undefined) return { key, value, origin, source };
  for (const flaw of flawsOf(setting.kind, raw, key)) {
    const shown = setting.secret || flaw.value === undefined ? null : showValue(flaw.value);
    faults.push({ key: flaw.place, value: shown, rule: flaw.rule, source });
  }
  return fallback;
}

/** The part of a configuration that consists of settings. */
type SettingValues = Omit<
  Config,
  | 'relays'
  | 'routes'
  | 'routesOrigin'
  | 'unreadableRelays'
  | 'domains'
  | 'unreadableDomains'
  | 'hookTokens'
  | 'tokenKeys'
>;

const NO_ROUTES: RoutesSource = { raw: [], origin: 'stored', source: 'default' };

/** The nested form of the settings' values. */
export function nest(effective: readonly Effective[]): SettingValues {
  const sections: Tree = {};
  for (const { key, value } of effective) {
    const path = key.split('.').map(camelCase);
    const last = path.pop() ?? '';
    let values = sections;
    for (const name of path) values = subtree(values, name);
    values[last] = value;
  }
  // Sound because every key of the table is present, each with a value that its own kind has read.
  return sections as unknown as SettingValues;
}

type Tree = { [name: string]: unknown };

function subtree(tree: Tree, name: string): Tree {
  const found = tree[name];
  const below: Tree = isRecord(found) ? found : {};
  tree[name] = below;
  return below;
}

/** The declared name, valid or not: a relay's fault is reported once, not again for each rule. */
function declaredName({ raw }: RelaySource): string {
  return isRecord(raw) && typeof raw['name'] === 'string' ? raw['name'] : '';
}

function withState(relay: Relay, stored: readonly OpenedRelay[]): Relay {
  const disabled = stored.some((other) => other.name === relay.name && other.disabled);
  return { ...relay, disabled };
}
