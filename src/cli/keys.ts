import { Command } from 'commander';
import { SCOPES, type Scope } from '../domain/key.ts';
import {
  type CommandForm,
  flag,
  integer,
  list,
  readTime,
  text,
  time,
  wordList,
} from '../operations/command.ts';
import type { CreatedKey, KeyView } from '../operations/keys.ts';
import type { Operations, RequestOf } from '../operations/table.ts';
import {
  type CommonOptions,
  type Context,
  collect,
  collectFrom,
  command,
  orInvalid,
  print,
  wholeNumber,
} from './context.ts';
import { operationCommand } from './operation-command.ts';
import { withOperations } from './session.ts';
import { counted, Exit, table } from './terminal.ts';

/** Most requests a minute that a key may be given. */
const MAX_RATE = 10_000_000;
/** Most days that a key's contents may be kept. */
const MAX_CONTENT_DAYS = 3650;
/** Keys as a table, or that there are none. */
function keyTable(keys: readonly KeyView[]): string {
  if (keys.length === 0) return 'There are no keys. Make one with: waybill keys create NAME';
  const rows = keys.map((key) => [
    key.name,
    `${key.prefix}…`,
    key.revokedAt === null ? key.mode : 'revoked',
    key.scopes.join(' '),
    key.rateLimit === null ? 'default' : String(key.rateLimit),
    key.contentDays === null ? 'default' : counted(key.contentDays, 'day'),
    key.createdAt,
    key.lastUsedAt ?? 'never',
    key.expiresAt ?? 'never',
    key.cidrs.length === 0 ? 'anywhere' : key.cidrs.join(' '),
    key.senderDomains.length === 0 ? 'any' : key.senderDomains.join(' '),
  ]);
  return table(
    [
      'NAME',
      'KEY',
      'STATE',
      'SCOPES',
      'RATE',
      'KEEPS',
      'CREATED',
      'LAST USED',
      'EXPIRES',
      'USED FROM',
      'SENDS AS',
    ],
    rows,
  );
}

type Form<K extends keyof Operations> = CommandForm<Parameters<Operations[K]>[0]>;

const KEY = text('<key>', 'name or id');
const DEFAULT_SCOPES: readonly Scope[] = ['messages:send', 'messages:read'];

const CREATE: Form<'createKey'> = {
  words: 'keys create',
  summary: 'make an API key and show its secret, this once',
  examples: [
    'waybill keys create shop',
    'waybill keys create tests --test --quiet',
    'waybill keys create monitor --scope messages:read --scope messages:read_all',
    'waybill keys create partner --expires 90d --cidr 192.0.2.0/24 --sender-domain shop.example',
  ],
  takes: {
    name: text('<name>', 'name to know it by'),
    test: flag('--test', 'a test key: its mail is captured here and never leaves'),
    scopes: wordList('--scope <scope>', `one of ${SCOPES.join(', ')}; may be given several times`, SCOPES, {
      absent: DEFAULT_SCOPES,
    }),
    rateLimit: integer('--rate <n>', 'requests a minute; 0 for no limit', [0, MAX_RATE], {
      absent: null,
    }),
    expiresAt: time(
      '--expires <when>',
      'end it then: a time such as 2027-01-31T12:00:00Z, or in so many days: 90d',
    ),
    cidrs: list('--cidr <range>', 'accept it only from there; may be given several times'),
    senderDomains: list(
      '--sender-domain <domain>',
      'let it send only from there; may be given several times',
    ),
    contentDays: integer(
      '--content-days <n>',
      "keep contents so many days after a message's end, 0 for not at all (default: retention.content_days)",
      [0, MAX_CONTENT_DAYS],
      { absent: null },
    ),
  },
};

const LIST: Form<'listKeys'> = {
  words: 'keys list',
  summary: 'show all API keys, never their secrets',
  examples: ['waybill keys list', 'waybill keys list --json'],
  takes: {},
};

const REVOKE: Form<'revokeKey'> = {
  words: 'keys revoke',
  summary: 'end a key at once; what it has queued is still delivered',
  examples: ['waybill keys revoke shop', 'waybill keys revoke shop --cancel-queued'],
  takes: {
    key: KEY,
    cancelQueued: flag('--cancel-queued', 'cancel what it has queued; also of a key that is revoked already'),
  },
};

const ROTATE: Form<'rotateKey'> = {
  words: 'keys rotate',
  summary: 'give a key a new secret; the old one works for another 24 hours',
  examples: ['waybill keys rotate shop'],
  takes: { key: KEY },
};

const QUIET = { meaning: 'print the secret alone', says: ({ secret }: CreatedKey) => secret };

