/** The options that describe a relay, each for one field of its definition. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import type { RelayFieldName } from '../config/relay-fields.ts';
import type { GivenSecret, SecretField } from '../config/relay-secrets.ts';
import { isProviderType, RELAY_TYPES } from '../config/relay-types.ts';
import { OAUTH_PRESETS } from '../domain/relay.ts';
import { OperationError } from '../operations/call.ts';
import { type CommonOptions, type Context, collect, wholeNumber } from './context.ts';
import { Exit, promptForSecret, readSecretFile } from './terminal.ts';

/** What describes a relay, besides the options for single fields. */
export interface DescribingOptions extends CommonOptions {
  readonly type?: string;
  readonly auth?: string;
  readonly passwordFile?: string;
  readonly secretFile?: string;
  readonly refreshTokenFile?: string;
  readonly serviceAccountFile?: string;
}

/** An option, and the field it gives. */
interface FieldOption {
  readonly field: RelayFieldName;
  readonly flags: string;
  readonly help: string;
  readonly choices?: readonly string[];
  readonly parse?: (text: string, earlier: never) => unknown;
}

const port = wholeNumber(1, 65_535);
const many = wholeNumber(1, 10_000);

const FIELD_OPTIONS: readonly FieldOption[] = [
  option('host', '--host <host>', 'smtp: name or address of the smarthost; required'),
  option(
    'port',
    '--port <port>',
    'smtp, mx: its port (default: 587, or 465 with --tls implicit; with type mx 25)',
    port,
  ),
  {
    ...option(
      'tls',
      '--tls <mode>',
      'smtp, mx: how the connection is secured (default: required, with type mx opportunistic)',
    ),
    choices: ['required', 'opportunistic', 'implicit', 'none'],
  },
  option('verify', '--no-verify', 'smtp: do not check its certificate'),
  option('username', '--username <name>', 'smtp: user name for AUTH'),
  {
    ...option('auth', '--auth <how>', 'smtp: how to sign in (default: plain or login, whichever it offers)'),
    choices: ['plain', 'login', 'xoauth2'],
  },
  {
    ...option('preset', '--preset <provider>', 'smtp with --auth xoauth2: what is usual for the provider'),
    choices: OAUTH_PRESETS,
  },
  option('helo', '--helo <name>', 'smtp, mx: name given in EHLO (default: server.hostname)'),
  option(
    'source_ips',
    '--source-ip <address>',
    'smtp, mx: connect from it; may be repeated, each in its turn',
    collect,
  ),
  {
    ...option('ip_family', '--ip-family <family>', 'smtp, mx: connect over nothing else (default: any)'),
    choices: ['any', 'ipv4', 'ipv6'],
  },
  option(
    'max_per_domain',
    '--max-per-domain <n>',
    'mx: most attempts at once to one domain (default: 20)',
    many,
  ),
  option('presets', '--no-presets', 'mx: do not keep to the pace that is known of big mailbox providers'),
  option(
    'region',
    '--region <region>',
    'ses: region of AWS, such as eu-west-1, required; mailgun: us (default) or eu',
  ),
  option('access_key_id', '--access-key-id <id>', 'ses: id of the access key; required'),
  option('configuration_set', '--configuration-set <name>', 'ses: configuration set to send with'),
  option('domain', '--domain <domain>', 'mailgun: the sending domain; required'),
  option(
    'message_stream',
    '--message-stream <id>',
    'postmark: message stream to send by (default: outbound)',
  ),
  option(
    'tenant',
    '--tenant <tenant>',
    'graph, smtp with --preset microsoft: id or domain of the tenant; required',
  ),
  option(
    'client_id',
    '--client-id <id>',
    'graph, smtp with --auth xoauth2: id of the application or OAuth client',
  ),
  option(
    'subject',
    '--subject <address>',
    'smtp with --service-account-file: user it stands for (default: --username)',
  ),
  option('scope', '--scope <scope>', "smtp with --auth xoauth2: what tokens are for (default: the preset's)"),
  option(
    'token_url',
    '--token-url <url>',
    "smtp with --auth xoauth2: where tokens are asked for (default: the preset's)",
  ),
  option('mailbox', '--mailbox <address>', "graph: mailbox that sends (default: that of the message's From)"),
  option('authority', '--authority <url>', "graph: where tokens are asked for (default: Microsoft's)"),
  option('url', '--url <url>', 'webhook: where messages are posted to; required'),
  option(
    'endpoint',
    '--endpoint <url>',
    "providers but webhook: where the API is (default: the provider's own)",
  ),
  option(
    'max_concurrency',
    '--max-concurrency <n>',
    'most attempts at once (default: smtp 20, mx 100, graph 4, others 10)',
    many,
  ),
  option(
    'max_rate_per_second',
    '--max-rate-per-second <n>',
    'most attempts begun in a second',
    wholeNumber(0, 100_000),
  ),
  option(
    'max_message_bytes',
    '--max-message-bytes <n>',
    'largest message it takes; 0: no limit',
    wholeNumber(0, Number.MAX_SAFE_INTEGER),
  ),
  option(
    'max_recipients',
    '--max-recipients <n>',
    'most recipients in one transaction (default: 100, or what the provider takes)',
    many,
  ),
  option('max_per_day', '--max-per-day <n>', 'most recipients in a UTC day', wholeNumber(0, 1_000_000_000)),
  option(
    'quota_reserve_percent',
    '--quota-reserve-percent <n>',
    'percent of a day kept for mail of high priority (default: 5)',
    wholeNumber(0, 50),
  ),
  option('warmup_start', '--warmup-start <date>', 'first day of a warm-up, in UTC, such as 2026-12-01'),
  option(
    'warmup_per_day',
    '--warmup-per-day <n,n,…>',
    'most recipients on its first day, the second, and so on (default: 50, doubling to 100000)',
    wholeNumbers,
  ),
];

