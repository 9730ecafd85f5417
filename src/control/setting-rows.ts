import type { Loaded } from '../config/load.ts';
import type { Config, SettingKey } from '../config/schema.ts';
import type { Setting } from '../config/setting.ts';
import { SETTINGS } from '../config/settings.ts';
import type { Effective } from '../config/sources.ts';
import { sourceDefinition } from '../config/sources-kind.ts';
import type { SettingRow } from '../operations/settings.ts';

/** In the place of a secret that is set. */
const MASK = '********';

/** Every setting as it is shown, in the table's order. */
export function settingRows(loaded: Pick<Loaded, 'effective' | 'pending' | 'config'>): SettingRow[] {
  return loaded.effective.map((effective) => rowOf(effective, loaded));
}

function rowOf(effective: Effective, { pending, config }: Pick<Loaded, 'pending' | 'config'>): SettingRow {
  const { key, value, origin, source } = effective;
  const { kind, fallback, meaning, applies, secret }: Setting<unknown> = SETTINGS[key];
  const shown = (plain: unknown) => (secret && plain !== '' && plain !== null ? MASK : plain);
  const { form } = kind;
  const waiting = pending.find((other) => other.key === key);
  return {
    ...{ key, section: key.split('.', 1)[0] ?? '', meaning },
    kind: secret ? 'secret' : form.kind,
    ...{ choices: form.choices, nullable: form.nullable, none: form.none },
    value: shown(asInFile(key, value, config)),
    ...{ defaultValue: fallback, origin, source },
    locked: lockOf(waiting ?? effective),
    applies,
    ...(waiting === undefined ? {} : { afterRestart: shown(waiting.value) }),
  };
}

/** The value as it would stand in the configuration file. */
function asInFile(key: SettingKey, value: unknown, config: Pick<Config, 'listener'>): unknown {
  return key === 'listener.sources' ? config.listener.sources.map(sourceDefinition) : value;
}

/** Why a setting cannot be stored at run time; null where it can. */
export function lockOf({ key, origin, source }: Pick<Effective, 'key' | 'origin' | 'source'>): string | null {
  const { notStored, secret }: Setting<unknown> = SETTINGS[key];
  if (origin === 'file' || origin === 'environment') return `Set by the ${source}; change it there.`;
  if (notStored === true || secret) return 'Can be set in the configuration file and the environment only.';
  return null;
}
