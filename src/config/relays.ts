import {
  INBOX,
  type MxSettings,
  type OriginSettings,
  type ProviderSettings,
  type Relay,
  type RelayLimits,
  type SmarthostSettings,
} from '../domain/relay.ts';
import { readError } from '../lib/error.ts';
import { type Fault, unknownRule } from './fault.ts';
import { isRecord } from './kinds.ts';
import { clashFaults, mayBePrivate, oauthOf, ruleFor } from './relay-checks.ts';
import {
  IMPLICIT_TLS_PORT,
  RELAY_FIELDS,
  type RelayFieldName,
  type RelayValues,
  SMTP_PORT,
  SUBMISSION_PORT,
  USUAL_PER_DOMAIN,
} from './relay-fields.ts';
import { dayNumber } from './relay-kinds.ts';
import { SECRET_FIELDS, type SecretField } from './relay-secrets.ts';
import { fieldFault, type RelaySource, relayFault } from './relay-source.ts';
import {
  isProviderType,
  MAILGUN_ENDPOINTS,
  MICROSOFT_AUTHORITY,
  MOST_RECIPIENTS,
  PUBLIC_ENDPOINTS,
  RELAY_TYPES,
  sesEndpoint,
  USUAL_CONCURRENCY,
  USUAL_RECIPIENTS,
  USUAL_WARM_UP,
} from './relay-types.ts';

const FIELD_NAMES = Object.keys(RELAY_FIELDS);
/** Every name a definition may use. */
const ACCEPTED_NAMES = [...FIELD_NAMES, ...SECRET_FIELDS.map(fileField)];

/** A relay, or what is wrong with its definition. */
export type RelayReading =
  | { readonly relay: Relay }
  | { readonly relay: null; readonly faults: readonly Fault[] };

/** The limits of the built-in inbox: local, so wide. */
const INBOX_LIMITS: RelayLimits = {
  maxConcurrency: 16,
  maxRatePerSecond: 0,
  maxMessageBytes: 0,
  maxRecipients: 1000,
  ...{ maxPerDay: 0, reservePercent: 0, warmUp: null },
};

/** The relay that is always there: it captures mail locally. */
export const BUILTIN_INBOX: Relay = {
  name: INBOX,
  type: 'inbox',
  limits: INBOX_LIMITS,
  origin: 'builtin',
  disabled: false,
  smtp: null,
  mx: null,
  provider: null,
};

/** Reads one definition, as it stands in the file, in the store or on the command line. */
export function readRelay(source: RelaySource): RelayReading {
  const { raw } = source;
  if (!isRecord(raw)) return refuse([relayFault(source, '', undefined, 'must be a map of fields')]);
  const faults = Object.keys(raw)
    .filter((name) => !ACCEPTED_NAMES.includes(name))
    .map((name) => relayFault(source, `.${name}`, undefined, unknownRule('field', name, ACCEPTED_NAMES)));
  const values = readFields(source, raw, faults);
  if (!isComplete(values)) return refuse(faults);
  // What lies in a file that cannot be read is given: one message is enough for one fault.
  const secretElsewhere =
    source.secretElsewhere === true ||
    SECRET_FIELDS.some((name) => raw[fileField(name)] !== undefined && !values[name]);
  faults.push(...clashFaults({ ...source, secretElsewhere }, values));
  return faults.length > 0 ? refuse(faults) : { relay: toRelay(values, source) };
}

function readFields(
  source: RelaySource,
  raw: Record<string, unknown>,
  faults: Fault[],
): Partial<RelayValues> {
  const given = { ...raw };
  for (const name of SECRET_FIELDS)
    if (raw[fileField(name)] !== undefined) given[name] = secretOf(name, source, raw, faults);
  const values: Partial<RelayValues> = {};
  for (const [name, field] of Object.entries(RELAY_FIELDS)) {
    const item = given[name];
    const value = item === undefined ? field.fallback : field.kind.read(item);
    if (value !== undefined) Object.assign(values, { [name]: value });
    else if (item === undefined) faults.push(relayFault(source, `.${name}`, undefined, 'must be given'));
    else {
      // Sound because the entries are the table's own.
      const rule = ruleFor(name, field, item, RELAY_TYPES);
      faults.push(fieldFault(source, name as RelayFieldName, item, rule));
    }
  }
  return values;
}

/** The text of the file that `x_file` names, as the value of `x`. */
function secretOf(
  name: SecretField,
  source: RelaySource,
  raw: Record<string, unknown>,
  faults: Fault[],
): unknown {
  const key = fileField(name);
  const path = raw[key];
  if (raw[name] !== undefined && raw[name] !== null)
    faults.push(relayFault(source, `.${key}`, undefined, `${name} is given too; keep one of them`));
  if (typeof path !== 'string' || path === '') {
    faults.push(relayFault(source, `.${key}`, undefined, 'must be a path'));
    return null;
  }
  try {
    return source.readSecret(path);
  } catch (error) {
    faults.push(relayFault(source, `.${key}`, path, `cannot be read: ${readError(error)}`));
    return null;
  }
}

