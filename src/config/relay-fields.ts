import { OAUTH_PRESETS, RELAY_NAME } from '../domain/relay.ts';
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
  mailAddress,
  orNull,
  text,
} from './kinds.ts';
import {
  clientId,
  matching,
  printable,
  refreshToken,
  scope,
  secretText,
  serviceAccount,
  utcDay,
  webAddress,
} from './relay-kinds.ts';
import {
  type DeclaredType,
  GOOGLE_TOKEN_URL,
  MAILGUN_ENDPOINTS,
  MICROSOFT_AUTHORITY,
  PRESET_SCOPES,
  PROVIDER_TYPES,
  PUBLIC_ENDPOINTS,
  RELAY_TYPES,
  SMTP_TYPES,
  sesEndpoint,
  USUAL_CONCURRENCY,
  USUAL_RECIPIENTS,
  USUAL_WARM_UP,
} from './relay-types.ts';

/** The part of a form that a field is shown in; all but `main` are folded. */
export type FieldGroup = 'main' | 'oauth' | 'connection' | 'limits' | 'warmup';

/** How a form shows a field. */
interface Shown {
  readonly label: string;
  readonly group: FieldGroup;
  /** The types whose form shows it in another group. */
  readonly groupFor?: Readonly<Partial<Record<DeclaredType, FieldGroup>>>;
}

/** One field of a relay's definition. */
export interface RelayField<T> extends Shown {
  readonly kind: Kind<T>;
  /** Undefined: must be given. */
  readonly fallback: T | undefined;
  readonly meaning: string;
  /** The types that it means something to; null: all of them. */
  readonly types: readonly DeclaredType[] | null;
}

/** What null stands for. */
export const SUBMISSION_PORT = 587;
/** What null stands for with implicit TLS. */
export const IMPLICIT_TLS_PORT = 465;
/** What null stands for with type `mx`. */
export const SMTP_PORT = 25;
/** Most attempts at once to one recipient domain, unless said otherwise. */
export const USUAL_PER_DOMAIN = 20;
/** Percent of a day's recipients that are kept for mail of high priority, unless said otherwise. */
const USUAL_RESERVE = 5;

const MAX_SOURCE_IPS = 100;
const MAX_PER_DAY = 1_000_000_000;
const MAX_WARM_UP_DAYS = 366;
/** Types whose endpoint is the provider's, unless said otherwise. */
const ENDPOINT_TYPES = PROVIDER_TYPES.filter((type) => type !== 'webhook');

