import type { Loaded } from '../config/load.ts';
import { SETTINGS } from '../config/settings.ts';
import type { Relay } from '../domain/relay.ts';
import type { LocalDeps } from './local-deps.ts';
import type { Operations, SettingView } from './operations.ts';

const MASK = '********';

/** The operation on the configuration as a whole. */
export function configOperations(deps: LocalDeps): Pick<Operations, 'configuration'> {
  return {
    configuration: async () => {
      const loaded = deps.resolution();
      return [...settingViews(loaded), ...loaded.config.relays.flatMap((relay) => relayRows(relay, loaded))];
    },
  };
}

function settingViews({ effective }: Loaded): SettingView[] {
  return effective.map(({ key, value, source }) => {
    const { secret, applies } = SETTINGS[key];
    return { key, value: secret && value !== '' ? MASK : value, source, applies };
  });
}

/** A relay's fields as settings, by the names they have in the configuration file. */
function relayRows({ name, type, origin, limits, smtp }: Relay, { configFile }: Loaded): SettingView[] {
  const sources = { builtin: 'built in', file: `file ${configFile}`, stored: 'stored relay' };
  const fields = {
    type,
    ...smtp,
    ...(smtp?.password == null ? {} : { password: MASK }),
    max_concurrency: limits.maxConcurrency,
    max_rate_per_second: limits.maxRatePerSecond,
    max_message_bytes: limits.maxMessageBytes,
    max_recipients: limits.maxRecipients,
  };
  return Object.entries(fields).map(([field, value]) => ({
    key: `relays.${name}.${field}`,
    value,
    source: sources[origin],
    applies: 'live',
  }));
}
