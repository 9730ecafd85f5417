import type { z } from 'zod';
import type { webhookDeliverySchema, webhookSchema, webhookTrySchema } from '../webhook-answers.ts';
import { type Descriptions, jsonAnswer, jsonBody } from './operation.ts';
import { JSON_PROBLEMS, mergeProblems } from './refusals.ts';

const ENDPOINT: z.infer<typeof webhookSchema> = {
  id: 'whe_01k9f5y7f0e2c4a8b6d0e2f4g6',
  url: 'https://shop.example.com/waybill',
  types: ['message.bounced', 'message.complained'],
  key: 'shop',
  keys: [],
  tags: [],
  description: 'The shop',
  include: ['subject'],
  enabled: true,
  headers: {},
  source: 'api',
  health: { state: 'healthy', failures: 0, failingSince: null, reason: null },
  pending: 0,
  createdAt: '2026-11-20T11:15:00.000Z',
  updatedAt: '2026-11-20T11:15:00.000Z',
};
const WITH_SECRET = { ...ENDPOINT, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' };
const TRY: z.infer<typeof webhookTrySchema> = {
  at: '2026-11-20T11:20:00.000Z',
  durationMs: 84,
  status: 500,
  error: null,
  answer: 'Out of order.',
};
const DELIVERY: z.infer<typeof webhookDeliverySchema> = {
  eventId: 'evt_01kaj3v7q80000000000000kqr',
  sequence: 21207,
  type: 'message.bounced',
  status: 'pending',
  tries: [TRY],
  nextTryAt: '2026-11-20T11:20:05.000Z',
};

const one = jsonAnswer('Webhook', 'The endpoint.', { endpoint: { summary: 'An endpoint', value: ENDPOINT } });
const UNKNOWN = { 400: ['invalid_request'], 404: ['webhook_not_found'] } as const;
const RIGHTS =
  'A key with the scope `webhooks:manage` sees and changes its own endpoints, which are told of its own mail; with `admin`, all endpoints.';

/** The endpoints of webhooks. */
export const WEBHOOKS = {
  listWebhooks: {
    tag: 'Webhooks',
    summary: 'List the endpoints that are told of events',
    description: RIGHTS,
    answers: [
      jsonAnswer('Webhooks', 'All of them.', { one: { summary: 'One', value: { webhooks: [ENDPOINT] } } }),
    ],
    problems: { 400: ['invalid_request'] },
  },
  addWebhook: {
    tag: 'Webhooks',
    summary: 'Tell an application of events',
    description: `Every event from now on is posted to the URL, signed as Standard Webhooks says; docs/webhooks.md has the form. ${RIGHTS} There may be 20 endpoints of a key, and 200 in all. The secret is in this answer, and nowhere else.`,
    body: jsonBody('NewWebhook', 'The endpoint.', {
      bounces: {
        summary: 'Told of bounces and complaints',
        value: { url: ENDPOINT.url, types: ENDPOINT.types, description: 'The shop', include: ['subject'] },
      },
    }),
    answers: [
      jsonAnswer(
        'WebhookWithSecret',
        'It is told of what happens from now on.',
        { added: { summary: 'Added', value: WITH_SECRET } },
        { status: 201 },
      ),
    ],
    problems: mergeProblems(JSON_PROBLEMS, { 400: ['invalid_request'], 409: ['webhooks_full'] }),
  },
  getWebhook: {
    tag: 'Webhooks',
    summary: 'See an endpoint, and how it fares',
    description: RIGHTS,
    answers: [one],
    problems: UNKNOWN,
  },
  changeWebhook: {
    tag: 'Webhooks',
    summary: 'Change an endpoint',
    description: 'What is absent stays. Enabling it makes it healthy; what it missed can be replayed.',
    body: jsonBody('WebhookChange', 'What changes.', {
      enable: { summary: 'Enable it again', value: { enabled: true } },
    }),
    answers: [one],
    problems: mergeProblems(JSON_PROBLEMS, { ...UNKNOWN, 409: ['webhook_in_file'] }),
  },
  removeWebhook: {
    tag: 'Webhooks',
    summary: 'Tell an endpoint of nothing any more',
    description: 'With what it was still to be told.',
    answers: [{ status: 204, description: 'It is removed.', headers: [], content: {} }],
    problems: { ...UNKNOWN, 409: ['webhook_in_file'] },
  },
  rotateWebhook: {
    tag: 'Webhooks',
    summary: 'Give an endpoint another secret',
    description: 'The old one signs, too, for 24 more hours: requests have two signatures then.',
    answers: [
      jsonAnswer('WebhookWithSecret', 'With its new secret.', {
        rotated: { summary: 'Rotated', value: WITH_SECRET },
      }),
    ],
    problems: { ...UNKNOWN, 409: ['webhook_in_file'] },
  },
  testWebhook: {
    tag: 'Webhooks',
    summary: 'Try an endpoint',
    description:
      'Posts an event of the type `webhook.test` at once, and answers with what came back. It is in no log, and is not tried again.',
    answers: [jsonAnswer('WebhookTry', 'What came back.', { failed: { summary: 'It failed', value: TRY } })],
    problems: UNKNOWN,
  },
  listDeliveries: {
    tag: 'Webhooks',
    summary: 'See what an endpoint was told',
    description: 'And what it is still to be told, with each answer; the newest event first, page by page.',
    answers: [
      jsonAnswer(
        'WebhookDeliveries',
        'A page of deliveries.',
        { page: { summary: 'The only page', value: { deliveries: [DELIVERY], hasMore: false } } },
        { headers: ['Link'] },
      ),
    ],
    problems: UNKNOWN,
  },
  retryDelivery: {
    tag: 'Webhooks',
    summary: 'Tell an endpoint of one event again',
    description: 'At once, and from the start of the schedule.',
    answers: [
      jsonAnswer(
        'WebhookDelivery',
        'It is told.',
        { again: { summary: 'A second try', value: DELIVERY } },
        { status: 202 },
      ),
    ],
    problems: {
      400: ['invalid_request'],
      404: ['webhook_not_found', 'event_not_found'],
      409: ['webhook_disabled'],
    },
  },
  replayWebhook: {
    tag: 'Webhooks',
    summary: 'Tell an endpoint of the events of a time again',
    description:
      'Up to 100,000: those that it was not told, or all that it asks for. Events have the same ids, so that whoever drops repeats drops these, too.',
    body: jsonBody('WebhookReplayRequest', 'Which events.', {
      day: { summary: 'What it missed since then', value: { since: '2026-11-20T00:00:00Z' } },
    }),
    answers: [
      jsonAnswer(
        'WebhookReplay',
        'They are told.',
        { two: { summary: 'Two events', value: { replayed: 2 } } },
        { status: 202 },
      ),
    ],
    problems: mergeProblems(JSON_PROBLEMS, { ...UNKNOWN, 409: ['webhook_disabled', 'too_many_events'] }),
  },
} satisfies Descriptions;
