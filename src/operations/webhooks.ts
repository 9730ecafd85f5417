import { z } from 'zod';
import { choice, fixed, integer, list, text, time, wordList } from './command.ts';
import { CONFIDENTIAL, changes, type OperationsOf, operation, type Shown } from './operation.ts';

/** Endpoints of webhooks: who is told what becomes of mail (contract-2 §B2). */

const STATES = ['pending', 'delivered', 'failed'] as const;
const ONLY = ['failed', 'all'] as const;
const MAX_TEXT = 2_000;
const MAX_LISTED = 100;
const word = z.string().min(1).max(MAX_TEXT);
const which = word.describe('The id of an endpoint, `whe_…`.');
const words = z.array(word).max(MAX_LISTED);

const healthView = z.strictObject({
  /** `failing`: one request at a time; `disabled`: none, until it is enabled again. */
  state: z.enum(['healthy', 'failing', 'disabled']),
  /** Failed tries in a row. */
  failures: z.number(),
  failingSince: z.string().nullable(),
  reason: z.string().nullable(),
});

const webhookView = () =>
  z.strictObject({
    id: z.string(),
    url: z.string(),
    /** Of events, or `message.*` for all that begin so. */
    types: z.array(z.string()),
    /** Names of keys; empty: of all. */
    keys: z.array(z.string()),
    tags: z.array(z.string()),
    description: z.string(),
    include: z.array(z.literal('subject')),
    enabled: z.boolean(),
    headers: z.record(z.string(), z.string()),
    health: healthView,
    /** Events that it is still to be told. */
    pending: z.number(),
    createdAt: z.string(),
    updatedAt: z.string(),
  });

/** An endpoint as it is shown. */
export type WebhookView = Shown<typeof webhookView>;

const tryView = z.strictObject({
  at: z.string(),
  durationMs: z.number(),
  /** Of the answer; null: there was none. */
  status: z.number().nullable(),
  error: z.string().nullable(),
  /** The first 1 KiB of the answer's body. Hostile. */
  answer: z.string(),
});

/** A try as it is shown. */
export type WebhookTryView = z.infer<typeof tryView>;

const secretView = () =>
  z.strictObject({
    webhook: webhookView(),
    /** `whsec_…`: shown this once. */
    secret: z.string(),
  });

/** An endpoint with its new secret. */
export type WebhookSecretView = Shown<typeof secretView>;

const deliveriesView = () =>
  z.strictObject({
    deliveries: z.array(
      z.strictObject({
        eventId: z.string(),
        sequence: z.number(),
        type: z.string(),
        status: z.enum(STATES),
        tries: z.array(tryView),
        nextTryAt: z.string().nullable(),
      }),
    ),
    hasMore: z.boolean(),
    nextCursor: z.string().nullable(),
  });

/** A page of deliveries. */
export type WebhookDeliveriesView = Shown<typeof deliveriesView>;

const WHICH = text('<id>', 'the id of an endpoint, from: waybill webhooks list');
const KEEP = { absent: undefined };

/** What a person hears of a new secret. */
function secretText({ webhook: { id, url }, secret }: WebhookSecretView): string {
  return [
    `${id}  ${url}`,
    `Secret: ${secret}`,
    'It is not shown again: give it to whoever verifies the signatures.',
  ].join('\n');
}

/** What a person hears of the newest try. */
function answerText(last: WebhookTryView | undefined): string {
  if (last === undefined) return 'not tried yet';
  return last.error ?? `answered ${last.status}`;
}

/** What a person hears of an endpoint. */
function stateOf({ enabled, health: { state } }: WebhookView): string {
  return enabled ? state : 'off';
}

const FIELDS = {
  types: words
    .min(1)
    .default(['message.*'])
    .describe('Types of events, or `message.*` for all that begin so.'),
  keys: words.default([]).describe('Names of keys, of whose messages alone it is told; empty: of all.'),
  tags: words.default([]).describe('Only of messages with one of these tags; empty: of all.'),
  description: z.string().max(500).default(''),
  include: z
    .array(z.literal('subject'))
    .max(1)
    .default([])
    .describe('What it is told besides: the subjects of messages.'),
  headers: z.record(z.string(), z.string()).default({}).describe('Sent with every request: at most five.'),
  enabled: z.boolean().default(true),
};

/** What a command leaves as it is. */
const UNCHANGED = {
  url: fixed(undefined),
  types: fixed(undefined),
  keys: fixed(undefined),
  tags: fixed(undefined),
  description: fixed(undefined),
  include: fixed(undefined),
  headers: fixed(undefined),
};

