import {
  INBOX,
  type MxSettings,
  type ProviderSettings,
  type Relay,
  type RelayLimits,
  type SmarthostSettings,
} from '../domain/relay.ts';
import { readError } from '../lib/error.ts';
import { type Fault, unknownRule } from './fault.ts';
import { isRecord } from './kinds.ts';
import {
  clashFaults,
  fieldFault,
  mayBePrivate,
  oauthOf,
  type RelaySource,
  relayFault,
  ruleFor,
} from './relay-checks.ts';
import {
  limitValues,
  ownValues,
  RELAY_FIELDS,
  type RelayValues,
  SECRET_FIELDS,
  type SecretField,
} from './relay-fields.ts';
import { IMPLICIT_TLS_PORT, SMTP_PORT, SUBMISSION_PORT, USUAL_PER_DOMAIN } from './relay-fields-smtp.ts';
import { dayNumber } from './relay-kinds.ts';
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

const FIELD_NAMES: readonly string[] = RELAY_FIELDS.map(({ name }) => name);
/** Every name allowed in a definition. */
const ACCEPTED_NAMES = [...FIELD_NAMES, ...SECRET_FIELDS.map(fileField)];

/** A relay, or the faults of its definition. */
export type RelayReading =
  | { readonly relay: Relay }
  | { readonly relay: null; readonly faults: readonly Fault[] };

/** The limits of the built-in inbox, which is local and so wide. */
const INBOX_LIMITS: RelayLimits = {
  maxConcurrency: 16,
  maxRatePerSecond: 0,
  maxMessageBytes: 0,
  maxRecipients: 1000,
  maxPerDay: 0,
  reservePercent: 0,
  warmUp: null,
};

/** The relay that always exists: it captures mail locally. */
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

/** Reads one definition, as written in the file, in the store or on the command line. */
export function readRelay(source: RelaySource): RelayReading {
  const { raw } = source;
  if (!isRecord(raw)) return refuse([relayFault(source, '', undefined, 'must be a map of fields')]);
  const faults = Object.keys(raw)
    .filter((name) => !ACCEPTED_NAMES.includes(name))
    .map((name) => relayFault(source, `.${name}`, undefined, unknownRule('field', name, ACCEPTED_NAMES)));
  const values = readFields(source, raw, faults);
  if (!isComplete(values)) return refuse(faults);
  // An unreadable file counts as given: one fault is enough.
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
  for (const field of RELAY_FIELDS) {
    const { name, fallback, kind } = field;
    const item = given[name];
    const value = item === undefined ? fallback : kind.read(item);
    if (value !== undefined) Object.assign(values, { [name]: value });
    else if (item === undefined) faults.push(relayFault(source, `.${name}`, undefined, 'must be given'));
    else faults.push(fieldFault(source, name, item, ruleFor(field, item, RELAY_TYPES)));
  }
  return values;
}

/** The text of the file named by `x_file`, as the value of `x`. */
function secretOf(
  name: SecretField,
  source: RelaySource,
  raw: Record<string, unknown>,
  faults: Fault[],
): unknown {
  const key = fileField(name);
  const path = raw[key];
  if (raw[name] !== undefined && raw[name] !== null)
    faults.push(relayFault(source, `.${key}`, undefined, `${name} is given too; keep only one of them`));
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

/** Whether every field was given or has a default. */
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
  const { type } = values;
  const { warmupStart, warmupPerDay, quotaReservePercent, ...limits } = limitValues(values);
  const taken = isProviderType(type) ? MOST_RECIPIENTS[type] : USUAL_RECIPIENTS;
  return {
    ...limits,
    maxConcurrency: limits.maxConcurrency ?? USUAL_CONCURRENCY[type],
    // Most providers accept a message as a whole or not at all: it must not be split if they would take it.
    maxRecipients: limits.maxRecipients ?? taken,
    reservePercent: quotaReservePercent,
    warmUp:
      warmupStart === null
        ? null
        : { startDay: dayNumber(warmupStart), perDay: warmupPerDay ?? USUAL_WARM_UP },
  };
}

/** A user who may change relays at run time must not reach what only this machine can. */
function smarthostOf(
  values: RelayValues,
  origin: RelaySource['origin'],
  isPrivate: boolean,
): SmarthostSettings {
  const { auth, ...own } = ownValues('smtp', values);
  const oauth = oauthOf(values, isPrivate);
  return {
    ...own,
    host: own.host ?? '',
    port: own.port ?? (own.tls === 'implicit' ? IMPLICIT_TLS_PORT : SUBMISSION_PORT),
    tls: own.tls ?? 'required',
    verify: own.verify ?? true,
    ...(auth !== null && { auth }),
    ...(oauth !== null && { oauth }),
    ...(origin === 'stored' && !isPrivate && { noLinkLocal: true }),
  };
}

function mxOf(values: RelayValues, allowPrivate: boolean): MxSettings {
  const own = ownValues('mx', values);
  return {
    ...own,
    port: own.port ?? SMTP_PORT,
    tls: own.tls === 'required' ? 'required' : 'opportunistic',
    allowPrivate,
    maxPerDomain: own.maxPerDomain ?? USUAL_PER_DOMAIN,
    presets: own.presets ?? true,
  };
}

function fileField(name: SecretField): string {
  return `${name}_file`;
}

function refuse(faults: readonly Fault[]): RelayReading {
  return { relay: null, faults };
}

/** The provider settings of a checked definition; null for SMTP types. */
function providerOf(values: RelayValues, allowPrivate: boolean): ProviderSettings | null {
  const { type } = values;
  if (!isProviderType(type)) return null;
  // Missing only if it cannot be read: such a relay is kept, and rests.
  const secret = values.secret ?? '';
  const at = (usual: string) => ({ endpoint: bare(values.endpoint ?? usual), allowPrivate, secret });
  switch (type) {
    case 'ses': {
      const own = ownValues(type, values);
      const region = own.region ?? '';
      return { ...own, ...at(sesEndpoint(region)), type, region, accessKeyId: own.accessKeyId ?? '' };
    }
    case 'mailgun': {
      const { region, ...own } = ownValues(type, values);
      const endpoint = MAILGUN_ENDPOINTS[region === 'eu' ? 'eu' : 'us'];
      return { ...own, ...at(endpoint), type, domain: own.domain ?? '' };
    }
    case 'postmark':
      return { ...ownValues(type, values), ...at(PUBLIC_ENDPOINTS.postmark), type };
    case 'graph': {
      const own = ownValues(type, values);
      const authority = bare(own.authority ?? MICROSOFT_AUTHORITY);
      const application = { tenant: own.tenant ?? '', clientId: own.clientId ?? '', authority };
      return { ...own, ...at(PUBLIC_ENDPOINTS.graph), type, ...application };
    }
    case 'webhook': {
      const { url, ...own } = ownValues(type, values);
      // The whole URL, whose trailing slash may matter.
      return { ...own, type, endpoint: url ?? '', allowPrivate, secret };
    }
    default:
      return { ...ownValues(type, values), ...at(PUBLIC_ENDPOINTS[type]), type };
  }
}

/** A base URL, to which paths are appended. */
function bare(url: string): string {
  return url.replace(/\/+$/, '');
}
