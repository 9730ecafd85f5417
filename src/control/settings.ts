import { formatFault, unknownRule } from '../config/fault.ts';
import type { Loaded } from '../config/load.ts';
import { serverName } from '../config/names.ts';
import { type Config, isSettingKey, SETTING_KEYS, type SettingKey } from '../config/schema.ts';
import type { Setting } from '../config/setting.ts';
import { SETTINGS } from '../config/settings.ts';
import type { Effective } from '../config/sources.ts';
import { explainedCode, explainedOverSmtp } from '../ingest/http/requests.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { isOwnHost, parseCidrs } from '../lib/network.ts';
import type { DeniedTally } from '../observe/remembered.ts';
import { OperationError } from '../operations/call.ts';
import type { ALLOW_LISTS, DeniedSource, SettingRow, SettingsOperations } from '../operations/settings.ts';
import type { RequestOf } from '../operations/table.ts';
import type { LocalDeps } from './deps.ts';
import { type Actor, ASKING } from './door.ts';
import { putIntoForce, requireGoodSources } from './in-force.ts';

/** Runs tasks one after another. */
type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** The operations on settings and refused sources. */
export function settingsOperations(deps: LocalDeps): SettingsOperations {
  const inTurn = turns();
  return {
    settings: async () => settingRows(deps.resolution()),
    putSettings: (request) => inTurn(() => putSettings(request, deps)),
    denials: async () => await deniedSources(deps.server()?.denied() ?? [], deps),
    allowSource: (request) => inTurn(() => allowSource(request, deps)),
  };
}

/** Settings checked together must not be stored beside a change made in between. */
function turns(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
}

async function putSettings(
  { values, unset = [] }: RequestOf<'putSettings'>,
  deps: LocalDeps,
): Promise<readonly SettingRow[]> {
  const keys = [...Object.keys(values), ...unset];
  const unknown = keys.filter((key) => !isSettingKey(key));
  if (unknown.length > 0)
    throw new OperationError(
      'invalid',
      unknown.map((key) => `${key}: ${unknownRule('setting', key, SETTING_KEYS)}`).join('\n'),
    );
  const both = unset.filter((key) => Object.hasOwn(values, key));
  if (both.length > 0)
    throw new OperationError('invalid', `Both set and unset; do only one of these for: ${both.join(', ')}`);
  refuseLocked(keys.filter(isSettingKey), deps);
  await requireGoodSources(deps);
  const changes = new Map<string, string | null>([
    ...Object.entries(values).map(([key, value]) => [key, JSON.stringify(value)] as const),
    ...unset.map((key) => [key, null] as const),
  ]);
  await refuseFaulty(changes, deps);
  const given = new Map([...unset.filter(isSettingKey).map(asWithout), ...Object.entries(values)]);
  refuseShutOut(given, ASKING.getStore(), deps.resolution().config);
  const { registry } = deps;
  const before = await registry.settings();
  await putIntoForce(
    deps,
    () => registry.putSettings(changes),
    () => registry.putSettings(new Map(keys.map((key) => [key, before.get(key) ?? null]))),
  );
  return settingRows(deps.resolution()).filter(({ key }) => keys.includes(key));
}

/** A removed setting, with its value from then on. */
function asWithout(key: SettingKey): [key: string, value: unknown] {
  return [key, SETTINGS[key].fallback];
}

/** File and environment override stored settings: storing one would have no effect. */
function refuseLocked(keys: readonly SettingKey[], deps: LocalDeps): void {
  const { effective, pending } = deps.resolution();
  const locks = keys.flatMap((key) => {
    const setting = [...pending, ...effective].find((other) => other.key === key);
    const lock = setting === undefined ? null : lockOf(setting);
    return lock === null ? [] : [`${key}: ${lock}`];
  });
  if (locks.length > 0) throw new OperationError('refused', locks.join('\n'));
}

/** Finds the faults of all settings together, as for a file, before anything is stored. */
async function refuseFaulty(
  changes: ReadonlyMap<string, string | null>,
  { registry, faultsWith }: LocalDeps,
): Promise<void> {
  const stored = await registry.settings();
  for (const [key, value] of changes)
    if (value === null) stored.delete(key);
    else stored.set(key, value);
  const faults = await faultsWith({ settings: stored });
  if (faults.length > 0) throw new OperationError('invalid', faults.map(formatFault).join('\n'));
}

async function allowSource(
  { setting, cidr }: RequestOf<'allowSource'>,
  deps: LocalDeps,
): Promise<SettingRow> {
  const rowOf = (rows: readonly SettingRow[]) => {
    const found = rows.find(({ key }) => key === setting);
    if (found === undefined) throw new Error(`the table of settings lacks ${setting}`);
    return found;
  };
  const row = rowOf(settingRows(deps.resolution()));
  const ranges: readonly unknown[] = Array.isArray(row.value) ? row.value : [];
  if (ranges.includes(cidr)) return row;
  return rowOf(await putSettings({ values: { [setting]: [...ranges, cidr] } }, deps));
}

