import { z } from 'zod';
import { SCOPES, type Scope } from '../domain/key.ts';
import { flag, integer, list, orOption, orWord, type TableForm, text, time, wordList } from './command.ts';
import { changes, look, type OperationsOf, operation, READ, type Shown } from './operation.ts';

const keyName = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[^\p{C}]+$/u, 'must be printable');

/** Most requests a minute that a key may be given on the command line, where a slip of the finger is likely. */
const MAX_RATE = 10_000_000;

/** The most source ranges, and the most sender domains, that one key may be bound to. */
const MAX_RESTRICTIONS = 100;

const MAX_KEPT_DAYS = 3650;

/** Days that contents are kept after the final status; null means `retention.content_days`, 0 not at all. */
const contentDays = z.int().min(0).max(MAX_KEPT_DAYS).nullable();

/** Days that records are kept after the final status, at most `retention.records_days`, which null means. */
const recordDays = z.int().min(0).max(MAX_KEPT_DAYS).nullable();

const keyView = () =>
  z.strictObject({
    id: z.string(),
    name: z.string(),
    mode: z.enum(['live', 'test']),
    /** The first characters of the secret, enough to recognise it by. */
    prefix: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    createdAt: z.string(),
    lastUsedAt: z.string().nullable(),
    expiresAt: z.string().nullable(),
    revokedAt: z.string().nullable(),
    /** Requests a minute; null means the configured default, 0 no limit. */
    rateLimit: z.number().nullable(),
    /** Source ranges from which it may be used; empty means anywhere. */
    cidrs: z.array(z.string()),
    /** Domains it may send from; empty means any. */
    senderDomains: z.array(z.string()),
    /** Days that contents are kept after the final status; null means as configured, 0 not at all. */
    contentDays: z.number().nullable(),
    /** Days that records are kept after the final status; null means as configured. */
    recordDays: z.number().nullable(),
    /** With which clients of SES sign as this key; null: it was made without. */
    accessKeyId: z.string().nullable(),
  });

/** A key as it is shown: its times as text. */
export type KeyView = Shown<typeof keyView>;

const revokedKey = () =>
  keyView().extend({
    /** Messages that were cancelled. */
    cancelled: z.number(),
  });

/** A key that was revoked. */
export type RevokedKey = Shown<typeof revokedKey>;

const signingAccess = () =>
  z.strictObject({
    accessKeyId: z.string(),
    secretAccessKey: z.string(),
  });

/** What a client signs its requests with, as SES's do. */
export type SigningAccess = Shown<typeof signingAccess>;

const createdKey = () =>
  z.strictObject({
    key: keyView(),
    secret: z.string(),
    /** What requests are signed with; null: none are. */
    signing: signingAccess().nullable(),
  });

/** A key with a new secret. */
export type CreatedKey = Shown<typeof createdKey>;

const rotatedKey = () =>
  createdKey().extend({
    /** Until when the secret of before works, RFC 3339. */
    oldSecretUntil: z.string(),
  });

/** A key with a second secret. */
export type RotatedKey = Shown<typeof rotatedKey>;

/** A key, by name or id; not when it was last used, which changes by itself. */
const KEY = look<readonly KeyView[]>(
  'listKeys',
  () => ({}),
  (keys, { key, name }) => {
    const wanted = key ?? name;
    const live = keys.find((one) => one.name === wanted && one.revokedAt === null);
    const found = keys.find(({ id }) => id === wanted) ?? live ?? keys.find((one) => one.name === wanted);
    if (found === undefined) return undefined;
    const { lastUsedAt: _, ...rest } = found;
    return rest;
  },
);

/** How a key is named on the command line. */
const WHICH = text('<key>', 'name or id');
/** What is not typed stays as it is. */
const KEPT = { absent: undefined };
const USUAL_SCOPES: Scope[] = ['messages:send', 'messages:read'];

function daysText(days: number | null): string {
  return days === null ? 'default' : `${days} day${days === 1 ? '' : 's'}`;
}

/** Keys under each other. */
const KEY_TABLE: TableForm<KeyView> = {
  columns: {
    NAME: ({ name }) => name,
    KEY: ({ prefix }) => `${prefix}…`,
    STATE: ({ revokedAt, mode }) => (revokedAt === null ? mode : 'revoked'),
    SCOPES: ({ scopes }) => scopes.join(' '),
    RATE: ({ rateLimit }) => (rateLimit === null ? 'default' : String(rateLimit)),
    KEEPS: ({ contentDays }) => daysText(contentDays),
    RECORDS: ({ recordDays: days }) => daysText(days),
    CREATED: ({ createdAt }) => createdAt,
    'LAST USED': ({ lastUsedAt }) => lastUsedAt ?? 'never',
    EXPIRES: ({ expiresAt }) => expiresAt ?? 'never',
    'USED FROM': ({ cidrs }) => (cidrs.length === 0 ? 'anywhere' : cidrs.join(' ')),
    'SENDS AS': ({ senderDomains }) => (senderDomains.length === 0 ? 'any' : senderDomains.join(' ')),
  },
  empty: 'There are no keys. Make one with: waybill keys create NAME',
};