/** The fields of a relay, in the order in which they are documented. */
export const RELAY_FIELDS = {
  name: field(
    { label: 'Name', group: 'main' },
    text('1 to 64 of a-z 0-9 - _', (raw) => RELAY_NAME.test(raw)),
    undefined,
    'Its name in status, metrics and routes.',
  ),
  type: field(
    { label: 'Type', group: 'main' },
    choice(...RELAY_TYPES),
    undefined,
    "`smtp`, a smarthost; `mx`, the recipients' own servers; or a provider's API. The built-in relay `inbox` needs no entry.",
  ),
  host: field(
    { label: 'Host', group: 'main' },
    orNull(host),
    null,
    'Name or IP address of the smarthost. Required.',
    ['smtp'],
  ),
  port: field(
    { label: 'Port', group: 'main', groupFor: { mx: 'connection' } },
    orNull(integer(1, 65_535)),
    null,
    `Its port, or that of the recipients' servers. null means ${SUBMISSION_PORT}, ${IMPLICIT_TLS_PORT} with \`tls: implicit\`, and ${SMTP_PORT} for type \`mx\`.`,
    SMTP_TYPES,
  ),
  tls: field(
    { label: 'TLS', group: 'main', groupFor: { mx: 'connection' } },
    orNull(choice('required', 'opportunistic', 'implicit', 'none')),
    null,
    '`required`: STARTTLS or nothing; `opportunistic`: STARTTLS if offered; `implicit`: TLS from the first byte; `none`. null means `required`. Type `mx` knows `opportunistic`, which null means there, and `required`.',
    SMTP_TYPES,
  ),
  verify: field(
    { label: 'Check the certificate', group: 'connection' },
    orNull(flag),
    null,
    "Check the smarthost's certificate. null means true.",
    ['smtp'],
  ),
  username: field(
    { label: 'User name', group: 'main' },
    orNull(printable('a user name')),
    null,
    'User name for AUTH.',
    ['smtp'],
  ),
  password: field(
    { label: 'Password', group: 'main' },
    orNull(printable('a password')),
    null,
    'Password for AUTH. Better given as `password_file`, the path of a file that holds it.',
    ['smtp'],
  ),
  auth: field(
    { label: 'AUTH', group: 'oauth' },
    orNull(choice('plain', 'login', 'xoauth2')),
    null,
    'How to sign in: by password with AUTH `plain` or `login`, or by OAuth with `xoauth2`: access tokens are got and renewed, and sent by XOAUTH2, or by OAUTHBEARER where the smarthost offers that alone. null means `plain` or `login`, whichever it offers.',
    ['smtp'],
  ),
  preset: field(
    { label: 'Provider', group: 'oauth' },
    orNull(choice(...OAUTH_PRESETS)),
    null,
    `With \`auth: xoauth2\`, what is usual for a provider. \`microsoft\`: tokens for \`tenant\`, \`client_id\` and \`secret\` of an application with the right \`SMTP.SendAsApp\`. \`google\`: tokens from ${GOOGLE_TOKEN_URL} for \`client_id\`, \`secret\` and \`refresh_token\`, or for \`service_account\`.`,
    ['smtp'],
  ),
  region: field(
    { label: 'Region', group: 'main' },
    orNull(matching('a region such as eu-west-1, or with type mailgun us or eu', /^[a-z0-9-]{1,32}$/)),
    null,
    `\`ses\`: the region of AWS, such as eu-west-1; required. \`mailgun\`: \`us\`, which null means, or \`eu\`: where the domain is kept.`,
    ['ses', 'mailgun'],
  ),
  access_key_id: field(
    { label: 'Access key id', group: 'main' },
    orNull(matching('16 to 128 letters, digits and _', /^\w{16,128}$/)),
    null,
    'The id of the access key whose secret is `secret`; its user needs `ses:SendEmail` and `ses:SendRawEmail`, and for tests `ses:GetAccount`. Required.',
    ['ses'],
  ),
  configuration_set: field(
    { label: 'Configuration set', group: 'main' },
    orNull(matching('1 to 64 letters, digits, - and _', /^[A-Za-z0-9_-]{1,64}$/)),
    null,
    'The configuration set that mail is sent with.',
    ['ses'],
  ),
  domain: field(
    { label: 'Sending domain', group: 'main' },
    orNull(hostname),
    null,
    'The sending domain, as it is registered there. Required.',
    ['mailgun'],
  ),
  message_stream: field(
    { label: 'Message stream', group: 'main' },
    orNull(matching('1 to 64 letters, digits, - and _', /^[A-Za-z0-9_-]{1,64}$/)),
    null,
    "The message stream that mail is sent by. null means the server's default, `outbound`.",
    ['postmark'],
  ),
  tenant: field(
    { label: 'Tenant', group: 'main', groupFor: { smtp: 'oauth' } },
    orNull(matching("a directory's id or domain", /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/)),
    null,
    'The id or a domain of the Microsoft Entra tenant. Required with type `graph`, and with `preset: microsoft`.',
    ['smtp', 'graph'],
  ),
  client_id: field(
    { label: 'Client id', group: 'main', groupFor: { smtp: 'oauth' } },
    orNull(clientId),
    null,
    'The id of the application, or of the OAuth client. With type `graph`, where it is required, it needs the permission `Mail.Send`; with `preset: microsoft` the permission `SMTP.SendAsApp`.',
    ['smtp', 'graph'],
  ),
  refresh_token: field(
    { label: 'Refresh token', group: 'oauth' },
    orNull(refreshToken),
    null,
    "With `auth: xoauth2`, the refresh token that a user gave by consenting. It must be one that stays the same, as Google's do. Better given as `refresh_token_file`, the path of a file that holds it.",
    ['smtp'],
  ),
  service_account: field(
    { label: 'Service account (JSON)', group: 'oauth' },
    orNull(serviceAccount),
    null,
    'With `auth: xoauth2`, the JSON of a key of a Google service account with domain-wide delegation. Better given as `service_account_file`, the path of the file that Google gives.',
    ['smtp'],
  ),
  subject: field(
    { label: 'User it stands for', group: 'oauth' },
    orNull(mailAddress),
    null,
    'With `service_account`, the user for whom it asks. null means `username`.',
    ['smtp'],
  ),
  scope: field(
    { label: 'Scope', group: 'oauth' },
    orNull(scope),
    null,
    `With \`auth: xoauth2\`, what the tokens are for. null means ${PRESET_SCOPES.microsoft} with \`preset: microsoft\`, ${PRESET_SCOPES.google} with \`preset: google\`, and else none.`,
    ['smtp'],
  ),
  token_url: field(
    { label: 'Token URL', group: 'oauth' },
    orNull(webAddress),
    null,
    'With `auth: xoauth2`, where tokens are asked for. null means what `preset` says.',
    ['smtp'],
  ),
  mailbox: field(
    { label: 'Mailbox', group: 'main' },
    orNull(mailAddress),
    null,
    "The mailbox that sends. null means that of the message's From.",
    ['graph'],
  ),
  authority: field(
    { label: 'Authority', group: 'connection' },
    orNull(webAddress),
    null,
    `Where tokens are asked for. null means ${MICROSOFT_AUTHORITY}.`,
    ['graph'],
  ),
  url: field(
    { label: 'URL', group: 'main' },
    orNull(webAddress),
    null,
    'Where messages are posted to. Required.',
    ['webhook'],
  ),
  endpoint: field(
    { label: 'Endpoint', group: 'connection' },
    orNull(webAddress),
    null,
    `Where the API is. null means the provider's own: \`ses\` ${sesEndpoint('REGION')}, \`mailgun\` ${MAILGUN_ENDPOINTS.us} or ${MAILGUN_ENDPOINTS.eu}, \`postmark\` ${PUBLIC_ENDPOINTS.postmark}, \`sendgrid\` ${PUBLIC_ENDPOINTS.sendgrid}, \`resend\` ${PUBLIC_ENDPOINTS.resend}, \`graph\` ${PUBLIC_ENDPOINTS.graph}.`,
    ENDPOINT_TYPES,
  ),
  secret: field(
    { label: 'Secret', group: 'main', groupFor: { smtp: 'oauth' } },
    orNull(secretText),
    null,
    'What the provider knows us by: of `ses` the secret access key, of `mailgun`, `sendgrid` and `resend` an API key, of `postmark` the server token, of `graph` and of type `smtp` with `auth: xoauth2` a client secret, of `webhook` the key that signs. Better given as `secret_file`, the path of a file that holds it. Required with types that are not `smtp`.',
    ['smtp', ...PROVIDER_TYPES],
  ),
  helo: field(
    { label: 'HELO name', group: 'connection' },
    orNull(hostname),
    null,
    'Name given in EHLO. null means `server.hostname`.',
    SMTP_TYPES,
  ),
  source_ips: field(
    { label: 'Source addresses', group: 'connection' },
    listOf(address, 0, MAX_SOURCE_IPS),
    [],
    "Addresses of this machine to connect from, in turn. Empty means the system's choice.",
    SMTP_TYPES,
  ),
  ip_family: field(
    { label: 'IP version', group: 'connection' },
    choice('any', 'ipv4', 'ipv6'),
    'any',
    '`ipv4` or `ipv6`: connect over nothing else.',
    SMTP_TYPES,
  ),
  allow_private: field(
    { label: 'Private addresses', group: 'main' },
    orNull(flag),
    null,
    'Connect to hosts with private, loopback and other addresses that are not of the Internet, and speak plain HTTP where a URL says so. null means false. Only in the configuration file; for stored relays there is `delivery.private_relays`. With type `smtp` it is about `token_url`: a smarthost may have a private address anyway.',
    ['smtp', 'mx', ...PROVIDER_TYPES],
  ),
  max_per_domain: field(
    { label: 'Attempts per domain', group: 'connection' },
    orNull(integer(1, 10_000)),
    null,
    `Most attempts at once to one recipient domain. null means ${USUAL_PER_DOMAIN}.`,
    ['mx'],
  ),
  presets: field(
    { label: 'Known paces', group: 'connection' },
    orNull(flag),
    null,
    'Keep to the pace that is known of the big mailbox providers. null means true.',
    ['mx'],
  ),
  max_concurrency: field(
    { label: 'Concurrency', group: 'limits' },
    orNull(integer(1, 10_000)),
    null,
    `Most attempts at once, and most connections. null means ${USUAL_CONCURRENCY.smtp}, for type \`mx\` ${USUAL_CONCURRENCY.mx}, for \`graph\` ${USUAL_CONCURRENCY.graph}, for other providers ${USUAL_CONCURRENCY.ses}.`,
  ),
  max_rate_per_second: field(
    { label: 'Attempts per second', group: 'limits' },
    integer(0, 100_000),
    0,
    'Most attempts begun in a second. 0 means no limit.',
  ),
  max_message_bytes: field(
    { label: 'Message size (bytes)', group: 'limits' },
    bytes(0),
    0,
    'Larger messages fail without being tried. 0 means no limit of ours.',
  ),
  max_recipients: field(
    { label: 'Recipients per transaction', group: 'limits' },
    orNull(integer(1, 10_000)),
    null,
    `Most recipients in one transaction. null means ${USUAL_RECIPIENTS}, or as many as the provider takes; more than it takes is refused.`,
  ),
  max_per_day: field(
    { label: 'Recipients per day', group: 'limits' },
    integer(0, MAX_PER_DAY),
    0,
    'Most recipients handed over in a UTC day, over all nodes and restarts. 0 means no limit.',
  ),
  quota_reserve_percent: field(
    { label: 'Kept for high priority (%)', group: 'limits' },
    integer(0, 50),
    USUAL_RESERVE,
    "Percent of a day's recipients that only mail of high priority may use.",
  ),
  warmup_start: field(
    { label: 'Warm-up begins', group: 'warmup' },
    orNull(utcDay),
    null,
    'First day of the warm-up, in UTC: before it nothing is sent by this relay, and then each day as much as `warmup_per_day` says. null means no warm-up.',
  ),
  warmup_per_day: field(
    { label: 'Recipients on each day', group: 'warmup' },
    orNull(listOf(integer(1, MAX_PER_DAY), 1, MAX_WARM_UP_DAYS)),
    null,
    `Most recipients on the first day, the second, and so on; after the last of them \`max_per_day\` alone counts. null means ${USUAL_WARM_UP.join(', ')}.`,
  ),
};

type Fields = typeof RELAY_FIELDS;
/** The name of a field. */
export type RelayFieldName = keyof Fields;
/** Every field's value. */
export type RelayValues = {
  readonly [K in RelayFieldName]: Fields[K] extends RelayField<infer T> ? T : never;
};

/** What must be given, by type, besides name and type. */
export const REQUIRED_FIELDS: Readonly<Record<DeclaredType, readonly RelayFieldName[]>> = {
  smtp: ['host'],
  mx: [],
  ses: ['region', 'access_key_id', 'secret'],
  mailgun: ['domain', 'secret'],
  postmark: ['secret'],
  sendgrid: ['secret'],
  resend: ['secret'],
  graph: ['tenant', 'client_id', 'secret'],
  webhook: ['url', 'secret'],
};

function field<T>(
  shown: Shown,
  kind: Kind<T>,
  fallback: NoInfer<T> | undefined,
  meaning: string,
  types: readonly DeclaredType[] | null = null,
): RelayField<T> {
  return { ...shown, kind, fallback, meaning, types };
}
