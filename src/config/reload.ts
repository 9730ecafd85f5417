import { isDeepStrictEqual } from 'node:util';
import type { SettingKey } from './schema.ts';
import { SETTINGS } from './settings.ts';
import type { Effective } from './sources.ts';

/** What a reload changed. */
export interface Changes {
  /** Keys whose new value holds from now on. */
  readonly live: readonly SettingKey[];
  /** Keys whose new value holds after the next start. */
  readonly restart: readonly SettingKey[];
}

/** Compares the settings in force before and after a reload. Relays are live and compared by whoever runs them. */
export function changedSettings(before: readonly Effective[], after: readonly Effective[]): Changes {
  const old = new Map(before.map(({ key, value }) => [key, value]));
  const changed = after
    .filter(({ key, value }) => !isDeepStrictEqual(value, old.get(key)))
    .map(({ key }) => key);
  return {
    live: changed.filter((key) => SETTINGS[key].applies === 'live'),
    restart: changed.filter((key) => SETTINGS[key].applies === 'restart'),
  };
}
