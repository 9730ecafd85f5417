import { z } from 'zod';
import { MESSAGE_STATUSES } from '../../domain/delivery.ts';
import { PROVIDER_NAMES } from '../../domain/drop-in.ts';
import { BOUNCE_TYPES } from '../../domain/feedback.ts';
import { PRIORITIES, type Source } from '../../domain/message.ts';
import { WAITING_FOR } from '../../domain/next-try.ts';
import type { OutcomeName } from '../../domain/outcome.ts';
import { SEVERITIES } from '../../preflight/contract.ts';
import { FIELD_CODES } from './openapi/fault-codes.ts';
import { PROBLEMS } from './openapi/problem-codes.ts';

/**
 * The shapes of the API's answers (contract §2, §3, §5). Serving validates nothing with them and uses only their types,
 * for what the endpoints write (`Shown`). The API description is generated from them, and tests check every answer of a
 * test run against it. Members that do not apply are absent, unless stated otherwise.
 */

const OUTCOMES = [
  'accepted',
  'captured',
  'rejected',
  'expired',
  'cancelled',
  'no_route',
  'unknown',
  'bounced',
  'suppressed',
] as const satisfies readonly OutcomeName[];
/** How a message can have been submitted. */
export const SOURCES = ['api', 'smtp', 'cli', 'report'] as const satisfies readonly Source[];

const time = z.string().meta({ format: 'date-time' });
const count = z.int().min(0);

/** The id of a message. */
export const messageIdSchema = z.string().meta({
  description: '`msg_` and 26 characters. Ids sort by the time of acceptance.',
  pattern: '^msg_[0-9a-hjkmnp-tv-z]{26}$',
});

/** Which mail is sent first. */
export const prioritySchema = z
  .enum(PRIORITIES)
  .describe('Which mail is sent first when not all can be sent at once.');

/** Which header field a recipient came from. */
export const recipientTypeSchema = z
  .enum(['to', 'cc', 'bcc'])
  .describe('Which header field a recipient came from.');

/** What a waiting recipient waits for. */
export const waitingForSchema = z
  .enum(WAITING_FOR)
  .describe(
    '`scheduled`: its `sendAt`; `backoff`: the pause after an attempt; `turn`: it is due, and its relay has no room yet; `relay_resting`: the next hop failed, and delivery pauses; `relay_probing`: single attempts test whether it works again; `relay_spent`: the relay has used up its allowance for today (UTC); `relay_paused`: an operator holds the relay, or its lane; `relay_disabled`, `relay_missing`: the relay is disabled, or does not exist; `no_route`: no relay may carry it.',
  );

/** The status of a message or a recipient. */
export const messageStatusSchema = z
  .enum(MESSAGE_STATUSES)
  .describe(
    'The status of a message or a recipient. `delivered` and `failed` are final. A message is `processing` if a recipient is, otherwise `retrying` or `queued` in the same way; `delivered` only if every recipient is.',
  );

/** How a recipient ended. */
export const recipientOutcomeSchema = z
  .enum(OUTCOMES)
  .describe(
    'How a recipient ended: `accepted` by the next hop, `captured` locally, `rejected` permanently, `expired`, `cancelled`, `no_route`, `unknown` (held: the next hop may have it), `bounced` after delivery (see `bounce`), `suppressed`: not tried, because of the suppression list.',
  );

/** How a message ended. */
export const messageOutcomeSchema = z
  .enum([...OUTCOMES, 'partial'])
  .describe('How a message ended; `partial` if its recipients ended differently.');

/** An accepted message. */
// biome-ignore format: a table
export const receiptSchema = z.object({
  id: messageIdSchema,
  message: z.string().describe('For people: queued, or only captured locally.'),
  status: z.literal('queued'),
  suppressed: z.array(z.string()).optional().describe('Recipients to whom nothing is sent, because of the suppression list. Absent if there are none.'),
}).describe('The message is on stable storage.');

/** Whether a copy would align with the domain of its From. */
// biome-ignore format: a table
export const alignmentSchema = z.object({
  verdict: z.enum(['aligned', 'not_aligned', 'depends_on_provider']).describe('`aligned` if a signature or the reverse-path aligns, judged by names alone.'),
  dkim: z.enum(['aligned', 'none', 'by_provider']).describe('Whether our signature would align; `by_provider`: the provider signs instead.'),
  dkimDomain: z.string().nullable().describe('The signing domain; null if we would not sign.'),
  spf: z.enum(['aligned', 'not_aligned', 'by_provider']).describe('Whether the reverse-path aligns; whether SPF passes is not checked.'),
  spfDomain: z.string().nullable().describe('The domain that SPF would check; null for the null reverse-path, and for the provider’s own.'),
  detail: z.string().describe('The verdict, and what to do about it, in one sentence.'),
}).describe('Whether a copy would align with the domain of its From, as DMARC asks.');

