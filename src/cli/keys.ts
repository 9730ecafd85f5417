import { Command } from 'commander';
import { SCOPES, type Scope } from '../domain/key.ts';
import { type CommandForm, flag, integer, list, text, time, wordList } from '../operations/command.ts';
import type { CreatedKey } from '../operations/keys.ts';
import type { Operations } from '../operations/table.ts';
import type { Context } from './context.ts';
import { keyTable, MAX_CONTENT_DAYS, MAX_RATE } from './keys-text.ts';
import { updateCommand } from './keys-update.ts';
import { operationCommand } from './operation-command.ts';

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
