import type { Loaded } from '../config/load.ts';
import { ruleDefinition } from '../config/routes.ts';
import { SETTINGS } from '../config/settings.ts';
import { sourceDefinition } from '../config/settings-listener.ts';
import { dayText } from '../domain/quota.ts';
import type {
  MxSettings,
  OAuthSettings,
  OriginSettings,
  ProviderSettings,
  Relay,
  RelayLimits,
  SmarthostSettings,
} from '../domain/relay.ts';
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

/** Each setting as it would stand in the configuration file; a list of maps has a line for each. */
function settingViews({ effective, pending, config }: Loaded): SettingView[] {
  return effective.flatMap(({ key, value, source }): SettingView[] => {
    const { secret, applies } = SETTINGS[key];
    if (key === 'listener.sources' && config.listener.sources.length > 0)
      return config.listener.sources.map((row, index) => ({
        key: `${key}[${index}]`,
        value: sourceDefinition(row),
        ...{ source, applies },
      }));
    const shown = (plain: unknown) => (secret && plain !== '' ? MASK : plain);
    const waiting = pending.find((other) => other.key === key);
    const afterRestart = waiting === undefined ? {} : { afterRestart: shown(waiting.value) };
    return [{ key, value: shown(value), source, applies, ...afterRestart }];
  });
}

/** A relay's fields as settings, by the names they have in the configuration file. */
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

/** A relay's fields by the names they have in the configuration file, but for its name; secrets masked. */
export function relayFields({ type, limits, smtp, mx, provider }: Relay): Record<string, unknown> {
  return {
    type,
    ...(smtp === null ? {} : smarthostFields(smtp)),
    ...(mx === null ? {} : mxFields(mx)),
    ...(provider === null ? {} : providerFields(provider)),
    ...limitFields(limits),
  };
}

function smarthostFields(settings: SmarthostSettings): Record<string, unknown> {
  const { host, port, tls, verify, username, password } = settings;
  const masked = password === null ? null : MASK;
  const signIn = {
    auth: settings.auth ?? null,
    ...(settings.oauth !== undefined && oauthFields(settings.oauth)),
  };
  return { host, port, tls, verify, username, password: masked, ...signIn, ...originFields(settings) };
}

function oauthFields({
  preset,
  tenant,
  tokenUrl,
  scope,
  allowPrivate,
  grant,
}: OAuthSettings): Record<string, unknown> {
  // What a tenant says already is not to be given a second time.
  const place = tenant === null ? { token_url: tokenUrl } : { tenant };
  const common = { preset, ...place, scope, allow_private: allowPrivate };
  switch (grant.kind) {
    case 'client_credentials':
      return { ...common, client_id: grant.clientId, secret: MASK };
    case 'refresh_token': {
      const secret = grant.secret === null ? null : MASK;
      return { ...common, client_id: grant.clientId, secret, refresh_token: MASK };
    }
    case 'service_account':
      return { ...common, service_account: MASK, subject: grant.subject };
  }
}

function mxFields(settings: MxSettings): Record<string, unknown> {
  const { port, tls, allowPrivate, maxPerDomain, presets } = settings;
  const own = { allow_private: allowPrivate, max_per_domain: maxPerDomain, presets };
  return { port, tls, ...own, ...originFields(settings) };
}

function providerFields(settings: ProviderSettings): Record<string, unknown> {
  const { endpoint, allowPrivate } = settings;
  return {
    ...ownFields(settings),
    ...(settings.type === 'webhook' ? { url: endpoint } : { endpoint }),
    secret: MASK,
    allow_private: allowPrivate,
  };
}

function ownFields(settings: ProviderSettings): Record<string, unknown> {
  switch (settings.type) {
    case 'ses': {
      const { region, accessKeyId, configurationSet } = settings;
      return { region, access_key_id: accessKeyId, configuration_set: configurationSet };
    }
    case 'mailgun':
      return { domain: settings.domain };
    case 'postmark':
      return { message_stream: settings.messageStream };
    case 'graph': {
      const { tenant, clientId, mailbox, authority } = settings;
      return { tenant, client_id: clientId, mailbox, authority };
    }
    default:
      return {};
  }
}

function limitFields(limits: RelayLimits): Record<string, unknown> {
  const { warmUp } = limits;
  return {
    max_concurrency: limits.maxConcurrency,
    max_rate_per_second: limits.maxRatePerSecond,
    max_message_bytes: limits.maxMessageBytes,
    max_recipients: limits.maxRecipients,
    max_per_day: limits.maxPerDay,
    quota_reserve_percent: limits.reservePercent,
    ...(warmUp === null ? {} : { warmup_start: dayText(warmUp.startDay), warmup_per_day: warmUp.perDay }),
  };
}

function originFields({ helo, sourceIps, ipFamily }: OriginSettings): Record<string, unknown> {
  return { helo, source_ips: sourceIps, ip_family: ipFamily };
}

/** Each rule of routing as it would stand in the configuration file. */
function routeRows({ config, configFile }: Loaded): SettingView[] {
  const source = config.routesOrigin === 'file' ? `file ${configFile}` : 'stored routes';
  return config.routes.map((rule, index) => ({
    key: `routes[${index}]`,
    value: ruleDefinition(rule),
    ...{ source, applies: 'live' },
  }));
}
