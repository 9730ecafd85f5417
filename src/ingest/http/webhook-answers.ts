import { z } from 'zod';
import { DELIVERY_STATES } from '../../domain/webhook.ts';

/** The shapes of webhooks as the API shows them (contract-2 §B2), as `suppression-answers.ts` has those of the list. */

const time = z.string().meta({ format: 'date-time' });
const count = z.int().min(0);
const names = z.array(z.string());

/** How an endpoint fares. */
// biome-ignore format: a table
export const webhookHealthSchema = z.object({
  state: z.enum(['healthy', 'failing', 'disabled']).describe('`failing`: ten tries in a row failed, or too much is pending; then there is one request at a time. `disabled`: it is told of nothing until it is enabled again.'),
  failures: count.describe('Failed tries in a row.'),
  failingSince: time.nullable().describe('Since when every try has failed; null: the last one succeeded.'),
  reason: z.string().nullable().describe('Why, as a line for people; null: there is nothing to say.'),
}).describe('How an endpoint fares. All members are always present.');

/** An endpoint. */
// biome-ignore format: a table
export const webhookSchema = z.object({
  id: z.string().meta({ pattern: '^whe_[0-9a-hjkmnp-tv-z]{26}$' }).describe('`whe_` and 26 characters.'),
  url: z.string().describe('Where events are posted to.'),
  types: names.describe('Types of events, or `message.*` for all that begin so.'),
  key: z.string().nullable().describe('The name of the key that it belongs to, of whose mail alone it is told; null: an administrator’s, told of all mail.'),
  keys: names.describe('Names of keys, of whose mail alone it is told; empty: of all.'),
  tags: names.describe('It is told only of messages with one of these tags; empty: of all.'),
  description: z.string(),
  include: z.array(z.literal('subject')).describe('What it is told besides: the subjects of messages.'),
  enabled: z.boolean(),
  headers: z.record(z.string(), z.string()).describe('Sent with every request, besides our own.'),
  source: z.enum(['api', 'file']).describe('`file`: it stands in the configuration file, and can be changed only there.'),
  health: webhookHealthSchema,
  pending: count.describe('Events that it is still to be told.'),
  createdAt: time,
  updatedAt: time,
}).describe('An endpoint that is told of events. All members are always present.');

/** An endpoint that has just got a secret. */
export const webhookWithSecretSchema = webhookSchema
  .extend({ secret: z.string().meta({ pattern: '^whsec_' }).describe('`whsec_…`: shown this once.') })
  .describe('An endpoint with its new secret.');

/** All endpoints. */
export const webhooksSchema = z
  .object({ webhooks: z.array(webhookSchema) })
  .describe('Endpoints, oldest first.');

/** A try. */
// biome-ignore format: a table
export const webhookTrySchema = z.object({
  at: time,
  durationMs: count,
  status: z.int().nullable().describe('Of the answer; null: there was none.'),
  error: z.string().nullable().describe('Why there was none, or why it does not count; null: it succeeded, or its status says it.'),
  answer: z.string().describe('The first 1 KiB of the answer’s body. Written by a stranger: show it as plain text only.'),
}).describe('A request to an endpoint, and what came back. All members are always present.');

/** What becomes of an event for an endpoint. */
// biome-ignore format: a table
export const webhookDeliverySchema = z.object({
  eventId: z.string().describe('The event’s id, as in `webhook-id`.'),
  sequence: count.describe('The event’s place in the log: `GET /api/v1/events?after=` one less gives it.'),
  type: z.string(),
  status: z.enum(DELIVERY_STATES),
  tries: z.array(webhookTrySchema).describe('Oldest first: the first, and the newest ones.'),
  nextTryAt: time.nullable().describe('When it is tried next; null unless it is pending.'),
}).describe('An event that an endpoint is told of. All members are always present.');

/** A page of deliveries. */
// biome-ignore format: a table
export const webhookDeliveriesSchema = z.object({
  deliveries: z.array(webhookDeliverySchema),
  hasMore: z.boolean(),
  nextCursor: z.string().optional().describe('With it as `cursor`, the next page follows; absent at the end.'),
}).describe('What an endpoint was told, and is still to be told; the newest event first.');

/** What a replay did. */
export const webhookReplaySchema = z
  .object({ replayed: count.describe('Events that are told again.') })
  .describe('A replay.');
