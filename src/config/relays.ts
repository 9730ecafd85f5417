import { isIPv6 } from 'node:net';
import {
  INBOX,
  type MxSettings,
  type OriginSettings,
  type Relay,
  type RelayLimits,
  type SmarthostSettings,
} from '../domain/relay.ts';
import { type Fault, readError, showValue, unknownRule } from './fault.ts';
import { isRecord } from './kinds.ts';
import {
  FIELDS_OF_TYPE,
  IMPLICIT_TLS_PORT,
  RELAY_FIELDS,
  RELAY_TYPES,
  type RelayValues,
  SMTP_PORT,
  SUBMISSION_PORT,
  USUAL_CONCURRENCY,
} from './relay-fields.ts';

/** Types of the contract that this version cannot start yet. */
const LATER_TYPES = ['ses', 'mailgun', 'postmark', 'sendgrid', 'resend', 'graph', 'webhook'];
/** Most attempts at once to one recipient domain, unless said otherwise. */
const USUAL_PER_DOMAIN = 20;

const FIELD_NAMES = Object.keys(RELAY_FIELDS);
/** Every name a definition may use. */
const ACCEPTED_NAMES = [...FIELD_NAMES, 'password_file'];

/** A definition, where it stands, and how to read what it points to. */
export interface RelaySource {
  readonly raw: unknown;
  /** Where it stands, such as `relays[0]`. */
  readonly key: string;
  readonly source: string;
  readonly origin: 'file' | 'stored';
  /** A secret file's text; throws with a message when it cannot be read. */
  readonly readSecret: (path: string) => string;
}

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
  if (!isRecord(raw)) return refuse([fault(source, '', undefined, 'must be a map of fields')]);
  const early = typeFault(source, raw['type']);
  if (early !== null) return refuse([early]);
  const faults = Object.keys(raw)
    .filter((name) => !ACCEPTED_NAMES.includes(name))
    .map((name) => fault(source, `.${name}`, undefined, unknownRule('field', name, ACCEPTED_NAMES)));
  const values = readFields(source, raw, faults);
  if (!isComplete(values)) return refuse(faults);
  faults.push(...clashFaults(source, values));
  return faults.length > 0 ? refuse(faults) : { relay: toRelay(values, source.origin) };
}

function readFields(
  source: RelaySource,
  raw: Record<string, unknown>,
  faults: Fault[],
): Partial<RelayValues> {
  const given = { ...raw };
  if (raw['password_file'] !== undefined) {
    if (raw['password'] !== undefined && raw['password'] !== null)
      faults.push(fault(source, '.password_file', undefined, 'password is given too; keep one of them'));
    given['password'] = secretOf(source, raw['password_file'], faults);
  }
  const values: Partial<RelayValues> = {};
  for (const [name, { kind, fallback }] of Object.entries(RELAY_FIELDS)) {
    const item = given[name];
    const value = item === undefined ? fallback : kind.read(item);
    if (value !== undefined) Object.assign(values, { [name]: value });
    else if (item === undefined) faults.push(fault(source, `.${name}`, undefined, 'must be given'));
    else
      faults.push(fault(source, `.${name}`, name === 'password' ? undefined : item, `must be ${kind.rule}`));
  }
  return values;
}

function secretOf(source: RelaySource, path: unknown, faults: Fault[]): unknown {
  if (typeof path !== 'string' || path === '') {
    faults.push(fault(source, '.password_file', undefined, 'must be a path'));
    return null;
  }
  try {
    return source.readSecret(path);
  } catch (error) {
    faults.push(fault(source, '.password_file', path, `cannot be read: ${readError(error)}`));
    return null;
  }
}

/** Whether every field was given or has a fallback. */
function isComplete(values: Partial<RelayValues>): values is RelayValues {
  return FIELD_NAMES.every((name) => Object.hasOwn(values, name));
}