/** What can be asked of webhooks, and done to them. */
export const WEBHOOK_OPERATIONS = {
  listWebhooks: operation({
    meaning: 'All endpoints that are told of events, and how each fares.',
    access: CONFIDENTIAL,
    request: z.strictObject({}),
    result: () => z.strictObject({ webhooks: z.array(webhookView()) }),
    commands: [
      {
        words: 'webhooks list',
        summary: 'show who is told of events, and how each endpoint fares',
        examples: ['waybill webhooks list', 'waybill webhooks list --json'],
        takes: {},
        prints: ({ webhooks }) =>
          webhooks.length === 0
            ? 'Nobody is told of events. Add an endpoint: waybill webhooks add --help'
            : webhooks
                .map((one) =>
                  [one.id, stateOf(one), `${one.pending} pending`, one.url, one.health.reason ?? '']
                    .join('  ')
                    .trimEnd(),
                )
                .join('\n'),
      },
    ],
  }),
  addWebhook: operation({
    meaning:
      'Adds an endpoint, which is told of what happens from now on. The answer has its secret, this once.',
    access: changes({ words: 'Added a webhook', subject: 'url', hide: ['headers'], touches: ['webhooks'] }),
    request: z.strictObject({ url: word.describe('https, and an address that is public.'), ...FIELDS }),
    result: secretView,
    commands: [
      {
        words: 'webhooks add',
        summary: 'tell an application of what becomes of mail',
        examples: [
          'waybill webhooks add https://shop.example.com/waybill',
          'waybill webhooks add https://shop.example.com/waybill --type message.bounced --type message.complained --key shop',
        ],
        takes: {
          url: text('<url>', 'where events are posted to'),
          types: list('--type <type>', 'only these types of events; message.* for all that begin so', {
            absent: ['message.*'],
          }),
          keys: list('--key <name>', 'only events of this key’s messages', { absent: [] }),
          tags: list('--tag <tag>', 'only events of messages with this tag', { absent: [] }),
          description: text('--description <text>', 'a note for people', { absent: '' }),
          include: wordList('--include <what>', 'tell it of the subjects of messages, too', ['subject'], {
            absent: [],
          }),
          headers: fixed({}),
          enabled: fixed(true),
        },
        prints: secretText,
      },
    ],
  }),
  changeWebhook: operation({
    meaning: 'Changes an endpoint; what is absent stays. Enabling it makes it healthy.',
    access: changes({
      words: 'Changed a webhook',
      subject: 'which',
      hide: ['headers'],
      touches: ['webhooks'],
    }),
    request: z.strictObject({
      which,
      url: word.optional(),
      types: words.min(1).optional(),
      keys: words.optional(),
      tags: words.optional(),
      description: z.string().max(500).optional(),
      include: z.array(z.literal('subject')).max(1).optional(),
      headers: z.record(z.string(), z.string()).optional(),
      enabled: z.boolean().optional(),
    }),
    result: webhookView,
    commands: [
      {
        words: 'webhooks enable',
        summary: 'tell an endpoint of events again; for what it missed, see: waybill webhooks replay',
        examples: ['waybill webhooks enable whe_01k9f5y7f0e2c4a8b6d0e2f4g6'],
        takes: { ...UNCHANGED, which: WHICH, enabled: fixed(true) },
        prints: ({ id }) => `${id} is told of events again.`,
      },
      {
        words: 'webhooks disable',
        summary: 'tell an endpoint of nothing until it is enabled again',
        examples: ['waybill webhooks disable whe_01k9f5y7f0e2c4a8b6d0e2f4g6'],
        takes: { ...UNCHANGED, which: WHICH, enabled: fixed(false) },
        prints: ({ id }) => `${id} is told of nothing.`,
      },
    ],
  }),
  removeWebhook: operation({
    meaning: 'Removes an endpoint, with what it was still to be told.',
    access: changes({ words: 'Removed a webhook', subject: 'which', touches: ['webhooks'] }),
    request: z.strictObject({ which }),
    result: () => z.strictObject({ removed: z.string() }),
    commands: [
      {
        words: 'webhooks remove',
        summary: 'tell an endpoint of nothing any more',
        examples: ['waybill webhooks remove whe_01k9f5y7f0e2c4a8b6d0e2f4g6'],
        takes: { which: WHICH },
        prints: ({ removed }) => `Removed: ${removed}.`,
      },
    ],
  }),
  rotateWebhook: operation({
    meaning: 'Gives an endpoint another secret. The old one signs, too, for 24 more hours.',
    access: changes({ words: "Rotated a webhook's secret", subject: 'which', touches: ['webhooks'] }),
    request: z.strictObject({ which }),
    result: secretView,
    commands: [
      {
        words: 'webhooks rotate',
        summary: 'give an endpoint another secret; the old one signs, too, for 24 more hours',
        examples: ['waybill webhooks rotate whe_01k9f5y7f0e2c4a8b6d0e2f4g6'],
        takes: { which: WHICH },
        prints: secretText,
      },
    ],
  }),
  testWebhook: operation({
    meaning: 'Posts an event of the type `webhook.test` to an endpoint now, and tells what it answered.',
    access: changes({ words: 'Tested a webhook', subject: 'which', touches: [] }),
    request: z.strictObject({ which }),
    result: () => tryView,
    commands: [
      {
        words: 'webhooks test',
        summary: 'post a test event to an endpoint now, and show its answer',
        examples: ['waybill webhooks test whe_01k9f5y7f0e2c4a8b6d0e2f4g6'],
        takes: { which: WHICH },
        prints: ({ status, error, durationMs, answer }) =>
          [
            error === null ? `It answered ${status} after ${durationMs} ms.` : `It did not answer: ${error}`,
            answer,
          ]
            .filter((line) => line !== '')
            .join('\n'),
      },
    ],
  }),
  webhookDeliveries: operation({
    meaning: 'What an endpoint was told, and is still to be told; the newest event first.',
    access: CONFIDENTIAL,
    request: z.strictObject({
      which,
      status: z.enum(STATES).nullable().default(null),
      limit: z.int().min(1).max(200).default(50),
      cursor: z.string().max(100).nullable().default(null).describe('The `nextCursor` of the page before.'),
    }),
    result: deliveriesView,
    commands: [
      {
        words: 'webhooks deliveries',
        summary: 'show what an endpoint was told, with its answers',
        examples: ['waybill webhooks deliveries whe_01k9f5y7f0e2c4a8b6d0e2f4g6 --status failed'],
        takes: {
          which: WHICH,
          status: choice('--status <status>', 'only with this status', STATES, { absent: null }),
          limit: integer('--limit <n>', 'how many', [1, 200], { absent: 50 }),
          cursor: text('--cursor <cursor>', 'continue after a page: its nextCursor, from --json', {
            absent: null,
          }),
        },
        prints: ({ deliveries, nextCursor }) =>
          deliveries.length === 0
            ? 'It was told nothing.'
            : [
                ...deliveries.map(({ eventId, type, status, tries, nextTryAt }) =>
                  [
                    eventId,
                    type,
                    status,
                    answerText(tries.at(-1)),
                    nextTryAt === null ? '' : `next try at ${nextTryAt}`,
                  ]
                    .join('  ')
                    .trimEnd(),
                ),
                ...(nextCursor === null ? [] : [`There are more: --cursor ${nextCursor}`]),
              ].join('\n'),
      },
    ],
  }),
  replayWebhook: operation({
    meaning: 'Tells an endpoint of events again, up to 100,000: those that failed, or all of a time.',
    access: changes({ words: 'Replayed events to a webhook', subject: 'which', touches: ['webhooks'] }),
    request: z.strictObject({
      which,
      since: z.string().max(100).describe('Events from this time on, RFC 3339.'),
      until: z
        .string()
        .max(100)
        .nullable()
        .default(null)
        .describe('Events before this time; null: until now.'),
      types: words.default([]).describe('Only these types; empty: all that it is told of.'),
      only: z
        .enum(ONLY)
        .default('failed')
        .describe('`failed`: what it was not told; `all`: everything again.'),
    }),
    result: () => z.strictObject({ replayed: z.number() }),
    commands: [
      {
        words: 'webhooks replay',
        summary: 'tell an endpoint of events again',
        examples: [
          'waybill webhooks replay whe_01k9f5y7f0e2c4a8b6d0e2f4g6 --since 2026-11-20T00:00:00Z',
          'waybill webhooks replay whe_01k9f5y7f0e2c4a8b6d0e2f4g6 --since 2026-11-20T00:00:00Z --only all',
        ],
        takes: {
          which: WHICH,
          since: text('--since <when>', 'events from this time on'),
          until: time('--until <when>', 'events before this time', KEEP),
          types: list('--type <type>', 'only these types of events', { absent: [] }),
          only: choice('--only <which>', 'failed: what it was not told; all: everything again', ONLY, {
            absent: 'failed',
          }),
        },
        prints: ({ replayed }) => `Events that are told again: ${replayed}.`,
      },
    ],
  }),
};

/** Those who carry them out. */
export type WebhookOperations = OperationsOf<typeof WEBHOOK_OPERATIONS>;
