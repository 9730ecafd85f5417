import { RELAY_NAME } from '../domain/relay.ts';
import {
  address,
  bytes,
  choice,
  flag,
  host,
  hostname,
  integer,
  type Kind,
  listOf,
  orNull,
  text,
} from './kinds.ts';

/** One field of a relay's definition. */
export interface RelayField<T> {
  readonly kind: Kind<T>;
  /** Undefined: must be given. */
  readonly fallback: T | undefined;
  readonly meaning: string;
}

/** The types of relay that can be declared. */
export const RELAY_TYPES = ['smtp', 'mx'] as const;
/** One of them. */
export type DeclaredType = (typeof RELAY_TYPES)[number];

/** What null stands for. */
export const SUBMISSION_PORT = 587;
/** What null stands for with implicit TLS. */
export const IMPLICIT_TLS_PORT = 465;
/** What null stands for with type `mx`. */
export const SMTP_PORT = 25;
/** Most attempts at once, by type, unless said otherwise. */
export const USUAL_CONCURRENCY: Readonly<Record<DeclaredType, number>> = { smtp: 20, mx: 100 };

const MAX_SECRET = 1024;
const MAX_SOURCE_IPS = 100;

/** The fields of a relay, in the order in which they are documented. */
export const RELAY_FIELDS = {
  name: field(
    text('1 to 64 of a-z 0-9 - _', (raw) => RELAY_NAME.test(raw)),
    undefined,
    'Its name in status, metrics and routes.',
  ),
  type: field(
    choice(...RELAY_TYPES),
    undefined,
    "`smtp`, a smarthost, or `mx`, the recipients' own servers. The built-in relay `inbox` needs no entry.",
  ),
  host: field(
    orNull(host),
    null,
    'Name or IP address of the smarthost. Type `smtp` alone, and required there.',
  ),
  port: field(
    orNull(integer(1, 65_535)),
    null,
    `Its port, or that of the recipients' servers. null means ${SUBMISSION_PORT}, ${IMPLICIT_TLS_PORT} with \`tls: implicit\`, and ${SMTP_PORT} for type \`mx\`.`,
  ),
  tls: field(
    orNull(choice('required', 'opportunistic', 'implicit', 'none')),
    null,
    '`required`: STARTTLS or nothing; `opportunistic`: STARTTLS if offered; `implicit`: TLS from the first byte; `none`. null means `required`. Type `mx` knows `opportunistic`, which null means there, and `required`.',
  ),
  verify: field(orNull(flag), null, "Check the smarthost's certificate. null means true. Type `smtp` alone."),
  username: field(orNull(printable('a user name')), null, 'User name for AUTH. Type `smtp` alone.'),
  password: field(
    orNull(printable('a password')),
    null,
    'Password for AUTH. Better given as `password_file`, the path of a file that holds it. Type `smtp` alone.',
  ),
  helo: field(orNull(hostname), null, 'Name given in EHLO. null means `server.hostname`.'),
  source_ips: field(
    listOf(address, 0, MAX_SOURCE_IPS),
    [],
    "Addresses of this machine to connect from, in turn. Empty means the system's choice.",
  ),
  ip_family: field(choice('any', 'ipv4', 'ipv6'), 'any', '`ipv4` or `ipv6`: connect over nothing else.'),
  allow_private: field(
    orNull(flag),
    null,
    'Deliver to hosts with private, loopback and other addresses that are not of the Internet. null means false. Type `mx` alone, and only in the configuration file.',
  ),
  max_per_domain: field(
    orNull(integer(1, 10_000)),
    null,
    'Most attempts at once to one recipient domain. null means 20. Type `mx` alone.',
  ),
  max_concurrency: field(
    orNull(integer(1, 10_000)),
    null,
    `Most attempts at once, and most connections. null means ${USUAL_CONCURRENCY.smtp}, for type \`mx\` ${USUAL_CONCURRENCY.mx}.`,
  ),
  max_rate_per_second: field(integer(0, 100_000), 0, 'Most attempts begun in a second. 0 means no limit.'),
  max_message_bytes: field(
    bytes(0),
    0,
    'Larger messages fail without being tried. 0 means no limit of ours.',
  ),
  max_recipients: field(integer(1, 10_000), 100, 'Most recipients in one transaction.'),
};

type Fields = typeof RELAY_FIELDS;
/** The name of a field. */
export type RelayFieldName = keyof Fields;
/** Every field's value. */
export type RelayValues = {
  readonly [K in RelayFieldName]: Fields[K] extends RelayField<infer T> ? T : never;
};

/** The fields that mean something to one type alone. */
export const FIELDS_OF_TYPE: Readonly<Record<DeclaredType, readonly RelayFieldName[]>> = {
  smtp: ['host', 'verify', 'username', 'password'],
  mx: ['allow_private', 'max_per_domain'],
};

function printable(what: string): Kind<string> {
  const rule = `${what} of 1 to ${MAX_SECRET} characters without control characters`;
  return text(rule, (raw) => raw.length > 0 && raw.length <= MAX_SECRET && !/[\x00-\x1f\x7f]/.test(raw));
}

function field<T>(kind: Kind<T>, fallback: NoInfer<T> | undefined, meaning: string): RelayField<T> {
  return { kind, fallback, meaning };
}
