import { formatFault, unknownRule } from '../config/fault.ts';
import { isSettingKey, SETTING_KEYS, type SettingKey } from '../config/schema.ts';
import { SETTINGS } from '../config/settings.ts';
import { OperationError } from '../operations/call.ts';
import type { SettingRow, SettingsOperations } from '../operations/settings.ts';
import type { RequestOf } from '../operations/table.ts';
import { ASKING } from './actor.ts';
import { deniedSources } from './denied-sources.ts';
import { certificateOperations } from './local-certificate.ts';
import type { LocalDeps } from './local-deps.ts';
import { lockOf, settingRows } from './setting-rows.ts';
import { refuseShutOut } from './shut-out.ts';

/** Runs one piece of work after another. */
type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** The operations on settings, the certificate and refused sources. */
export function settingsOperations(deps: LocalDeps): SettingsOperations {
  const inTurn = turns();
  return {
    settings: async () => settingRows(deps.resolution()),
    putSettings: (request) => inTurn(() => putSettings(request, deps)),
    denials: async () => deniedSources(deps.server()?.denied() ?? []),
    allowSource: (request) => inTurn(() => allowSource(request, deps)),
    ...certificateOperations(deps),
  };
}

/** What was found right together must not be stored beside what came between. */
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
    throw new OperationError('invalid', `Both given and taken away; do one of them: ${both.join(', ')}`);
  refuseLocked(keys.filter(isSettingKey), deps);
  await requireGoodSources(deps);
  const changes = new Map<string, string | null>([
    ...Object.entries(values).map(([key, value]) => [key, JSON.stringify(value)] as const),
    ...unset.map((key) => [key, null] as const),
  ]);
  await refuseFaulty(changes, deps);
  const given = new Map([...unset.filter(isSettingKey).map(asWithout), ...Object.entries(values)]);
  refuseShutOut(given, ASKING.getStore(), deps.resolution().config);
  await deps.registry.putSettings(changes);
  const faults = await deps.reload();
  if (faults.length > 0)
    throw new OperationError(
      'unavailable',
      `The values are stored, but did not come into force:\n${faults.map(formatFault).join('\n')}`,
    );
  return settingRows(deps.resolution()).filter(({ key }) => keys.includes(key));
}

/** A setting that is taken away, with its value from then on. */
function asWithout(key: SettingKey): [key: string, value: unknown] {
  return [key, SETTINGS[key].fallback];
}

/** What file or environment say goes before what is stored: it would be stored to no effect. */
function refuseLocked(keys: readonly SettingKey[], deps: LocalDeps): void {
  const { effective, pending } = deps.resolution();
  const locks = keys.flatMap((key) => {
    const setting = [...pending, ...effective].find((other) => other.key === key);
    const lock = setting === undefined ? null : lockOf(setting);
    return lock === null ? [] : [`${key}: ${lock}`];
  });
  if (locks.length > 0) throw new OperationError('refused', locks.join('\n'));
}

/** What is stored while the configuration is faulty would not come into force. */
async function requireGoodSources(deps: LocalDeps): Promise<void> {
  const faults = await deps.reload();
  if (faults.length > 0)
    throw new OperationError(
      'refused',
      `Nothing was changed, because the configuration is faulty. Mend it first:\n${faults.map(formatFault).join('\n')}`,
    );
}

/** Finds what would be wrong with all settings together, as of a file, before anything is stored. */
async function refuseFaulty(
  changes: ReadonlyMap<string, string | null>,
  { registry, faultsWith }: LocalDeps,
): Promise<void> {
  const stored = await registry.settings();
  for (const [key, value] of changes)
    if (value === null) stored.delete(key);
    else stored.set(key, value);
  const faults = await faultsWith(stored);
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
