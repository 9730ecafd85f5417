import { INBOX, RELAY_NAME, type Relay, type RelayLimits, type TlsMode } from '../domain/relay.ts';
import { type Fault, showValue, unknownRule } from './fault.ts';
import { bytes, choice, flag, host, hostname, integer, isRecord, type Kind, orNull, text } from './kinds.ts';

/** One field of a relay's definition. */
export interface RelayField<T> {
  readonly kind: Kind<T>;
  /** Undefined: must be given. */
  readonly fallback: T | undefined;
  readonly meaning: string;
}

const TYPES = ['smtp'] as const;
/** Types of the contract that this version cannot start yet. */
const LATER_TYPES = ['mx', 'ses', 'mailgun', 'postmark', 'sendgrid', 'resend', 'graph', 'webhook'];
const SUBMISSION_PORT = 587;
const IMPLICIT_TLS_PORT = 465;
const MAX_SECRET = 1024;

/** The fields of a relay, in the order in which they are documented. */
export const RELAY_FIELDS = {
  name: field(
    text('1 to 64 of a-z 0-9 - _', (raw) => RELAY_NAME.test(raw)),
    undefined,
    'Its name in status, metrics and routes.',
  ),
  type: field(choice(...TYPES), undefined, '`smtp`, a smarthost. The built-in relay `inbox` needs no entry.'),
  host: field(host, undefined, 'Name or IP address of the smarthost.'),
  port: field(
    orNull(integer(1, 65_535)),
    null,
    `Its port. null means ${SUBMISSION_PORT}, or ${IMPLICIT_TLS_PORT} with \`tls: implicit\`.`,
  ),
  tls: field(
    choice('required', 'opportunistic', 'implicit', 'none') satisfies Kind<TlsMode>,
    'required',
    '`required`: STARTTLS or nothing; `opportunistic`: STARTTLS if offered; `implicit`: TLS from the first byte; `none`.',
  ),
  verify: field(flag, true, "Check the smarthost's certificate."),
  username: field(orNull(printable('a user name')), null, 'User name for AUTH.'),
  password: field(
    orNull(printable('a password')),
    null,
    'Password for AUTH. Better given as `password_file`, the path of a file that holds it.',
  ),
  helo: field(orNull(hostname), null, 'Name given in EHLO. null means `server.hostname`.'),
  max_concurrency: field(integer(1, 10_000), 20, 'Most attempts at once.'),
  max_rate_per_second: field(integer(0, 100_000), 0, 'Most attempts begun in a second. 0 means no limit.'),
  max_message_bytes: field(
    bytes(0),
    0,
    'Larger messages fail without being tried. 0 means no limit of ours.',
  ),
  max_recipients: field(integer(1, 10_000), 100, 'Most recipients in one transaction.'),
};

type Fields = typeof RELAY_FIELDS;
type FieldName = keyof Fields;
type Values = { readonly [K in FieldName]: Fields[K] extends RelayField<infer T> ? T : never };

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
};

/** The relay that is always there: it captures mail locally. */
export const BUILTIN_INBOX: Relay = {
  name: INBOX,
  type: 'inbox',
  limits: INBOX_LIMITS,
  origin: 'builtin',
  disabled: false,
  smtp: null,
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
  const relay = toRelay(values, source.origin);
  faults.push(...clashFaults(source, relay));
  return faults.length > 0 ? refuse(faults) : { relay };
}

function readFields(source: RelaySource, raw: Record<string, unknown>, faults: Fault[]): Partial<Values> {
  const given = { ...raw };
  if (raw['password_file'] !== undefined) {
    if (raw['password'] !== undefined && raw['password'] !== null)
      faults.push(fault(source, '.password_file', undefined, 'password is given too; keep one of them'));
    given['password'] = secretOf(source, raw['password_file'], faults);
  }
  const values: Partial<Values> = {};
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
    faults.push(fault(source, '.password_file', path, `cannot be read: ${String(error)}`));
    return null;
  }
}

/** Whether every field was given or has a fallback. */
function isComplete(values: Partial<Values>): values is Values {
  return FIELD_NAMES.every((name) => Object.hasOwn(values, name));
}

function toRelay(values: Values, origin: Relay['origin']): Relay {
  const { name, type, host: target, tls, verify, username, password, helo } = values;
  const limits = {
    maxConcurrency: values.max_concurrency,
    maxRatePerSecond: values.max_rate_per_second,
    maxMessageBytes: values.max_message_bytes,
    maxRecipients: values.max_recipients,
  };
  const usualPort = tls === 'implicit' ? IMPLICIT_TLS_PORT : SUBMISSION_PORT;
  const smtp = { host: target, port: values.port ?? usualPort, tls, verify, username, password, helo };
  return { name, type, limits, origin, disabled: false, smtp };
}

/** What is wrong between fields that are each right by themselves. */
function clashFaults(source: RelaySource, relay: Relay): Fault[] {
  const faults: Fault[] = [];
  if (relay.name === INBOX)
    faults.push(fault(source, '.name', relay.name, 'is built in and cannot be declared'));
  if (relay.smtp?.username != null && relay.smtp.tls === 'none')
    faults.push(fault(source, '.tls', 'none', 'must not be none with a username: no AUTH without TLS'));
  if (relay.smtp?.password != null && relay.smtp.username === null)
    faults.push(fault(source, '.username', undefined, 'must be given with a password'));
  return faults;
}

function typeFault(source: RelaySource, type: unknown): Fault | null {
  if (typeof type !== 'string' || !LATER_TYPES.includes(type)) return null;
  return fault(
    source,
    '.type',
    type,
    `is not in this version; it knows ${TYPES.join(', ')} and the built-in inbox`,
  );
}

function fault(source: RelaySource, suffix: string, value: unknown, rule: string): Fault {
  const shown = value === undefined ? null : showValue(value);
  return { key: source.key + suffix, value: shown, rule, source: source.source };
}

function refuse(faults: readonly Fault[]): RelayReading {
  return { relay: null, faults };
}

function printable(what: string): Kind<string> {
  const rule = `${what} of 1 to ${MAX_SECRET} characters without control characters`;
  return text(rule, (raw) => raw.length > 0 && raw.length <= MAX_SECRET && !/[\x00-\x1f\x7f]/.test(raw));
}

function field<T>(kind: Kind<T>, fallback: NoInfer<T> | undefined, meaning: string): RelayField<T> {
  return { kind, fallback, meaning };
}