/** `waybill keys …`: the API keys. */
export function keysCommand(context: Context): Command {
  return new Command('keys')
    .description('API keys: create, list, update, revoke, rotate')
    .addCommand(operationCommand(context, 'createKey', CREATE, { quiet: QUIET, says: secretText }))
    .addCommand(operationCommand(context, 'listKeys', LIST, { says: keyTable }))
    .addCommand(updateCommand(context))
    .addCommand(
      operationCommand(context, 'revokeKey', REVOKE, {
        says: ({ name, prefix, cancelled }, { request }) =>
          `Revoked ${name} (${prefix}…).${request.cancelQueued ? ` Messages cancelled: ${cancelled}.` : ''}`,
      }),
    )
    .addCommand(
      operationCommand(context, 'rotateKey', ROTATE, {
        quiet: QUIET,
        says: (rotated) =>
          `${secretText(rotated)}\nThe old secret works until ${rotated.oldSecretUntil}; put the new one in its place before then.`,
      }),
    );
}

/** A secret, and below it that it is the key's. */
function secretText({ key, secret }: CreatedKey): string {
  return `${secret}\n\nThis is the secret of ${key.name}. It is not shown again.`;
}

interface UpdateOptions extends CommonOptions {
  readonly name?: string;
  readonly scope?: readonly Scope[];
  readonly rate?: number | 'default';
  readonly expires?: string;
  readonly cidr?: readonly string[];
  readonly anywhere?: true;
  readonly senderDomain?: readonly string[];
  readonly anySender?: true;
  readonly contentDays?: number | 'default';
}

const USAGE = 2;

/** `waybill keys update KEY`. */
function updateCommand(context: Context): Command {
  return command('update', 'change what a key may do; its secret stays', [
    'waybill keys update shop --rate 500 --expires 90d',
    'waybill keys update shop --rate default --expires never',
    'waybill keys update partner --cidr 192.0.2.0/24 --cidr 198.51.100.7 --any-sender',
  ])
    .argument('<key>', 'name or id')
    .option('--name <name>', 'another name to know it by')
    .option('--scope <scope>', `in the place of all it has: ${SCOPES.join(', ')}`, collectFrom(SCOPES))
    .option('--rate <n>', 'requests a minute; 0 for no limit, default for the setting', orDefault(MAX_RATE))
    .option('--expires <when>', 'end it then: a time, in so many days such as 90d, or never', (text) =>
      text === 'never' ? text : orInvalid(() => readTime(text, context.clock.wall())),
    )
    .option('--cidr <range>', 'accept it only from there, in the place of all ranges it has', collect)
    .option('--anywhere', 'accept it from anywhere')
    .option('--sender-domain <domain>', 'let it send only from there, in the place of all it has', collect)
    .option('--any-sender', 'let it send from any domain')
    .option(
      '--content-days <n>',
      "keep contents so many days after a message's end, default for the setting",
      orDefault(MAX_CONTENT_DAYS),
    )
    .action(async (key: string, options: UpdateOptions) => {
      const request = requestOf(key, options);
      await withOperations(context, options, {}, async (operations) => {
        const changed = await operations.updateKey(request);
        print(context, options, changed, () => keyTable([changed]));
      });
    });
}

function requestOf(key: string, options: UpdateOptions): RequestOf<'updateKey'> {
  const { name, scope, rate, expires, contentDays } = options;
  const cidrs = listOf(options.cidr, options.anywhere, '--cidr', '--anywhere');
  const senderDomains = listOf(options.senderDomain, options.anySender, '--sender-domain', '--any-sender');
  const changes = {
    ...(name === undefined ? {} : { name }),
    ...(scope === undefined ? {} : { scopes: [...scope] }),
    ...(rate === undefined ? {} : { rateLimit: rate === 'default' ? null : rate }),
    ...(expires === undefined ? {} : { expiresAt: expires === 'never' ? null : expires }),
    ...(cidrs === undefined ? {} : { cidrs }),
    ...(senderDomains === undefined ? {} : { senderDomains }),
    ...(contentDays === undefined ? {} : { contentDays: contentDays === 'default' ? null : contentDays }),
  };
  if (Object.keys(changes).length === 0)
    throw new Exit(USAGE, 'Say what is to change. See: waybill keys update --help');
  return { key, ...changes };
}

/** The list that was given; none of it where anything goes. */
function listOf(
  given: readonly string[] | undefined,
  any: true | undefined,
  option: string,
  anyOption: string,
): string[] | undefined {
  if (given !== undefined && any) throw new Exit(USAGE, `${option} and ${anyOption} do not go together.`);
  return any ? [] : given === undefined ? undefined : [...given];
}

function orDefault(max: number): (text: string) => number | 'default' {
  const number = wholeNumber(0, max);
  return (text) => (text === 'default' ? text : number(text));
}
