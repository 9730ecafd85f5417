import { z } from 'zod';
import { SUPPRESSION_REASONS } from '../domain/suppression.ts';
import type {
  suppressionCheckSchema,
  suppressionImportSchema,
  suppressionSchema,
  suppressionsPageSchema,
} from '../ingest/http/suppression-answers.ts';
import { choice, fixed, flag, integer, list, text, time } from './command.ts';
import { type Answers, acts, type OperationsOf, operation, READ, type Shown } from './operation.ts';

/** An entry as it is shown. */
export type SuppressionView = Shown<typeof suppressionSchema>;
/** A page of entries. */
export type SuppressionsPage = Shown<typeof suppressionsPageSchema>;
/** What an import did. */
export type SuppressionImport = Shown<typeof suppressionImportSchema>;
/** Which addresses are suppressed. */
export type SuppressionCheck = Shown<typeof suppressionCheckSchema>;

/** Most addresses of a check. */
export const MAX_CHECKED = 1000;
/** Most bytes of an import, as UTF-8. An operation counts its characters, which are never more. */
export const MAX_IMPORT_BYTES = 10 * 1024 * 1024;
/** Forms that an import may have. */
export const IMPORT_FORMATS = ['csv', 'json'] as const;
/** Reasons that somebody can give by hand. */
const REASONS_BY_HAND = ['manual', 'unsubscribe'] as const;

/** Longer addresses, scopes and streams are nobody's. */
const MAX_TEXT = 1000;
const MAX_NOTE = 500;
const name = z.string().min(1).max(MAX_TEXT);
const at = z.string().max(MAX_TEXT).nullable();
const scope = name.describe('`global`, `domain:example.com`, or `key:` and the name of a key.');
const WHICH_REQUEST = name.describe('An id (`sup_…`), an address, or a pattern.');
const asKey = z
  .string()
  .max(MAX_TEXT)
  .nullable()
  .default(null)
  .describe('The id of a key: only what this key may see and do; null: everything.');

const pageView = () =>
  z.strictObject({
    /** Lines of CSV, the first page with a header line. */
    text: z.string(),
    entries: z.number(),
    /** Null at the end. */
    next: z.string().nullable(),
  });

const addedView = ({ suppressionSchema: suppression }: Answers) =>
  z.strictObject({
    suppression,
    /** There was none before. */
    added: z.boolean(),
  });

/** An entry that was added, or renewed. */
export type AddedSuppression = Shown<typeof addedView>;

const removedView = () => z.strictObject({ removed: z.number() });

const importStep = () =>
  z.strictObject({
    /** Rows that were done, of so many. */
    done: z.number(),
    total: z.number(),
  });

const SCOPE_MEANING = 'whose mail it stops: global, domain:example.com, or key:NAME';
const NONE = { absent: null };

