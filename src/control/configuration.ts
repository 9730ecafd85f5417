import { isRecord } from '../config/kinds.ts';
import type { Loaded } from '../config/load.ts';
import { isFor, RELAY_FIELDS } from '../config/relay-fields.ts';
import { ruleDefinition } from '../config/routes.ts';
import { camelCase } from '../config/schema.ts';
import type { Setting } from '../config/setting.ts';
import { SETTINGS } from '../config/settings.ts';
import { dayText } from '../domain/quota.ts';
import type { Relay, SmarthostSettings } from '../domain/relay.ts';
import type { SettingView } from '../operations/system.ts';
import type { Operations } from '../operations/table.ts';
import type { LocalDeps } from './deps.ts';

const MASK = '********';

/** The operation on the configuration as a whole. */
export function configOperations(deps: LocalDeps): Pick<Operations, 'configuration'> {
  return {
    configuration: async () => {
      const loaded = deps.resolution();
      const relays = loaded.config.relays.flatMap((relay) => relayRows(relay, loaded));
      return [...settingViews(loaded), ...relays, ...routeRows(loaded)];
    },
  };
}

/** Each setting in the form of the configuration file; a list of maps has a line for each. */
function settingViews({ effective, pending }: Loaded): SettingView[] {
  return effective.flatMap(({ key, value, source }): SettingView[] => {
    const { kind, secret, applies }: Setting<unknown> = SETTINGS[key];
    const written = kind.inFile?.(value) ?? value;
    if (Array.isArray(written) && written.some(isRecord))
      return written.map((row: unknown, index) => ({
        key: `${key}[${index}]`,
        value: row,
        source,
        applies,
      }));
    const shown = (plain: unknown) => (secret && plain !== '' ? MASK : plain);
    const waiting = pending.find((other) => other.key === key);
    const afterRestart = waiting === undefined ? {} : { afterRestart: shown(waiting.value) };
    return [{ key, value: shown(written), source, applies, ...afterRestart }];
  });
}

/** A relay's fields as settings, named as in the configuration file. */
function relayRows(relay: Relay, { configFile }: Loaded): SettingView[] {
  const { name, origin } = relay;
  const sources = { builtin: 'built in', file: `file ${configFile}`, stored: 'stored relay' };
  return Object.entries(relayFields(relay)).map(([field, value]) => ({
    key: `relays.${name}.${field}`,
    value,
    source: sources[origin],
    applies: 'live',
  }));
}

/** A relay's fields, named as in the configuration file, without its name; secrets masked. */
export function relayFields(relay: Relay): Readonly<Record<string, unknown>> {
  const { type, limits, smtp, mx, provider } = relay;
  const { reservePercent, warmUp, ...others } = limits;
  const settings: Readonly<Record<string, unknown>> = {
    type,
    ...others,
    quotaReservePercent: reservePercent,
    ...(warmUp !== null && { warmupStart: dayText(warmUp.startDay), warmupPerDay: warmUp.perDay }),
    ...(smtp !== null && { auth: null, ...smtp, ...oauthSettings(smtp) }),
    ...mx,
    ...(provider !== null && { ...provider, url: provider.endpoint }),
  };
  const shown = RELAY_FIELDS.flatMap((row): [string, unknown][] => {
    const value = settings[camelCase(row.name)];
    if (value === undefined || !isFor(row, type)) return [];
    return [[row.name, row.secret && value !== null ? MASK : value]];
  });
  return Object.fromEntries(shown);
}

function oauthSettings({ oauth }: SmarthostSettings): Readonly<Record<string, unknown>> {
  if (oauth === undefined) return {};
  const { tenant, tokenUrl, grant, ...others } = oauth;
  // The tenant implies the token URL, which is left out then.
  const place = tenant === null ? { tokenUrl } : { tenant };
  const serviceAccount = grant.kind === 'service_account' ? { serviceAccount: grant.privateKey } : {};
  return { ...others, ...place, ...grant, ...serviceAccount };
}

/** Each routing rule in the form of the configuration file. */
function routeRows({ config, configFile }: Loaded): SettingView[] {
  const source = config.routesOrigin === 'file' ? `file ${configFile}` : 'stored routes';
  return config.routes.map((rule, index) => ({
    key: `routes[${index}]`,
    value: ruleDefinition(rule),
    source,
    applies: 'live',
  }));
}