/** One recipient of a dry run. */
// biome-ignore format: a table
export const verdictRecipientSchema = z.object({
  address: z.string(),
  type: recipientTypeSchema,
  relay: z.string().nullable().describe('The relay that would be tried first; null: it would wait for a route.'),
  rule: z.string().nullable().describe('The routing rule that decided; null for the default relay.'),
  alignment: alignmentSchema.nullable().describe('Null if nothing would be sent now.'),
}).describe('How one recipient’s copy would be sent. All members are always present.');

/** Something that a check found. */
// biome-ignore format: a table
export const findingSchema = z.object({
  code: z.string().describe('A stable name; docs/preflight has a page of it.'),
  severity: z.enum(SEVERITIES).describe('`error`: it will fail, or reach people broken; `warning`: for many of them; `hint`: for some.'),
  where: z.string().describe('What it is about: a JSON pointer of the request, such as `/subject`; a field of the header, such as `header:Reply-To`; or empty for the whole. With a line where that helps: `/html#L12`.'),
  detail: z.string().describe('What was found. May quote the message: show it as plain text only.'),
  fix: z.string().describe('What to do about it.'),
}).describe('Something that may keep a message from being delivered, or from being read as it was meant.');

/** The answer to a dry run. */
// biome-ignore format: a table
export const verdictSchema = z.object({
  dryRun: z.literal(true),
  message: z.string(),
  captured: z.boolean().describe('It would only be captured locally.'),
  sizeBytes: count.describe('Size of the message as it would be sent.'),
  from: z.string().describe('The envelope’s sender.'),
  suppressed: z.array(z.string()).optional().describe('Recipients to whom nothing would be sent, because of the suppression list. Absent if there are none.'),
  recipients: z.array(verdictRecipientSchema),
  findings: z.array(findingSchema).describe('What may keep it from being delivered, or from being read as it was meant, the worst first; at most 100.'),
}).describe('The submission is valid. Nothing was stored, nothing will be sent.');

/** The newest failed or deferred answer of a message. */
// biome-ignore format: a table
export const lastErrorSchema = z.object({
  code: z.string().describe('A stable name for the cause, such as `smtp_reply` or `connect_refused`.'),
  class: z.enum(['transient', 'permanent', 'unknown']),
  message: z.string().describe('The next hop’s reply. Written by a stranger: show it as plain text only.'),
  recipient: z.string(),
  replyCode: z.int().optional().describe('SMTP reply code or HTTP status; absent if the next hop did not answer.'),
  enhancedCode: z.string().optional().describe('Enhanced status code (RFC 3463).'),
}).describe('The newest failed or deferred answer.');

/** A message in a list. */
// biome-ignore format: a table
export const messageRecordSchema = z.object({
  id: messageIdSchema,
  status: messageStatusSchema,
  providerMessageId: z.string().optional().describe('The id that the first delivered recipient’s relay gave it.'),
  timestamp: time.describe('When the status last changed.'),
  durationMs: count.optional().describe('From acceptance, or `sendAt`, to the final outcome; when final.'),
  createdAt: time.describe('When it was accepted.'),
  updatedAt: time,
  deliveredAt: time.optional().describe('When it was first delivered.'),
  nextAttemptAt: time.optional().describe('When the next recipient will actually be tried; absent if unknown.'),
  waitingFor: waitingForSchema.optional().describe('What the next recipient waits for; absent if none waits.'),
  sendAt: time.optional(),
  from: z.string(),
  to: z.array(z.string()),
  cc: z.array(z.string()),
  bcc: z.array(z.string()),
  subject: z.string(),
  tags: z.array(z.string()),
  metadata: z.record(z.string(), z.string()),
  sizeBytes: count,
  messageId: z.string().describe('The Message-ID with its angle brackets.'),
  source: z.enum(SOURCES).describe('How it was submitted; `report`: written by the server to notify a sender.'),
  door: z.enum(PROVIDER_NAMES).optional().describe('The provider whose API it came through; absent for any other.'),
  box: z.string().nullable().describe('The box in which a captured message lies; null without one.'),
  tls: z.enum(['required', 'optional']).optional().describe('What it demands of the way (RFC 8689): `required` by REQUIRETLS, `optional` by the header `TLS-Required: No`. Absent: nothing.'),
  priority: prioritySchema,
  relay: z.string().optional().describe('The relay of the first delivered recipient, otherwise of the first recipient.'),
  attempts: count.describe('Number of delivery attempts.'),
  outcome: messageOutcomeSchema.optional().describe('How it ended, when final; `partial` for mixed outcomes.'),
  lastError: lastErrorSchema.optional(),
  possibleDuplicate: z.literal(true).optional().describe('An attempt ended without knowing whether the next hop accepted the message.'),
}).describe('A message without details of its recipients. Members that do not apply are absent.');

/** What a bounce means for its address. */
export const bounceTypeSchema = z
  .enum(BOUNCE_TYPES)
  .describe(
    '`hard`: the address does not exist; `soft`: it may work later, or its time ran out; `block`: the message or its sender was refused; `provider_suppressed`: the provider did not try, because of its own list; `undetermined`: nothing of this.',
  );