/** Gives a command the options that describe a relay. */
export function withRelayOptions(command: Command, isTypeNeeded: boolean): Command {
  const type = new Option(
    '--type <type>',
    "smtp, a smarthost; mx, the recipients' own servers; or a provider",
  );
  command.addOption(type.choices(RELAY_TYPES).makeOptionMandatory(isTypeNeeded));
  for (const { flags, help, choices, parse } of FIELD_OPTIONS) {
    const made = new Option(flags, help);
    if (choices !== undefined) made.choices(choices);
    // Sound because commander passes back what the parser gave before.
    if (parse !== undefined) made.argParser(parse as (text: string, earlier: unknown) => unknown);
    command.addOption(made);
  }
  return command
    .option('--password-file <file>', 'smtp: file with the password for AUTH; - for the standard input')
    .option(
      '--secret-file <file>',
      'providers, smtp with --auth xoauth2: file with the key, token or secret; - for the standard input (default: asked for)',
    )
    .option(
      '--refresh-token-file <file>',
      'smtp with --auth xoauth2: file with the refresh token; - for the standard input',
    )
    .option(
      '--service-account-file <file>',
      'smtp with --auth xoauth2: JSON file of a key of a Google service account; - for the standard input',
    );
}

/** The options as a definition of the configuration file, without any secret. */
export function definitionOf(name: string, options: DescribingOptions): Record<string, unknown> {
  return { name, type: options.type, ...fieldsOf(options) };
}

/** The fields that options were given for. */
export function fieldsOf(options: object): Record<string, unknown> {
  const given = new Map<string, unknown>(Object.entries(options));
  const fields = FIELD_OPTIONS.flatMap(({ field, flags }) => {
    const made = new Option(flags);
    const value = given.get(made.attributeName());
    // An option that is there to switch something off: said nothing, it is the default of the type.
    const isSaid = made.negate ? value === false : value !== undefined;
    return isSaid ? [[field, value] as const] : [];
  });
  return Object.fromEntries(fields);
}

/** The options that name files of secrets, and the field that each is for. */
const SECRET_OPTIONS = {
  passwordFile: 'password',
  secretFile: 'secret',
  refreshTokenFile: 'refresh_token',
  serviceAccountFile: 'service_account',
} as const satisfies Partial<Record<keyof DescribingOptions, SecretField>>;

/** Whether any file of secrets is named. */
export function namesSecret(options: DescribingOptions): boolean {
  return secretFiles(options).length > 0;
}

/** Whether a secret will be read or asked for. Throws `Exit` where its option is another type's. */
export function takesSecret(options: DescribingOptions): boolean {
  const { type = '', auth, passwordFile } = options;
  const isProvider = isProviderType(type);
  if (isProvider && passwordFile !== undefined)
    throw new Exit(2, `Type ${type} has no password: give --secret-file.`);
  const other = secretFiles(options).find(({ field }) => field !== (isProvider ? 'secret' : 'password'));
  if (other !== undefined && !(type === 'smtp' && auth === 'xoauth2')) {
    const instead =
      type === 'smtp'
        ? ': a password for AUTH is given by --password-file, and others belong to --auth xoauth2'
        : '';
    throw new Exit(2, `Type ${type} has no such secret as ${other.flag}${instead}.`);
  }
  return isProvider || namesSecret(options);
}

