import { z } from 'zod';
import { MESSAGE_STATUSES } from '../../domain/delivery.ts';
import { EVENT_TYPES, type EventType } from '../../domain/event.ts';
import { FEEDBACK_KINDS } from '../../domain/feedback.ts';
import { SUPPRESSION_REASONS } from '../../domain/suppression.ts';
import {
  bounceTypeSchema,
  messageIdSchema,
  recipientOutcomeSchema,
  recipientTypeSchema,
  SOURCES,
} from './answers.ts';

/** The shapes of events as the API shows them (contract-2 §B1), as `answers.ts` has those of messages. */

const time = z.string().meta({ format: 'date-time' });
const sequence = z.int().min(0);

/** What an event is about. */
export const eventTypeSchema = z
  .enum(Object.keys(EVENT_TYPES) as [EventType, ...EventType[]])
  .describe(
    'What happened. `message.queued`: the message was accepted; once for each message. The others are about one recipient: `message.delivered`: the next hop took responsibility; `message.captured`: it was only captured locally; `message.deferred`: an attempt failed, and another will follow; `message.failed`: it will not be delivered, and `outcome` says why; `message.suppressed`: it is not sent, or not again, as the suppression list has the address; `message.bounced`: it came back after delivery; `message.confirmed`: the recipient’s own server took it; `message.delayed`: a server behind the next hop still tries; `message.complained`: the recipient called it spam; `message.unsubscribed`: the recipient wants no more of it. Without a message: `suppression.added` and `suppression.removed`: an entry of the suppression list; `suppression.guarded`: a domain refused so many recipients that its refusals make no entries for a while. Without a message too: `relay.resting`: a relay gets no mail for a while, as its next hop fails; `relay.recovered`: it works again; `webhook.disabled`: an endpoint is told of nothing until somebody enables it, and `reply` says why. `webhook.test` is posted to an endpoint when somebody tests it, and is in no log. More types may be added.',
  );

/** What an event tells of its message. */
// biome-ignore format: a table
export const eventMessageSchema = z.object({
  id: messageIdSchema,
  messageId: z.string().describe('The Message-ID with its angle brackets.'),
  from: z.string(),
  tags: z.array(z.string()),
  metadata: z.record(z.string(), z.string()),
  stream: z.string().nullable().describe('The stream of the message, in lower case; null without one.'),
  key: z.string().nullable().describe('The name of the key that submitted it; null without a key, or when the key is gone.'),
  source: z.enum(SOURCES).describe('How it was submitted.'),
  createdAt: time.describe('When it was accepted.'),
}).describe('The message of an event. All members are always present; its subject is not among them.');

/** The recipient of an event. */
// biome-ignore format: a table
export const eventRecipientSchema = z.object({
  address: z.string(),
  type: recipientTypeSchema,
  status: z.enum(MESSAGE_STATUSES).describe('Its status after the event.'),
  outcome: recipientOutcomeSchema.nullable().describe('How it ended; null while it is not final.'),
}).describe('The recipient that an event is about. All members are always present.');

/** What was replied. */
// biome-ignore format: a table
export const eventReplySchema = z.object({
  code: z.int().nullable().describe('SMTP reply code or HTTP status; null if there was none.'),
  enhancedCode: z.string().nullable().describe('Enhanced status code (RFC 3463).'),
  text: z.string().describe('One line. Written by a stranger: show it as plain text only.'),
}).describe('The next hop’s reply, or what Waybill says in its place. All members are always present.');

/** What a failure means for the address. */
// biome-ignore format: a table
export const eventBounceSchema = z.object({
  type: bounceTypeSchema,
  source: z.string().describe('How it became known: `smtp` (our own SMTP dialogue, or the time ran out), `dsn`, `arf`, `api`, or `webhook:` and the name of the relay.'),
}).describe('What a refusal in our SMTP dialogue, an expiry or a bounce means for the address of the recipient. Null for everything else.');

/** An entry of the suppression list, as an event tells of it. */
// biome-ignore format: a table
export const eventEntrySchema = z.object({
  address: z.string().describe('The address, or a pattern such as `*@example.org`.'),
  scope: z.string().describe('Whose mail it stops: `global`, `domain:example.com`, or `key:` and the name of a key.'),
  stream: z.string().nullable().describe('The only stream that it stops; null: all of them.'),
  reason: z.enum(SUPPRESSION_REASONS),
  source: z.string().describe('How it came: `smtp`, `dsn`, `arf`, `webhook:` and a relay, `one_click`, `mailto`, `api`, …'),
}).describe('An entry of the suppression list, as it was then. All members are always present.');

