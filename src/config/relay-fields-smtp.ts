import { OAUTH_PRESETS, RETURN_PATHS } from '../domain/relay.ts';
import { address, choice, flag, host, hostname, integer, listOf, orNull } from './kinds.ts';
import { field } from './relay-field.ts';
import { printable } from './relay-kinds.ts';
import { GOOGLE_TOKEN_URL, SMTP_TYPES } from './relay-types.ts';

/** The meaning of null. */
export const SUBMISSION_PORT = 587;
/** The meaning of null with implicit TLS. */
export const IMPLICIT_TLS_PORT = 465;
/** The meaning of null for type `mx`. */
export const SMTP_PORT = 25;
/** The default for the most attempts at once to one recipient domain. */
export const USUAL_PER_DOMAIN = 20;

const MAX_SOURCE_IPS = 100;

/** The fields of relays that speak SMTP. */
export const SMTP_FIELDS = {
  host: field(orNull(host), null, {
    label: 'Host',
    group: 'main',
    types: ['smtp'],
    requiredFor: ['smtp'],
    binds: true,
    option: { value: '<host>', help: 'name or address of the smarthost' },
    meaning: 'Name or IP address of the smarthost.',
  }),
  port: field(orNull(integer(1, 65_535)), null, {
    label: 'Port',
    group: 'main',
    types: SMTP_TYPES,
    binds: true,
    option: {
      value: '<port>',
      help: `its port (default: ${SUBMISSION_PORT}, or ${IMPLICIT_TLS_PORT} with --tls implicit; with type mx ${SMTP_PORT})`,
    },
    meaning: `Its port, or that of the recipients' servers. null means ${SUBMISSION_PORT}, ${IMPLICIT_TLS_PORT} with \`tls: implicit\`, and ${SMTP_PORT} for type \`mx\`.`,
    byType: {
      smtp: {
        meaning: `Empty means ${SUBMISSION_PORT}, and ${IMPLICIT_TLS_PORT} where TLS is \`implicit\`.`,
      },
      mx: { group: 'connection', meaning: `Empty means ${SMTP_PORT}.` },
    },
  }),
  tls: field(orNull(choice('required', 'opportunistic', 'implicit', 'none')), null, {
    label: 'TLS',
    group: 'main',
    types: SMTP_TYPES,
    binds: true,
    option: {
      value: '<mode>',
      help: 'how the connection is secured (default: required, with type mx opportunistic)',
    },
    meaning:
      '`required`: STARTTLS or nothing; `opportunistic`: STARTTLS if offered; `implicit`: TLS from the first byte; `none`. null means `required`. Type `mx` allows `opportunistic`, which null means there, and `required`.',
    byType: {
      smtp: {
        meaning:
          '`required` (the default): STARTTLS or nothing. `opportunistic`: STARTTLS if offered. `implicit`: TLS from the first byte. `none`: in clear, and without a password.',
      },
      mx: {
        group: 'connection',
        kind: choice('opportunistic', 'required'),
        meaning: '`opportunistic` (the default): STARTTLS if offered. `required`: STARTTLS or nothing.',
      },
    },
  }),
  verify: field(orNull(flag), null, {
    label: 'Check the certificate',
    group: 'connection',
    types: ['smtp'],
    binds: true,
    option: { flag: '--no-verify', value: '', help: 'do not check its certificate' },
    meaning: "Check the smarthost's certificate. null means true.",
  }),
  username: field(orNull(printable('a user name')), null, {
    label: 'User name',
    group: 'main',
    types: ['smtp'],
    option: { value: '<name>', help: 'user name for AUTH' },
    meaning: 'User name for AUTH.',
  }),
  password: field(orNull(printable('a password')), null, {
    label: 'Password',
    group: 'main',
    types: ['smtp'],
    secret: true,
    option: { value: '<file>', help: 'file with the password for AUTH' },
    meaning: 'Password for AUTH. Better given as `password_file`, the path of a file that contains it.',
    byType: { smtp: { meaning: 'Password for AUTH.' } },
  }),
  auth: field(orNull(choice('plain', 'login', 'xoauth2')), null, {
    label: 'AUTH',
    group: 'oauth',
    types: ['smtp'],
    binds: true,
    option: { value: '<how>', help: 'how to sign in (default: plain or login, whichever it offers)' },
    meaning:
      'How to sign in: by password with AUTH `plain` or `login`, or by OAuth with `xoauth2`: access tokens are requested and renewed, and sent by XOAUTH2, or by OAUTHBEARER if the smarthost offers only that. null means `plain` or `login`, whichever it offers.',
  }),
  preset: field(orNull(choice(...OAUTH_PRESETS)), null, {
    label: 'Provider',
    group: 'oauth',
    types: ['smtp'],
    oauth: true,
    binds: true,
    option: { value: '<provider>', help: 'defaults for the provider' },
    meaning: `With \`auth: xoauth2\`, the defaults of a provider. \`microsoft\`: tokens for \`tenant\`, \`client_id\` and \`secret\` of an application with the right \`SMTP.SendAsApp\`. \`google\`: tokens from ${GOOGLE_TOKEN_URL} for \`client_id\`, \`secret\` and \`refresh_token\`, or for \`service_account\`.`,
  }),
  helo: field(orNull(hostname), null, {
    label: 'HELO name',
    group: 'connection',
    types: SMTP_TYPES,
    option: { value: '<name>', help: 'name given in EHLO (default: server.hostname)' },
    meaning: 'Name given in EHLO. null means `server.hostname`.',
  }),
  source_ips: field(listOf(address, 0, MAX_SOURCE_IPS), [], {
    label: 'Source addresses',
    group: 'connection',
    types: SMTP_TYPES,
    option: {
      flag: '--source-ip',
      value: '<address>',
      help: 'connect from this address; may be repeated, each in turn',
    },
    meaning: "Addresses of this machine to connect from, in turn. Empty means the system's choice.",
  }),
  ip_family: field(choice('any', 'ipv4', 'ipv6'), 'any', {
    label: 'IP version',
    group: 'connection',
    types: SMTP_TYPES,
    option: { value: '<family>', help: 'use only this family (default: any)' },
    meaning: '`ipv4` or `ipv6`: use only this family.',
  }),
  return_path: field(choice(...RETURN_PATHS), 'auto', {
    label: 'Return path',
    group: 'connection',
    types: SMTP_TYPES,
    option: { value: '<how>', help: 'where bounces of its mail go: auto, verp or keep (default: auto)' },
    meaning:
      'Where bounces of its mail go. `verp`: to an address of the bounce domain (`bounces.domain`, or the sending domain’s own) that names the recipient, so that the record tells of them; `keep`: to the address that the sender gave. `auto` is `verp` for type `mx` where there is a bounce domain, and `keep` otherwise: a smarthost may allow only known senders.',
  }),
  max_per_domain: field(orNull(integer(1, 10_000)), null, {
    label: 'Attempts per domain',
    group: 'connection',
    types: ['mx'],
    option: { value: '<n>', help: `most attempts at once to one domain (default: ${USUAL_PER_DOMAIN})` },
    meaning: `Most attempts at once to one recipient domain. null means ${USUAL_PER_DOMAIN}.`,
  }),
  presets: field(orNull(flag), null, {
    label: 'Known paces',
    group: 'connection',
    types: ['mx'],
    option: {
      flag: '--no-presets',
      value: '',
      help: 'do not respect the known limits of big mailbox providers',
    },
    meaning: 'Respect the known limits of the big mailbox providers. null means true.',
  }),
};