/** The secrets that the options name; a provider's is asked for where no file is named. Throws `Exit`. */
export async function secretOf(
  options: DescribingOptions,
  { terminal }: Context,
): Promise<GivenSecret | null> {
  const { type = '' } = options;
  if (namesSecret(options) || !isProviderType(type)) return await givenSecretOf(options);
  return await promptForSecret(
    terminal,
    `${QUESTIONS[type]}: `,
    `A relay of type ${type} needs its ${QUESTIONS[type].toLowerCase()}: give --secret-file FILE, or --secret-file - and the secret on the standard input.`,
  );
}

/** The secrets in the files that are named, whatever the type; null where none is. Throws `Exit`. */
export async function givenSecretOf(options: DescribingOptions): Promise<GivenSecret | null> {
  const files = secretFiles(options);
  if (files.length === 0) return null;
  if (files.filter(({ path }) => path === '-').length > 1)
    throw new Exit(2, 'The standard input can hold one secret: name files for the others.');
  const secrets: Partial<Record<SecretField, string>> = {};
  for (const { field, path } of files)
    secrets[field] = await readSecretFile(path, field.replace('_', ' '), field === 'service_account');
  return secrets;
}

function secretFiles(options: DescribingOptions) {
  return Object.entries(SECRET_OPTIONS).flatMap(([option, field]) => {
    // Sound because the entries are the table's own.
    const path = options[option as keyof typeof SECRET_OPTIONS];
    return path === undefined ? [] : [{ field, path, flag: `--${field.replace('_', '-')}-file` }];
  });
}

/** What an operation on a definition gives; its errors name the options that were typed. */
export async function inOptions<T>(operation: Promise<T>): Promise<T> {
  return await operation.catch((error: unknown) => {
    if (!(error instanceof OperationError)) throw error;
    throw new OperationError(error.code, byOptions(error.message), { cause: error });
  });
}

const QUESTIONS = {
  ses: 'Secret access key',
  mailgun: 'API key',
  postmark: 'Server token',
  sendgrid: 'API key',
  resend: 'API key',
  graph: 'Client secret',
  webhook: 'Signing secret',
} as const;

function option(
  field: RelayFieldName,
  flags: string,
  help: string,
  parse?: (text: string, earlier: never) => unknown,
): FieldOption {
  return parse === undefined ? { field, flags, help } : { field, flags, help, parse };
}

function wholeNumbers(text: string): readonly number[] {
  const numbers = text.split(',').map((part) => (/^\s*\d{1,15}\s*$/.test(part) ? Number(part) : Number.NaN));
  if (!numbers.some(Number.isNaN)) return numbers;
  throw new InvalidArgumentError('It must be whole numbers with commas between them, such as 50,100,200.');
}

/** What is typed for a field that has no option by its own name. */
const OTHER_FLAGS: Readonly<Record<string, string>> = {
  name: 'name',
  type: '--type',
  secret: '--secret-file',
  password: '--password-file',
  refresh_token: '--refresh-token-file',
  service_account: '--service-account-file',
};
const TYPED_FAULT = /^relay[.](\w+)(?:\[\d+\])?(?: = (.*?))?: (.*) \(command line\)$/;

/** What is wrong with a definition, by the options that were typed and not by the fields that they stand for. */
function byOptions(message: string): string {
  return message.split('\n').map(faultByOption).join('\n');
}

function faultByOption(line: string): string {
  const [, field, value = '', rule = ''] = TYPED_FAULT.exec(line) ?? [];
  const flag = field === undefined ? null : flagOf(field);
  if (flag === null) return line;
  const shown = value === '' || flag.startsWith('--no-') ? '' : ` ${value}`;
  // That it may be left out is nothing to type.
  const said = rule.replace(/, or null$/, '').replace(/\b\w+_\w+\b/g, (word) => flagOf(word) ?? word);
  return `${flag}${shown}: ${said}`;
}

function flagOf(field: string): string | null {
  const own = FIELD_OPTIONS.find((known) => known.field === field)?.flags.split(' ')[0];
  return own ?? OTHER_FLAGS[field] ?? null;
}
