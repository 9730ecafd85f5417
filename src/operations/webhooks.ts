import { z } from 'zod';
import { DELIVERY_STATES } from '../domain/webhook.ts';
import type {
  webhookDeliveriesSchema,
  webhookDeliverySchema,
  webhookSchema,
  webhookTrySchema,
} from '../ingest/http/webhook-answers.ts';
import { choice, fixed, integer, list, text, time, wordList } from './command.ts';
import {
  type Answers,
  CONFIDENTIAL,
  changes,
  type OperationsOf,
  operation,
  type Shown,
} from './operation.ts';

/** Endpoints of webhooks: who is told what becomes of mail (contract-2 §B2). */

const ONLY = ['failed', 'all'] as const;
const MAX_TEXT = 2_000;
const MAX_LISTED = 100;
const word = z.string().min(1).max(MAX_TEXT);
const which = word.describe('The id of an endpoint, `whe_…`.');
const words = z.array(word).max(MAX_LISTED);
const at = z.string().max(100).nullable().default(null);
const as = z
  .string()
  .max(MAX_TEXT)
  .nullable()
  .default(null)
  .describe('The id of a key: only endpoints that this key may see and change; null: all.');

/** An endpoint as it is shown. */
export type WebhookView = Shown<typeof webhookSchema>;
/** A try as it is shown. */
export type WebhookTryView = Shown<typeof webhookTrySchema>;
/** What becomes of an event, as it is shown. */
export type WebhookDeliveryView = Shown<typeof webhookDeliverySchema>;
/** A page of deliveries. */
export type WebhookDeliveriesView = Shown<typeof webhookDeliveriesSchema>;

const secretView = ({ webhookSchema: webhook }: Answers) =>
  z.strictObject({
    webhook,
    /** `whsec_…`: shown this once. */
    secret: z.string(),
  });

/** An endpoint with its new secret. */
export type WebhookSecretView = Shown<typeof secretView>;

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