/** Whether every field was given or has a fallback. */
function isComplete(values: Partial<RelayValues>): values is RelayValues {
  return FIELD_NAMES.every((name) => Object.hasOwn(values, name));
}

function toRelay(values: RelayValues, source: RelaySource): Relay {
  const { name, type } = values;
  const { origin } = source;
  const isPrivate = mayBePrivate(source, values);
  const smtp = type === 'smtp' ? smarthostOf(values, source.origin, isPrivate) : null;
  const mx = type === 'mx' ? mxOf(values, isPrivate) : null;
  const provider = providerOf(values, isPrivate);
  return { name, type, limits: limitsOf(values), origin, disabled: false, smtp, mx, provider };
}

function limitsOf(values: RelayValues): RelayLimits {
  const { type, warmup_start, warmup_per_day } = values;
  const taken = isProviderType(type) ? MOST_RECIPIENTS[type] : USUAL_RECIPIENTS;
  return {
    maxConcurrency: values.max_concurrency ?? USUAL_CONCURRENCY[type],
    maxRatePerSecond: values.max_rate_per_second,
    maxMessageBytes: values.max_message_bytes,
    // For most providers a message is whole or not at all: it must not be cut where they would take it.
    maxRecipients: values.max_recipients ?? taken,
    maxPerDay: values.max_per_day,
    reservePercent: values.quota_reserve_percent,
    warmUp:
      warmup_start === null
        ? null
        : { startDay: dayNumber(warmup_start), perDay: warmup_per_day ?? USUAL_WARM_UP },
  };
}

/** Whoever may change relays at run time may not reach what only this machine can. */
function smarthostOf(
  values: RelayValues,
  origin: RelaySource['origin'],
  isPrivate: boolean,
): SmarthostSettings {
  const { host, port, verify, username, password, auth } = values;
  const oauth = oauthOf(values, isPrivate);
  const tls = values.tls ?? 'required';
  const usualPort = tls === 'implicit' ? IMPLICIT_TLS_PORT : SUBMISSION_PORT;
  return {
    ...{ host: host ?? '', port: port ?? usualPort, tls, verify: verify ?? true, username, password },
    ...originOf(values),
    ...(auth !== null && { auth }),
    ...(oauth !== null && { oauth }),
    ...(origin === 'stored' && !isPrivate && { noLinkLocal: true }),
  };
}

function mxOf(values: RelayValues, allowPrivate: boolean): MxSettings {
  return {
    port: values.port ?? SMTP_PORT,
    tls: values.tls === 'required' ? 'required' : 'opportunistic',
    allowPrivate,
    maxPerDomain: values.max_per_domain ?? USUAL_PER_DOMAIN,
    presets: values.presets ?? true,
    ...originOf(values),
  };
}

function originOf({ helo, source_ips, ip_family }: RelayValues): OriginSettings {
  return { helo, sourceIps: source_ips, ipFamily: ip_family };
}

function fileField(name: SecretField): string {
  return `${name}_file`;
}

function refuse(faults: readonly Fault[]): RelayReading {
  return { relay: null, faults };
}

/** How the provider of a checked definition is spoken to; null for types that speak SMTP. */
function providerOf(values: RelayValues, allowPrivate: boolean): ProviderSettings | null {
  const { type, region } = values;
  if (!isProviderType(type)) return null;
  // Missing only where it cannot be read: such a relay is kept, and rests.
  const secret = values.secret ?? '';
  const at = (usual: string) => ({ endpoint: bare(values.endpoint ?? usual), allowPrivate, secret });
  switch (type) {
    case 'ses':
      return {
        ...at(sesEndpoint(region ?? '')),
        type,
        region: region ?? '',
        accessKeyId: values.access_key_id ?? '',
        configurationSet: values.configuration_set,
      };
    case 'mailgun':
      return { ...at(MAILGUN_ENDPOINTS[region === 'eu' ? 'eu' : 'us']), type, domain: values.domain ?? '' };
    case 'postmark':
      return { ...at(PUBLIC_ENDPOINTS.postmark), type, messageStream: values.message_stream };
    case 'graph':
      return {
        ...at(PUBLIC_ENDPOINTS.graph),
        type,
        tenant: values.tenant ?? '',
        clientId: values.client_id ?? '',
        mailbox: values.mailbox,
        authority: bare(values.authority ?? MICROSOFT_AUTHORITY),
      };
    case 'webhook':
      // The whole URL, whose last slash may matter.
      return { type, endpoint: values.url ?? '', allowPrivate, secret };
    default:
      return { ...at(PUBLIC_ENDPOINTS[type]), type };
  }
}

/** A base URL, to which paths are added. */
function bare(url: string): string {
  return url.replace(/\/+$/, '');
}