/** The details of an event. */
// biome-ignore format: a table
export const eventDataSchema = z.object({
  id: z.string().meta({ pattern: '^evt_[0-9a-hjkmnp-tv-z]{26}$' }).describe('`evt_` and 26 characters: the same each time the event is read.'),
  sequence: sequence.describe('Rises from event to event, with gaps.'),
  message: eventMessageSchema.nullable().describe('Null for an event of the suppression list, of a relay or of a webhook.'),
  recipient: eventRecipientSchema.nullable().describe('Null for an event of the whole message, or of none.'),
  relay: z.string().nullable().describe('The relay that it was at.'),
  attempt: z.int().min(1).nullable().describe('The number of the attempt that it followed from; null for none.'),
  providerMessageId: z.string().nullable().describe('What the relay or provider called the message.'),
  nextAttemptAt: time.nullable().describe('When it is due again, after `message.deferred`.'),
  reply: eventReplySchema.nullable(),
  bounce: eventBounceSchema.nullable(),
  suppression: z.string().nullable().describe('The id of the entry that stopped the recipient, or that the event is about or led to.'),
  entry: eventEntrySchema.nullable().optional().describe('The entry; null for `suppression.guarded`. Only events of the suppression list have it.'),
  domain: z.string().nullable().optional().describe('The domain of the entry’s address, or the guarded one. Only events of the suppression list have it.'),
  webhook: z.string().nullable().optional().describe('The id of the endpoint. Only events of webhooks have it.'),
  truncated: z.literal(true).optional().describe('Entries of `metadata`, `tags` or the ends of texts are left out, so that the event has at most 20 KiB. Absent if it is whole.'),
}).describe('The details of an event. All members but the last four are always present.');

/** An event. */
// biome-ignore format: a table
export const eventSchema = z.object({
  type: eventTypeSchema,
  timestamp: time.describe('When it happened.'),
  data: eventDataSchema,
}).describe('Something that happened to a message, to one of its recipients, to the suppression list, to a relay, or to a webhook.');

/** A page of events. */
// biome-ignore format: a table
export const eventsPageSchema = z.object({
  events: z.array(eventSchema),
  hasMore: z.boolean().describe('There are, or may be, more: ask again at once, even if this page has none.'),
  nextCursor: z.string().optional().describe('With it as `cursor`, the next older events follow; absent at the end, and with `after`.'),
  nextAfter: sequence.optional().describe('With it as `after`, everything newer follows, and nothing is missed. Absent with `cursor`, and as long as there was no event although there are more.'),
}).describe('A page of events: with `after` the oldest first, else the newest first.');

// What others told of mail after its delivery, as it is kept (contract-2 §A3).

// biome-ignore format: a table
const toldFeedback = {
  id: z.string().meta({ pattern: '^fbk_[0-9a-hjkmnp-tv-z]{26}$' }).describe('`fbk_` and 26 characters.'),
  at: time.describe('When it came.'),
  source: z.string().describe('How it came: `dsn`, `arf`, `webhook:` and a relay, `one_click`, `mailto`, `api`, …'),
  kind: z.enum([...FEEDBACK_KINDS, 'nothing']).describe('What it told first; `nothing` if it tells nothing of any mail, or a great deal of several messages.'),
  message: messageIdSchema.nullable().describe('The id of the message that it is about; null for none of ours.'),
  recipient: z.string().nullable().describe('The address of the recipient that it is about; null for none in particular.'),
  contentType: z.string(),
};

/** What was told at one time. */
export const feedbackEntrySchema = z
  .object(toldFeedback)
  .describe('Something that others told of a message. All members are always present.');

/** The same, with the evidence. */
// biome-ignore format: a table
export const feedbackDetailSchema = z.object({
  ...toldFeedback,
  content: z.string().describe('The first 64 KiB of what came, in base64.'),
}).describe('Something that others told, and how it came. All members are always present.');

/** What was told of a message. */
export const feedbackListSchema = z
  .object({ feedback: z.array(feedbackEntrySchema) })
  .describe('What others told of a message, the newest first; at most 100.');