interface DenialDeps {
  readonly keyring: Pick<LocalDeps['keyring'], 'list'>;
  readonly resolution: () => {
    readonly config: { readonly api: Pick<Config['api'], 'rateLimitPerKey'> };
  };
}

/** Refused sources for display, each with its key and the limit that held. */
export async function deniedSources(
  tallies: readonly DeniedTally[],
  { keyring, resolution }: DenialDeps,
): Promise<DeniedSource[]> {
  if (tallies.length === 0) return [];
  const keys = new Map((await keyring.list()).map((key) => [key.id, key]));
  const usual = resolution().config.api.rateLimitPerKey;
  return tallies.map(({ firstAt, lastAt, port, keyId, ...rest }) => {
    const key = keys.get(keyId ?? '');
    const isLimit = rest.reason === 'rate_limited';
    return {
      ...rest,
      // What the API's code means is of a key; where there is none, another limit held.
      ...(isLimit && keyId === null ? explainedOverSmtp : explainedCode)(rest.reason),
      firstAt: formatTimestamp(firstAt),
      lastAt: formatTimestamp(lastAt),
      key: key?.name ?? keyId,
      limit:
        isLimit && key !== undefined
          ? { perMinute: key.rateLimit ?? usual, usual: key.rateLimit === null }
          : null,
      setting: settingOf(rest.reason, port),
    };
  });
}

/** The setting that would allow the source; null if its address is not the reason. */
export function settingOf(reason: string, port: DeniedTally['port']): (typeof ALLOW_LISTS)[number] | null {
  if (reason === 'relay_not_allowed') return 'listener.allowed_cidrs';
  if (reason === 'source_not_allowed' && port !== null) return `${port}.allowed_cidrs`;
  return null;
}

/** Replaces a secret that is set. */
const MASK = '********';

/** All settings for display, in the table's order. */
function settingRows(loaded: Pick<Loaded, 'effective' | 'pending'>): SettingRow[] {
  return loaded.effective.map((effective) => rowOf(effective, loaded));
}

function rowOf(effective: Effective, { pending }: Pick<Loaded, 'pending'>): SettingRow {
  const { key, value, origin, source } = effective;
  const setting: Setting<unknown> = SETTINGS[key];
  const { kind, fallback, secret, label, group, seldom, meaning, applies } = setting;
  const shown = (plain: unknown) => (secret && plain !== '' && plain !== null ? MASK : plain);
  const { form } = kind;
  const waiting = pending.find((other) => other.key === key);
  return {
    key,
    label,
    group,
    seldom,
    meaning,
    kind: secret ? 'secret' : form.kind,
    choices: form.choices,
    items: form.items,
    unit: kind.unit,
    examples: form.examples,
    nullable: form.nullable,
    none: form.none,
    value: shown(kind.inFile?.(value) ?? value),
    defaultValue: fallback,
    origin,
    source,
    locked: lockOf(waiting ?? effective),
    applies,
    ...(waiting === undefined ? {} : { afterRestart: shown(waiting.value) }),
  };
}

/** Why a setting cannot be stored at run time; null if it can. */
function lockOf({ key, origin, source }: Pick<Effective, 'key' | 'origin' | 'source'>): string | null {
  const { notStored, secret }: Setting<unknown> = SETTINGS[key];
  if (origin === 'file' || origin === 'environment') return `Set by the ${source}; change it there.`;
  if (notStored === true || secret) return 'Can only be set in the configuration file and the environment.';
  return null;
}

/** The settings that admit a caller's source address, by kind of caller; the command line needs none. */
const SOURCES: Readonly<Partial<Record<Actor['kind'], string>>> = {
  user: 'webui.allowed_cidrs',
  key: 'api.allowed_cidrs',
};
const HOSTS = 'webui.allowed_hosts';

/**
 * Refuses settings that would shut out the caller, who could not take them back. `changed` are the changed settings by
 * key, each with its new, valid value.
 */
function refuseShutOut(
  changed: ReadonlyMap<string, unknown>,
  actor: Actor | undefined,
  config: Pick<Config, 'server'>,
): void {
  if (actor === undefined) return;
  const { kind, sourceAddress, host } = actor;
  const key = SOURCES[kind];
  const ranges = key === undefined ? undefined : changed.get(key);
  if (key !== undefined && ranges !== undefined && sourceAddress !== null) {
    const parsed = parseCidrs(wordsOf(ranges));
    if (parsed.ok && !parsed.cidrs.contains(sourceAddress)) throw shutOut(key, sourceAddress);
  }
  const hosts = changed.get(HOSTS);
  if (kind !== 'user' || hosts === undefined || host === undefined) return;
  if (!isOwnHost(host, { allowedHosts: wordsOf(hosts), hostname: serverName(config) }))
    throw shutOut(HOSTS, host);
}

function shutOut(key: string, missing: string): OperationError {
  return new OperationError(
    'refused',
    `${key}: would lock you out, because you are connected through ${missing}. Add it, or set this in the configuration file.`,
  );
}

function wordsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [String(value)];
}