/** Why a recipient bounced. */
// biome-ignore format: a table
export const bounceSchema = z.object({
  type: bounceTypeSchema,
  source: z.string().describe('How it became known: `smtp`: refused in our own SMTP dialogue, or its time ran out; `dsn`: by a delivery status notification; `webhook:` and the relay’s name: by the provider; `api`: by a call.'),
  code: z.int().nullable().describe('SMTP reply code.'),
  enhancedCode: z.string().nullable().describe('Enhanced status code (RFC 3463).'),
  text: z.string().describe('One line. Written by a stranger: show it as plain text only.'),
  at: time,
}).describe('Why a recipient did not get the message, though the next hop may have taken it. All members are always present.');

/** One recipient of a message. */
// biome-ignore format: a table
export const recipientRecordSchema = z.object({
  address: z.string(),
  type: recipientTypeSchema,
  status: messageStatusSchema,
  outcome: recipientOutcomeSchema.nullable(),
  relay: z.string().nullable(),
  attempts: count,
  providerMessageId: z.string().nullable(),
  lastCode: z.int().nullable().describe('SMTP reply code or HTTP status.'),
  lastEnhancedCode: z.string().nullable().describe('Enhanced status code (RFC 3463).'),
  lastReply: z.string().nullable().describe('The next hop’s last reply.'),
  nextAttemptAt: time.nullable().describe('When it will actually be tried next: the later of its due time and the end of its relay’s wait. In the past if it is due and has not had its turn; null if unknown.'),
  waitingFor: waitingForSchema.nullable().describe('What it waits for; null unless it waits.'),
  confirmedAt: time.nullable().describe('When its own server took it, as a provider or a delivery status notification told.'),
  bounce: bounceSchema.nullable(),
  complainedAt: time.nullable().describe('When the recipient called it spam.'),
  unsubscribedAt: time.nullable().describe('When the recipient asked for no more of its stream.'),
  suppression: z.string().nullable().describe('The id of the entry of the suppression list that stopped it.'),
}).describe('The status of one recipient. All members are always present.');

/** A message's status record. */
export const statusRecordSchema = messageRecordSchema
  .extend({ recipients: z.array(recipientRecordSchema) })
  .describe('A message and the status of each recipient. Members that do not apply are absent.');

/** A page of messages. */
// biome-ignore format: a table
export const messagesPageSchema = z.object({
  messages: z.array(messageRecordSchema).describe('Newest first.'),
  hasMore: z.boolean().describe('With a sparse filter a page may have fewer than `limit` messages, even none, although there are more.'),
  nextCursor: z.string().optional().describe('The `cursor` of the next page; absent on the last one.'),
}).describe('A page of messages.');

/** One faulty field of a request. */
// biome-ignore format: a table
export const fieldFaultSchema = z.object({
  pointer: z.string().describe('JSON pointer (RFC 6901) to the field, such as `/to/1`; a form’s field, a parameter or a header by its name.'),
  code: z.string().meta({ description: 'The rule it breaks.', enum: FIELD_CODES }),
  detail: z.string().describe('For people: what is wrong, and what would be right.'),
}).describe('One faulty field.');

/** A refusal of one message of a batch. */
// biome-ignore format: a table
export const itemProblemSchema = z.object({
  type: z.string().describe('`urn:waybill:problem:` and the code.'),
  title: z.string(),
  status: z.int().describe('The HTTP status; in a batch, the one that the message would have got on its own.'),
  detail: z.string().describe('For people: what is wrong, and what would be right.'),
  code: z.string().meta({ description: 'For programs. Stable; treat an unknown one by its status.', enum: Object.keys(PROBLEMS) }),
  error: z.string().describe('The detail again, short.'),
  errors: z.array(fieldFaultSchema).describe('Every faulty field: at most 1,000, or 100 for one message of a batch.'),
}).describe('Why one message of a batch was refused.');

/** A refusal. */
export const problemSchema = itemProblemSchema
  .extend({
    requestId: z.string().describe('The answer’s `X-Request-Id`.'),
    message: messageRecordSchema.optional().describe('With `unexpected_mail`: what came.'),
  })
  .describe('Why a request was refused (RFC 9457).');

const index = z.int().min(0).describe('The message’s place in the batch, from 0.');

/** A message of a batch that was accepted. */
export const batchAcceptedSchema = receiptSchema.extend({ index }).describe('The message was accepted.');

/** A message of a batch that was refused. */
export const batchRefusedSchema = z
  .object({ index, error: itemProblemSchema })
  .describe('The message was refused.');

/** A message of a batch that was only to be checked. */
export const batchCheckedSchema = z
  .object({ index, verdict: verdictSchema })
  .describe('The message was a dry run, and is valid.');

/** The result for one message of a batch. */
export const batchItemSchema = z
  .union([batchAcceptedSchema, batchRefusedSchema, batchCheckedSchema])
  .describe(
    'What became of one message: `error` says that it was refused, `verdict` that it was only checked.',
  );

/** The answer to a batch. */
export const batchReceiptSchema = z
  .object({ results: z.array(batchItemSchema).describe('One for each message, in order.') })
  .describe('The result for each message of a batch.');