function toRelay(values: RelayValues, origin: Relay['origin']): Relay {
  const { name, type } = values;
  const limits = {
    maxConcurrency: values.max_concurrency ?? USUAL_CONCURRENCY[type],
    maxRatePerSecond: values.max_rate_per_second,
    maxMessageBytes: values.max_message_bytes,
    maxRecipients: values.max_recipients,
    ...{ maxPerDay: 0, reservePercent: 0, warmUp: null },
  };
  const smtp = type === 'smtp' ? smarthostOf(values) : null;
  const mx = type === 'mx' ? mxOf(values) : null;
  return { name, type, limits, origin, disabled: false, smtp, mx, provider: null };
}

function smarthostOf(values: RelayValues): SmarthostSettings {
  const { host, port, verify, username, password } = values;
  const tls = values.tls ?? 'required';
  const usualPort = tls === 'implicit' ? IMPLICIT_TLS_PORT : SUBMISSION_PORT;
  return {
    ...{ host: host ?? '', port: port ?? usualPort, tls, verify: verify ?? true, username, password },
    ...originOf(values),
  };
}

function mxOf(values: RelayValues): MxSettings {
  return {
    port: values.port ?? SMTP_PORT,
    tls: values.tls === 'required' ? 'required' : 'opportunistic',
    allowPrivate: values.allow_private ?? false,
    maxPerDomain: values.max_per_domain ?? USUAL_PER_DOMAIN,
    presets: true,
    ...originOf(values),
  };
}

function originOf({ helo, source_ips, ip_family }: RelayValues): OriginSettings {
  return { helo, sourceIps: source_ips, ipFamily: ip_family };
}

/** What is wrong between fields that are each right by themselves. */
function clashFaults(source: RelaySource, values: RelayValues): Fault[] {
  const { name, type, host, tls, username, password } = values;
  const faults: Fault[] = [];
  if (name === INBOX) faults.push(fault(source, '.name', name, 'is built in and cannot be declared'));
  for (const other of RELAY_TYPES) if (other !== type) faults.push(...foreignFaults(source, values, other));
  if (type === 'smtp' && host === null) faults.push(fault(source, '.host', undefined, 'must be given'));
  if (type === 'mx' && (tls === 'implicit' || tls === 'none'))
    faults.push(fault(source, '.tls', tls, 'must be opportunistic or required with type mx'));
  if (username !== null && tls === 'none')
    faults.push(fault(source, '.tls', 'none', 'must not be none with a username: no AUTH without TLS'));
  if (password !== null && username === null && type === 'smtp')
    faults.push(fault(source, '.username', undefined, 'must be given with a password'));
  if (values.allow_private !== null && source.origin === 'stored')
    faults.push(
      fault(source, '.allow_private', values.allow_private, 'can be set in the configuration file only'),
    );
  return [...faults, ...familyFaults(source, values)];
}

/** Fields that only another type of relay has. */
function foreignFaults(
  source: RelaySource,
  values: RelayValues,
  other: keyof typeof FIELDS_OF_TYPE,
): Fault[] {
  const given = FIELDS_OF_TYPE[other].filter((name) => values[name] !== null);
  const rule = `means nothing to type ${values.type}; it is for type ${other}`;
  return given.map((name) => fault(source, `.${name}`, name === 'password' ? undefined : values[name], rule));
}

/** An address to connect from that the family forbids would never be used. */
function familyFaults(source: RelaySource, { ip_family, source_ips }: RelayValues): Fault[] {
  return source_ips.flatMap((address, index) => {
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (ip_family === 'any' || ip_family === family) return [];
    return [fault(source, `.source_ips[${index}]`, address, `is never used with ip_family: ${ip_family}`)];
  });
}

function typeFault(source: RelaySource, type: unknown): Fault | null {
  if (typeof type !== 'string' || !LATER_TYPES.includes(type)) return null;
  return fault(
    source,
    '.type',
    type,
    `is not in this version; it knows ${RELAY_TYPES.join(', ')} and the built-in inbox`,
  );
}

function fault(source: RelaySource, suffix: string, value: unknown, rule: string): Fault {
  const shown = value === undefined ? null : showValue(value);
  return { key: source.key + suffix, value: shown, rule, source: source.source };
}

function refuse(faults: readonly Fault[]): RelayReading {
  return { relay: null, faults };
}