/** What a new endpoint is given. */
export const NEW_WEBHOOK = {
  url: word.describe('https, and an address that is public.'),
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

/** What can be changed of an endpoint; what is absent stays. */
export const CHANGED_WEBHOOK = {
  url: word.optional(),
  types: words.min(1).optional(),
  keys: words.optional(),
  tags: words.optional(),
  description: z.string().max(500).optional(),
  include: z.array(z.literal('subject')).max(1).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  enabled: z.boolean().optional(),
};

/** Which events are told again. */
export const REPLAY = {
  since: z.string().max(100).describe('Events from this time on, RFC 3339.'),
  until: at.describe('Events before this time; null: until now.'),
  types: words.default([]).describe('Only these types; empty: all that it is told of.'),
  only: z
    .enum(ONLY)
    .default('failed')
    .describe('`failed`: what it was not told, also where another try is to come; `all`: everything again.'),
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
  as: fixed(null),
};

/** What can be asked of webhooks, and done to them. */
export const WEBHOOK_OPERATIONS = {
  listWebhooks: operation({
    meaning: 'All endpoints that are told of events, and how each fares.',
    access: CONFIDENTIAL,
    request: z.strictObject({ as }),
    result: ({ webhooksSchema }) => webhooksSchema,
    commands: [
      {
        words: 'webhooks list',
        summary: 'show who is told of events, and how each endpoint fares',
        examples: ['waybill webhooks list', 'waybill webhooks list --json'],
        takes: { as: fixed(null) },
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
  getWebhook: operation({
    meaning: 'An endpoint, and how it fares.',
    access: CONFIDENTIAL,
    request: z.strictObject({ which, as }),
    result: ({ webhookSchema: webhook }) => webhook,
    commands: [
      {
        words: 'webhooks show',
        summary: 'show an endpoint, and how it fares',
        examples: ['waybill webhooks show whe_01k9f5y7f0e2c4a8b6d0e2f4g6'],
        takes: { which: WHICH, as: fixed(null) },
      },
    ],
  }),
  addWebhook: operation({
    meaning:
      'Adds an endpoint, which is told of what happens from now on. The answer has its secret, this once.',
    access: changes({ words: 'Added a webhook', subject: 'url', hide: ['headers'], touches: ['webhooks'] }),
    request: z.strictObject({ ...NEW_WEBHOOK, as }),
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
          as: fixed(null),
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
    request: z.strictObject({ which, ...CHANGED_WEBHOOK, as }),
    result: ({ webhookSchema: webhook }) => webhook,
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
    request: z.strictObject({ which, as }),
    result: () => z.strictObject({ removed: z.string() }),
    commands: [
      {
        words: 'webhooks remove',
        summary: 'tell an endpoint of nothing any more',
        examples: ['waybill webhooks remove whe_01k9f5y7f0e2c4a8b6d0e2f4g6'],
        takes: { which: WHICH, as: fixed(null) },
        prints: ({ removed }) => `Removed: ${removed}.`,
      },
    ],
  }),
  rotateWebhook: operation({
    meaning: 'Gives an endpoint another secret. The old one signs, too, for 24 more hours.',
    access: changes({ words: "Rotated a webhook's secret", subject: 'which', touches: ['webhooks'] }),
    request: z.strictObject({ which, as }),
    result: secretView,
    commands: [
      {
        words: 'webhooks rotate',
        summary: 'give an endpoint another secret; the old one signs, too, for 24 more hours',
        examples: ['waybill webhooks rotate whe_01k9f5y7f0e2c4a8b6d0e2f4g6'],
        takes: { which: WHICH, as: fixed(null) },
        prints: secretText,
      },
    ],
  }),
  testWebhook: operation({
    meaning: 'Posts an event of the type `webhook.test` to an endpoint now, and tells what it answered.',
    access: changes({ words: 'Tested a webhook', subject: 'which', touches: [] }),
    request: z.strictObject({ which, as }),
    result: ({ webhookTrySchema }) => webhookTrySchema,
    commands: [
      {
        words: 'webhooks test',
        summary: 'post a test event to an endpoint now, and show its answer',
        examples: ['waybill webhooks test whe_01k9f5y7f0e2c4a8b6d0e2f4g6'],
        takes: { which: WHICH, as: fixed(null) },
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
      status: z.enum(DELIVERY_STATES).nullable().default(null),
      since: at.describe('Only events that happened at this time or later, RFC 3339.'),
      until: at.describe('Only events that happened before this time.'),
      limit: z.int().min(1).max(200).default(50),
      cursor: z.string().max(100).nullable().default(null).describe('The `nextCursor` of the page before.'),
      as,
    }),
    result: ({ webhookDeliveriesSchema }) => webhookDeliveriesSchema,
    commands: [
      {
        words: 'webhooks deliveries',
        summary: 'show what an endpoint was told, with its answers',
        examples: ['waybill webhooks deliveries whe_01k9f5y7f0e2c4a8b6d0e2f4g6 --status failed'],
        takes: {
          which: WHICH,
          status: choice('--status <status>', 'only with this status', DELIVERY_STATES, { absent: null }),
          since: time('--since <when>', 'only events at this time or later', { absent: null }),
          until: time('--until <when>', 'only events before this time', { absent: null }),
          limit: integer('--limit <n>', 'how many', [1, 200], { absent: 50 }),
          cursor: text('--cursor <cursor>', 'continue after a page: its nextCursor, from --json', {
            absent: null,
          }),
          as: fixed(null),
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
                ...(nextCursor === undefined ? [] : [`There are more: --cursor ${nextCursor}`]),
              ].join('\n'),
      },
    ],
  }),
  retryWebhookDelivery: operation({
    meaning: 'Tells an endpoint of one event again, at once and from the start of the schedule.',
    access: changes({ words: 'Told a webhook of an event again', subject: 'which', touches: ['webhooks'] }),
    request: z.strictObject({ which, eventId: word.describe('The id of an event, `evt_…`.'), as }),
    result: ({ webhookDeliverySchema }) => webhookDeliverySchema,
    commands: [
      {
        words: 'webhooks retry',
        summary: 'tell an endpoint of one event again',
        examples: ['waybill webhooks retry whe_01k9f5y7f0e2c4a8b6d0e2f4g6 evt_01kaj3v7q80000000000000kqr'],
        takes: {
          which: WHICH,
          eventId: text('<event>', 'the id of an event, from: waybill webhooks deliveries'),
          as: fixed(null),
        },
        prints: ({ eventId }) => `${eventId} is told again.`,
      },
    ],
  }),
  replayWebhook: operation({
    meaning: 'Tells an endpoint of events again, up to 100,000: those that failed, or all of a time.',
    access: changes({ words: 'Replayed events to a webhook', subject: 'which', touches: ['webhooks'] }),
    request: z.strictObject({ which, ...REPLAY, as }),
    result: ({ webhookReplaySchema }) => webhookReplaySchema,
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
          only: choice('--only <which>', 'failed: what it was not told yet; all: everything again', ONLY, {
            absent: 'failed',
          }),
          as: fixed(null),
        },
        prints: ({ replayed }) => `Events that are told again: ${replayed}.`,
      },
    ],
  }),
};

/** Those who carry them out. */
export type WebhookOperations = OperationsOf<typeof WEBHOOK_OPERATIONS>;
