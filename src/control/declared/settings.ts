import { formatFault } from '../../config/fault.ts';
import { STORED_ROUTES } from '../../config/gather.ts';
import { flawsOf, isRecord } from '../../config/kinds.ts';
import { type RuleDefinition, readRoutes, ruleDefinition } from '../../config/routes.ts';
import { isSettingKey, SETTING_KEYS, type SettingKey } from '../../config/schema.ts';
import type { Setting } from '../../config/setting.ts';
import { SETTINGS } from '../../config/settings.ts';
import type { Item } from '../../domain/declared.ts';
import { INBOX } from '../../domain/relay.ts';
import type { LocalDeps } from '../deps.ts';
import { namesGiven, type Reading, type Section } from './section.ts';

/** What is stored as settings: the default relay, what governs the suppression list, and the routing rules. */

/** Mail that no rule matches. */
export const DELIVERY = settingsSection('delivery', ['delivery.default_relay']);
/** What governs the suppression list. */
export const SUPPRESSIONS = settingsSection(
  'suppressions',
  SETTING_KEYS.filter((key) => key.startsWith('suppressions.')),
);

function settingsSection(name: 'delivery' | 'suppressions', keys: readonly SettingKey[]): Section {
  return {
    name,
    present: ({ settings, deps }) =>
      keys.flatMap((key) => {
        const stored = settings.get(key);
        return stored === undefined || lockOf(key, deps) !== null
          ? []
          : [settingItem(key, JSON.parse(stored))];
      }),
    elsewhere: ({ deps }) => keys.filter((key) => lockOf(key, deps) !== null),
    written: (items) => {
      const section: Record<string, unknown> = {};
      for (const item of items) put(section, item.name.split('.'), item.fields['value']);
      return section;
    },
    read: (raw, reading) => readSettings(raw, name, keys, reading),
    carryOut: ({ present, wanted }, { settings }) => {
      const key = `${name}.${(wanted ?? present)?.name ?? ''}`;
      settings.set(key, wanted === null ? null : JSON.stringify(wanted.fields['value']));
    },
  };
}

/** Its name is the key within the section. */
function settingItem(key: string, value: unknown): Item {
  return { name: key.slice(key.indexOf('.') + 1), fields: { value }, written: { value }, secrets: {} };
}

/** Puts a value into maps within maps. */
function put(
  section: Record<string, unknown>,
  [first = '', ...rest]: readonly string[],
  value: unknown,
): void {
  if (rest.length === 0) section[first] = value;
  else {
    const inner = isRecord(section[first]) ? section[first] : {};
    section[first] = inner;
    put(inner, rest, value);
  }
}

function readSettings(
  raw: unknown,
  section: string,
  keys: readonly SettingKey[],
  reading: Reading,
): readonly Item[] {
  if (!isRecord(raw)) {
    reading.fault(section, 'must be a map');
    return [];
  }
  return leavesOf(raw, section).flatMap(([key, value]): Item[] => {
    if (!isSettingKey(key) || !keys.includes(key)) {
      reading.fault(key, `is not declared here; there are ${keys.join(', ')}`);
      return [];
    }
    const { kind }: Setting<unknown> = SETTINGS[key];
    const read = kind.read(value);
    if (read === undefined) {
      for (const { place, rule } of flawsOf(kind, value, key)) reading.fault(place, rule);
      return [];
    }
    return isLocked(key, kind.inFile?.(read) ?? read, reading) ? [] : [settingItem(key, value)];
  });
}

/** The values of maps within maps, by their keys. */
function leavesOf(raw: Record<string, unknown>, path: string): [key: string, value: unknown][] {
  return Object.entries(raw).flatMap(([name, value]): [string, unknown][] => {
    const key = `${path}.${name}`;
    return isRecord(value) ? leavesOf(value, key) : [[key, value]];
  });
}

/** What is in force of a setting by the configuration file or the environment; null: they do not set it. */
function lockOf(key: SettingKey, { resolution }: Pick<LocalDeps, 'resolution'>) {
  const found = resolution().effective.find((one) => one.key === key);
  return found?.origin === 'file' || found?.origin === 'environment' ? found : null;
}

/** What is locked cannot be changed here; that is a fault, unless it is so already. */
function isLocked(key: SettingKey, value: unknown, { world, fault }: Reading): boolean {
  const found = lockOf(key, world.deps);
  if (found === null) return false;
  const { kind }: Setting<unknown> = SETTINGS[key];
  const inForce = kind.inFile?.(found.value) ?? found.value;
  if (JSON.stringify(inForce) !== JSON.stringify(value))
    fault(key, `is set by the ${found.source}; change it there`);
  return true;
}

/** The rules, which are one table: they are stored together. */
export const ROUTES: Section = {
  name: 'routes',
  present: ({ deps }) => {
    const { config } = deps.resolution();
    return config.routesOrigin === 'file' ? null : ruleItems(config.routes.map(ruleDefinition));
  },
  elsewhere: ({ deps }) => (deps.resolution().config.routesOrigin === 'file' ? ['routes'] : []),
  written: (items) => rulesIn(items),
  read: (raw, reading) => readRules(raw, reading),
  carryOut: (_, making) => {
    making.settings.set(STORED_ROUTES, JSON.stringify(rulesIn(making.declared.get('routes') ?? [])));
  },
};

/** The name of the item that says in which order the rules are tried; no rule may be called so. */
const ORDER = '(order)';

function ruleItems(rules: readonly RuleDefinition[]): Item[] {
  const items = rules.map(({ name, match, via }) => {
    const fields = { match, via };
    return { name, fields, written: fields, secrets: {} };
  });
  const order = { rules: rules.map(({ name }) => name) };
  if (rules.length < 2) return items;
  return [...items, { name: ORDER, fields: order, written: order, secrets: {} }];
}

function rulesIn(items: readonly Item[]): unknown[] {
  return items.filter(({ name }) => name !== ORDER).map(({ name, fields }) => ({ name, ...fields }));
}

function readRules(raw: unknown, reading: Reading): readonly Item[] {
  const { world } = reading;
  const { config, configFile } = world.deps.resolution();
  const { rules, faults } = readRoutes(
    { raw, origin: 'stored', source: 'the declared rules' },
    relaysAfter(reading),
  );
  for (const fault of faults) reading.fault('', formatFault(fault));
  const present = config.routes.map(ruleDefinition);
  const wanted = rules.map(ruleDefinition);
  if (config.routesOrigin === 'file') {
    if (JSON.stringify(present) !== JSON.stringify(wanted))
      reading.fault('routes', `come from ${configFile}, which has a section routes; change them there`);
    return [];
  }
  const left = present.filter(({ name }) => !wanted.some((rule) => rule.name === name));
  // The order of a table says what a rule means: one that stayed behind would have no place in it.
  if (!reading.prune && left.length > 0)
    reading.fault(
      'routes',
      `would lose the rules ${left.map(({ name }) => name).join(', ')}; declare them, or use --prune`,
    );
  return ruleItems(wanted);
}

/** Names of the relays that there are afterwards. */
function relaysAfter(reading: Reading): string[] {
  const { world, declared, prune } = reading;
  const present = world.deps.resolution().config.relays;
  const stays =
    prune && declared.has('relays') ? present.filter(({ origin }) => origin !== 'stored') : present;
  return [INBOX, ...stays.map(({ name }) => name), ...namesGiven('relays', reading)];
}