const QUIET = { meaning: 'print only the secret', says: ({ secret }: CreatedKey) => secret };

/** A secret, and below it that it is the key's; then what requests are signed with. */
function secretText({ key, secret, signing }: CreatedKey): string {
  const own = `${secret}\n\nThis is the secret of ${key.name}. It is not shown again.`;
  if (signing === null) return own;
  return `${own}\n\n${environmentText(signing)}\n\nWith these, clients of Amazon SES sign as ${key.name}. They are not shown again.`;
}

/** As AWS's programs take it. */
function environmentText({ accessKeyId, secretAccessKey }: SigningAccess): string {
  return `AWS_ACCESS_KEY_ID=${accessKeyId}\nAWS_SECRET_ACCESS_KEY=${secretAccessKey}`;
}

/** What operators can ask of API keys, and do to them. */
export const KEY_OPERATIONS = {
  createKey: operation({
    meaning: 'Makes an API key. Its secret is in the result and nowhere else.',
    access: changes({ words: 'Made an API key', subject: 'name', look: KEY, touches: ['keys'] }),
    request: z.strictObject({
      name: keyName,
      test: z.boolean(),
      scopes: z.array(z.enum(SCOPES)).min(1),
      rateLimit: z
        .int()
        .min(0)
        .nullable()
        .describe('Requests a minute; null means the configured default, 0 no limit.'),
      expiresAt: z.string().nullable().describe('When it expires, in RFC 3339; null means never.'),
      cidrs: z
        .array(z.string())
        .max(MAX_RESTRICTIONS)
        .describe('Source ranges from which it may be used; empty means anywhere.'),
      senderDomains: z
        .array(z.string())
        .max(MAX_RESTRICTIONS)
        .describe('Domains it may send from; empty means any.'),
      contentDays: contentDays.default(null),
      recordDays: recordDays.default(null),
      ses: z
        .boolean()
        .default(false)
        .describe('Also makes an access key id and a secret access key, with which clients of SES sign.'),
    }),
    result: createdKey,
    commands: [
      {
        words: 'keys create',
        summary: 'make an API key and show its secret, this once',
        examples: [
          'waybill keys create shop',
          'waybill keys create tests --test --quiet',
          'waybill keys create shop --ses',
          'waybill keys create monitor --scope messages:read --scope messages:read_all',
          'waybill keys create partner --expires 90d --cidr 192.0.2.0/24 --sender-domain shop.example',
        ],
        takes: {
          name: text('<name>', 'name of the key'),
          test: flag('--test', 'make a test key: its mail is captured here and never leaves'),
          scopes: wordList(
            '--scope <scope>',
            `one of ${SCOPES.join(', ')}; may be given several times`,
            SCOPES,
            { absent: USUAL_SCOPES },
          ),
          rateLimit: integer('--rate <n>', 'requests per minute; 0 for no limit', [0, MAX_RATE], {
            absent: null,
          }),
          expiresAt: time(
            '--expires <when>',
            'expiry: a time such as 2027-01-31T12:00:00Z, or a number of days such as 90d',
            { absent: null },
          ),
          cidrs: list(
            '--cidr <range>',
            'accept it only from this address or range; may be given several times',
            {
              absent: [],
            },
          ),
          senderDomains: list(
            '--sender-domain <domain>',
            'let it send only from this domain; may be given several times',
            { absent: [] },
          ),
          contentDays: integer(
            '--content-days <n>',
            'days to keep contents after a message is final, 0 for none (default: retention.content_days)',
            [0, MAX_KEPT_DAYS],
            { absent: null },
          ),
          recordDays: integer(
            '--record-days <n>',
            'days to keep records after a message is final, at most retention.records_days (default)',
            [0, MAX_KEPT_DAYS],
            { absent: null },
          ),
          ses: flag('--ses', 'also make an access key id and a secret access key, for clients of Amazon SES'),
        },
        prints: secretText,
        quiet: QUIET,
      },
    ],
  }),
  listKeys: operation({
    meaning: 'Every key, newest first, revoked ones too.',
    access: READ,
    request: z.strictObject({}),
    result: () => z.array(keyView()),
    commands: [
      {
        words: 'keys list',
        summary: 'show all API keys, never their secrets',
        examples: ['waybill keys list', 'waybill keys list --json'],
        takes: {},
        prints: KEY_TABLE,
      },
    ],
  }),
  updateKey: operation({
    meaning: 'Changes what a key may do; what is left out stays as it is.',
    access: changes({ words: 'Changed an API key', subject: 'key', look: KEY, touches: ['keys'] }),
    request: z.strictObject({
      key: z.string(),
      name: keyName.optional(),
      scopes: z.array(z.enum(SCOPES)).min(1).optional(),
      rateLimit: z.int().min(0).nullable().optional(),
      expiresAt: z.string().nullable().optional(),
      cidrs: z.array(z.string()).max(MAX_RESTRICTIONS).optional(),
      senderDomains: z.array(z.string()).max(MAX_RESTRICTIONS).optional(),
      contentDays: contentDays.optional(),
      recordDays: recordDays.optional(),
    }),
    result: keyView,
    commands: [
      {
        words: 'keys update',
        summary: 'change what a key may do; its secret stays',
        examples: [
          'waybill keys update shop --rate 500 --expires 90d',
          'waybill keys update shop --rate default --expires never',
          'waybill keys update partner --cidr 192.0.2.0/24 --cidr 198.51.100.7 --any-sender',
        ],
        wantsOption: true,
        takes: {
          key: WHICH,
          name: text('--name <name>', 'new name of the key', KEPT),
          scopes: wordList('--scope <scope>', `replaces all its scopes: ${SCOPES.join(', ')}`, SCOPES, KEPT),
          rateLimit: orWord(
            integer(
              '--rate <n>',
              'requests per minute; 0 for no limit, default for the setting',
              [0, MAX_RATE],
              KEPT,
            ),
            'default',
            null,
          ),
          expiresAt: orWord(
            time('--expires <when>', 'expiry: a time, a number of days such as 90d, or never', KEPT),
            'never',
            null,
          ),
          cidrs: orOption(
            list(
              '--cidr <range>',
              'accept it only from this address or range; replaces all its ranges',
              KEPT,
            ),
            '--anywhere',
            'accept it from anywhere',
            [],
          ),
          senderDomains: orOption(
            list(
              '--sender-domain <domain>',
              'let it send only from this domain; replaces all its domains',
              KEPT,
            ),
            '--any-sender',
            'let it send from any domain',
            [],
          ),
          contentDays: orWord(
            integer(
              '--content-days <n>',
              'days to keep contents after a message is final, default for the setting',
              [0, MAX_KEPT_DAYS],
              KEPT,
            ),
            'default',
            null,
          ),
          recordDays: orWord(
            integer(
              '--record-days <n>',
              'days to keep records after a message is final, default for the setting',
              [0, MAX_KEPT_DAYS],
              KEPT,
            ),
            'default',
            null,
          ),
        },
        prints: KEY_TABLE,
      },
    ],
  }),
  revokeKey: operation({
    meaning: 'Revokes a key; mail that it has queued is still sent, or is cancelled.',
    access: changes({ words: 'Revoked an API key', subject: 'key', look: KEY, touches: ['keys', 'queue'] }),
    request: z.strictObject({
      key: z.string(),
      cancelQueued: z.boolean().default(false).describe('Also cancels the mail it has queued.'),
    }),
    result: revokedKey,
    commands: [
      {
        words: 'keys revoke',
        summary: 'end a key at once; mail that it has queued is still delivered',
        examples: ['waybill keys revoke shop', 'waybill keys revoke shop --cancel-queued'],
        takes: {
          key: WHICH,
          cancelQueued: flag(
            '--cancel-queued',
            'also cancel the mail it has queued; works for an already revoked key too',
          ),
        },
        prints: ({ name, prefix, cancelled }, { request }) =>
          `Revoked ${name} (${prefix}…).${request.cancelQueued ? ` Messages cancelled: ${cancelled}.` : ''}`,
      },
    ],
  }),
  rotateKey: operation({
    meaning: 'Gives a key a second secret; the old one works for another 24 hours.',
    access: changes({
      words: 'Gave an API key a second secret',
      subject: 'key',
      look: KEY,
      touches: ['keys'],
    }),
    request: z.strictObject({ key: z.string() }),
    result: rotatedKey,
    commands: [
      {
        words: 'keys rotate',
        summary: 'give a key a new secret; the old one works for another 24 hours',
        examples: ['waybill keys rotate shop'],
        takes: { key: WHICH },
        prints: (rotated) =>
          `${secretText(rotated)}\nThe old secret works until ${rotated.oldSecretUntil}; replace it by the new one before then.`,
        quiet: QUIET,
      },
    ],
  }),
};

/** Those who carry them out. */
export type KeyOperations = OperationsOf<typeof KEY_OPERATIONS>;