/** What can be asked of the suppression list, and done to it. */
export const SUPPRESSION_OPERATIONS = {
  listSuppressions: operation({
    meaning: 'A page of the suppression list, newest first.',
    access: READ,
    request: z.strictObject({
      address: name.nullable().describe('Only entries of exactly this address, or pattern.'),
      domain: name.nullable().describe('Only entries whose address is of this domain.'),
      reason: z.enum(SUPPRESSION_REASONS).nullable(),
      scope: scope.nullable(),
      stream: name.nullable(),
      since: at.describe('Made at this time or later, RFC 3339.'),
      until: at.describe('Made before this time.'),
      limit: z.int().min(1).max(200),
      cursor: z.string().max(MAX_TEXT).nullable().describe('The `nextCursor` of the page before.'),
      as: asKey,
    }),
    result: ({ suppressionsPageSchema: page }) => page,
    commands: [
      {
        words: 'suppressions list',
        summary: 'show the addresses that get no mail; the newest first',
        examples: [
          'waybill suppressions list',
          'waybill suppressions list --domain example.org --reason hard_bounce',
          'waybill suppressions list --address ann@example.org --json',
        ],
        takes: {
          address: text('--address <address>', 'only entries of exactly this address, or pattern', NONE),
          domain: text('--domain <domain>', 'only entries of addresses of this domain', NONE),
          reason: choice('--reason <reason>', 'only entries with this reason', SUPPRESSION_REASONS, NONE),
          scope: text('--scope <scope>', SCOPE_MEANING, NONE),
          stream: text('--stream <stream>', 'only entries that stop this stream', NONE),
          since: time('--since <when>', 'only entries made at this time or later', NONE),
          until: time('--until <when>', 'only entries made before this time', NONE),
          limit: integer('--limit <n>', 'how many', [1, 200], { absent: 50 }),
          cursor: text('--cursor <cursor>', 'continue after a page: its nextCursor, from --json', NONE),
          as: fixed(null),
        },
      },
    ],
  }),
  getSuppression: operation({
    meaning: 'An entry by its id; by an address or pattern the widest of those that stand for it.',
    access: READ,
    request: z.strictObject({ which: WHICH_REQUEST, as: asKey }),
    result: ({ suppressionSchema: entry }) => entry,
  }),
  addSuppression: operation({
    meaning: 'Adds an entry, or renews the one of the same address, scope and stream.',
    access: acts({ words: 'Suppressed an address', subject: 'address', touches: ['suppressions'] }),
    request: z.strictObject({
      address: name.describe('A whole address, `*@example.org`, or `*@*.example.org`.'),
      scope: scope.nullable().describe('Null: the scope of the key that asks, otherwise `global`.'),
      stream: name.nullable().describe('The only stream that it stops; null: all mail.'),
      reason: z.enum(REASONS_BY_HAND).default('manual'),
      expiresAt: at.describe('When it ends, RFC 3339; null: never.'),
      note: z.string().max(MAX_NOTE).default(''),
      as: asKey,
    }),
    result: addedView,
    commands: [
      {
        words: 'suppressions add',
        summary: 'send nothing to an address, or to a whole domain',
        examples: [
          'waybill suppressions add ann@example.org --note "asked by phone"',
          "waybill suppressions add '*@example.org' --expires 30d",
          'waybill suppressions add ann@example.org --scope domain:example.com --stream news --reason unsubscribe',
        ],
        takes: {
          address: text('<address>', 'an address; *@example.org, or *@*.example.org'),
          scope: text('--scope <scope>', `${SCOPE_MEANING} (default: global)`, NONE),
          stream: text('--stream <stream>', 'stop only this stream', NONE),
          reason: choice('--reason <reason>', 'why', REASONS_BY_HAND, { absent: 'manual' }),
          expiresAt: time('--expires <when>', 'when it ends: a time, or a number of days such as 90d', NONE),
          note: text('--note <text>', 'a note for people', { absent: '' }),
          as: fixed(null),
        },
        prints: ({ suppression: { address, scope: whose, id }, added }) =>
          `${added ? 'Suppressed' : 'Was suppressed already; renewed'}: ${address} (${whose}, ${id}).`,
      },
    ],
  }),
  removeSuppressions: operation({
    meaning:
      'Removes an entry by its id, or every entry of exactly one address. One because of a complaint only with `complaints`.',
    access: acts({
      words: 'Took an address off the suppression list',
      subject: 'which',
      touches: ['suppressions'],
    }),
    request: z.strictObject({
      which: WHICH_REQUEST,
      complaints: z.boolean().default(false).describe('Also removes entries because of a complaint.'),
      as: asKey,
    }),
    result: removedView,
    commands: [
      {
        words: 'suppressions remove',
        summary: 'send to an address again',
        examples: [
          'waybill suppressions remove ann@example.org',
          'waybill suppressions remove ann@example.org --complaints',
        ],
        takes: {
          which: text('<address>', 'an address or pattern as it is in the list, or the id of an entry'),
          complaints: flag('--complaints', 'also if its owner complained: only when they ask for it'),
          as: fixed(null),
        },
        prints: ({ removed }) => `Entries removed: ${removed}.`,
      },
    ],
  }),
  checkSuppressions: operation({
    meaning: 'Which of some addresses would get no mail, and because of which entry.',
    access: READ,
    request: z.strictObject({
      addresses: z.array(name).min(1).max(MAX_CHECKED),
      from: name
        .nullable()
        .describe('The address or domain that the mail is from; null: no entry for a domain counts.'),
      stream: name.nullable().describe('The stream of the mail; null: it has none.'),
      as: asKey,
    }),
    result: ({ suppressionCheckSchema: check }) => check,
    commands: [
      {
        words: 'suppressions check',
        summary: 'tell whether mail to addresses would be sent',
        examples: [
          'waybill suppressions check ann@example.org',
          'waybill suppressions check --from news@example.com --stream news ann@example.org bob@example.net',
        ],
        takes: {
          addresses: list('<addresses...>', 'whole addresses', { absent: [] }),
          from: text('--from <address>', 'the address or domain that the mail is from', NONE),
          stream: text('--stream <stream>', 'the stream of the mail', NONE),
          as: fixed(null),
        },
      },
    ],
  }),
  importSuppressions: operation({
    meaning:
      'Adds the entries of a table, up to 100,000, a thousand in a transaction; a repeat is harmless. Tells of its steps.',
    access: acts({
      words: 'Imported suppressed addresses',
      subject: 'format',
      hide: ['text'],
      touches: ['suppressions'],
    }),
    takesMessage: true,
    request: z.strictObject({
      format: z.enum(IMPORT_FORMATS),
      text: z
        .string()
        .max(MAX_IMPORT_BYTES)
        .describe('CSV with a header line, or JSON; the columns are those of docs/suppressions.md.'),
      scope: scope.nullable().default(null).describe('Of rows without one; null: as for an entry by hand.'),
      stream: name.nullable().default(null).describe('Of rows without one.'),
      reason: z.enum(SUPPRESSION_REASONS).default('import').describe('Of rows that say none which is known.'),
      as: asKey,
    }),
    result: ({ suppressionImportSchema: done }) => done,
    step: importStep,
  }),
  exportSuppressions: operation({
    meaning: 'The suppression list as CSV, a page of it; call again with `next` until that is null.',
    access: READ,
    request: z.strictObject({
      cursor: z.string().max(MAX_TEXT).nullable().describe('The `next` of the page before; null starts.'),
      as: asKey,
    }),
    result: pageView,
  }),
};

/** Those who carry them out. */
export type SuppressionOperations = OperationsOf<typeof SUPPRESSION_OPERATIONS>;
