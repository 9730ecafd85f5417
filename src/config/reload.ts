import { isDeepStrictEqual } from 'node:util';
import { checkTogether } from './checks.ts';
import type { Fault } from './fault.ts';
import type { Loaded } from './load.ts';
import { nest } from './resolve.ts';
import type { Config, SettingKey } from './schema.ts';
import { SETTINGS } from './settings.ts';
import type { Effective } from './sources.ts';

/** Keys with a changed value. Relays apply live and are compared by the engine. */
export function changedSettings(before: readonly Effective[], after: readonly Effective[]): SettingKey[] {
  return differing(before, after).map(({ key }) => key);
}

/**
 * The configuration in force after `next` was loaded into a service started with `started`: settings that need a
 * restart stay as they were at the start, and wait in `pending`.
 */
export function afterReload(started: Loaded, next: Loaded): Loaded {
  const old = new Map(started.effective.map((setting) => [setting.key, setting]));
  const kept = (setting: Effective) => (waits(setting) ? (old.get(setting.key) ?? setting) : setting);
  const effective = next.effective.map(kept);
  const pending = differing(effective, next.effective);
  const config: Config = { ...next.config, ...nest(effective) };
  // Faults of `next` itself are returned; otherwise it must also fit the settings that stay.
  const faults = next.faults.length > 0 ? next.faults : togetherFaults(config, effective, pending);
  return { ...next, config, effective, pending, faults };
}

function togetherFaults(
  config: Config,
  effective: readonly Effective[],
  pending: readonly Effective[],
): readonly Fault[] {
  return checkTogether(config, effective).map((fault) =>
    pending.some(({ key }) => key === fault.key)
      ? { ...fault, rule: `${fault.rule}; its new value needs a restart` }
      : fault,
  );
}

function waits({ key }: Effective): boolean {
  return SETTINGS[key].applies === 'restart';
}

/** The settings of `after` with a changed value. */
function differing(before: readonly Effective[], after: readonly Effective[]): Effective[] {
  const old = new Map(before.map(({ key, value }) => [key, value]));
  return after.filter(({ key, value }) => !isDeepStrictEqual(value, old.get(key)));
}
