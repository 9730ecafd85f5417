import { z } from 'zod';
import { PRIORITIES } from '../../../domain/message.ts';
import { SUPPRESSION_VALUES } from '../../message-rules.ts';
import * as acts from '../acts.ts';
import * as answers from '../answers.ts';
import * as attemptAnswers from '../attempt-answers.ts';
import * as eventAnswers from '../event-answers.ts';
import * as feedback from '../feedback.ts';
import { feedbackBodySchema } from '../feedback-body.ts';
import * as removing from '../inbox/removing.ts';
import * as operatorAnswers from '../operator-answers.ts';
import type { Parameter } from '../query.ts';
import * as queue from '../queue.ts';
import * as requestAnswers from '../request-answers.ts';
import { attachmentSchema, submissionSchema, unsubscribeSchema } from '../submission-schema.ts';
import * as suppressionAnswers from '../suppression-answers.ts';
import * as suppressions from '../suppressions.ts';
import * as templateAnswers from '../template-answers.ts';
import * as templates from '../templates.ts';
import * as webhookAnswers from '../webhook-answers.ts';
import * as webhooks from '../webhooks.ts';

/**
 * Bodies of requests that are not validated by one schema: the messages of a batch are checked each by itself, and
 * a form is read field by field (`form-fields.ts`). Tests hold these to what is taken.
 */

/** The body of a batch. */
const batchSchema = z
  .strictObject({
    messages: z
      .array(submissionSchema)
      .min(1)
      .describe('At most `api.max_batch_messages` (default 500); each is accepted or refused by itself.'),
  })
  .describe('Several messages, accepted in one commit.');

const SAME = 'See `Submission`.';
const addresses = z
  .array(z.string())
  .exactOptional()
  .describe('An address list; the field may be repeated. At least one recipient in to, cc and bcc together.');
const text = (meaning: string) => z.string().exactOptional().describe(meaning);
const yesNo = z.enum(['yes', 'no', 'true', 'false']).exactOptional();
const onlyNo = z
  .enum(['no', 'false'])
  .exactOptional()
  .describe('Accepted if it asks for what happens anyway.');
const files = (meaning: string) =>
  z
    .array(z.string().meta({ format: 'binary' }))
    .exactOptional()
    .describe(meaning);

const FIELDS = {
  from: z.string().describe('The sender, exactly one mailbox.'),
  to: addresses,
  cc: addresses,
  bcc: addresses,
  subject: text(SAME),
  text: text(SAME),
  html: text(SAME),
  template: text(SAME),
  't:variables': text('`variables` of `Submission`, as JSON.'),
  't:text': yesNo.describe('Accepted: where a template has HTML alone, the text is made of that anyway.'),
  attachment: files('File parts, each with a filename; repeatable.'),
  inline: files('File parts that the HTML refers to, by `cid:` and the file name or Content-ID.'),
  'o:tag': z.array(z.string()).exactOptional().describe('A tag; repeatable. See `tags` of `Submission`.'),
  'o:send-at': text('See `sendAt` of `Submission`.'),
  'o:priority': z.enum(PRIORITIES).exactOptional(),
  'o:stream': text('See `stream` of `Submission`.'),
  'o:suppression': z.enum(SUPPRESSION_VALUES).exactOptional().describe('See `suppression` of `Submission`.'),
  'o:unsubscribe': text('The `stream` of `unsubscribe` in `Submission`.'),
  'o:box': text('See `box` of `Submission`.'),
  'o:dry-run': yesNo.describe('See `dryRun` of `Submission`.'),
  box: text('`o:box` by its name in JSON.'),
  requireTls: yesNo.describe('See `requireTls` of `Submission`.'),
  'o:deliverytime': text('`o:send-at` in Mailgun’s words: RFC 2822 or RFC 3339.'),
  'o:testmode': yesNo.describe('`yes`: the mail is only captured locally, as with a test key.'),
  'o:tracking': onlyNo,
  'o:tracking-clicks': onlyNo,
  'o:tracking-opens': onlyNo,
  'o:dkim': yesNo.describe(
    'Accepted if it asks for what happens anyway: `yes` if the sender’s domain signs, else `no`.',
  ),
  'o:require-tls': onlyNo,
};

/** Header fields and metadata are fields whose names begin so. */
const NAMED_FIELDS = {
  '^h:': { type: 'string', description: '`h:<Name>`: a header field. See `headers` of `Submission`.' },
  '^v:': { type: 'string', description: '`v:<name>`: a value of your own. See `metadata` of `Submission`.' },
};

/** A submission as a form. */
const submissionFormSchema = z.strictObject(FIELDS).meta({
  description: 'A message to be sent, as a form. Empty fields equal absent ones.',
  patternProperties: NAMED_FIELDS,
});

// From zod's schemas to JSON Schema (draft 2020-12), as OpenAPI 3.1 has it.

/** A schema, or another part of the document, as JSON. */
export type Json = Readonly<Record<string, unknown>>;

/** Every schema with a name of its own in the document. The typed client's types, made of them, bear the same names. */
export const NAMED = {
  Submission: submissionSchema,
  SubmissionAttachment: attachmentSchema,
  SubmissionUnsubscribe: unsubscribeSchema,
  SubmissionForm: submissionFormSchema,
  Batch: batchSchema,
  MessageStatus: answers.messageStatusSchema,
  RecipientOutcome: answers.recipientOutcomeSchema,
  Receipt: answers.receiptSchema,
  Verdict: answers.verdictSchema,
  VerdictRecipient: answers.verdictRecipientSchema,
  Alignment: answers.alignmentSchema,
  Finding: answers.findingSchema,
  GroupMember: operatorAnswers.groupMemberSchema,
  RuleVerdict: operatorAnswers.ruleVerdictSchema,
  RouteExplanation: operatorAnswers.routeExplanationSchema,
  BatchReceipt: answers.batchReceiptSchema,
  BatchItem: answers.batchItemSchema,
  BatchAccepted: answers.batchAcceptedSchema,
  BatchRefused: answers.batchRefusedSchema,
  BatchChecked: answers.batchCheckedSchema,
  MessageRecord: answers.messageRecordSchema,
  StatusRecord: answers.statusRecordSchema,
  RecipientRecord: answers.recipientRecordSchema,
  BounceType: answers.bounceTypeSchema,
  Bounce: answers.bounceSchema,
  LastError: answers.lastErrorSchema,
  MessagesPage: answers.messagesPageSchema,
  Attempt: attemptAnswers.attemptSchema,
  AttemptTimings: attemptAnswers.attemptTimingsSchema,
  AttemptStep: attemptAnswers.attemptStepSchema,
  DnsLookup: attemptAnswers.dnsLookupSchema,
  TransportSecurity: attemptAnswers.transportSecuritySchema,
  AttemptResult: attemptAnswers.attemptResultSchema,
  AttemptsPage: attemptAnswers.attemptsPageSchema,
  EventType: eventAnswers.eventTypeSchema,
  Event: eventAnswers.eventSchema,
  EventData: eventAnswers.eventDataSchema,
  EventMessage: eventAnswers.eventMessageSchema,
  EventRecipient: eventAnswers.eventRecipientSchema,
  EventBounce: eventAnswers.eventBounceSchema,
  EventEntry: eventAnswers.eventEntrySchema,
  EventReply: eventAnswers.eventReplySchema,
  EventsPage: eventAnswers.eventsPageSchema,
  FeedbackEntry: eventAnswers.feedbackEntrySchema,
  FeedbackDetail: eventAnswers.feedbackDetailSchema,
  FeedbackList: eventAnswers.feedbackListSchema,
  Rescheduling: acts.reschedulingSchema,
  Suppression: suppressionAnswers.suppressionSchema,
  SuppressionReason: suppressionAnswers.suppressionReasonSchema,
  SuppressionEvidence: suppressionAnswers.suppressionEvidenceSchema,
  SuppressionsPage: suppressionAnswers.suppressionsPageSchema,
  SuppressionImport: suppressionAnswers.suppressionImportSchema,
  SuppressionCheck: suppressionAnswers.suppressionCheckSchema,
  RequestsPage: requestAnswers.requestsPageSchema,
  LoggedRequest: requestAnswers.loggedRequestSchema,
  RequestFault: requestAnswers.requestFaultSchema,
  NewSuppression: suppressions.newSuppressionSchema,
  SuppressionQuestion: suppressions.suppressionQuestionSchema,
  Template: templateAnswers.templateSchema,
  TemplateSummary: templateAnswers.templateSummarySchema,
  Templates: templateAnswers.templatesSchema,
  TemplateVersion: templateAnswers.templateVersionSchema,
  RenderedTemplate: templateAnswers.renderedTemplateSchema,
  TemplateFault: templateAnswers.templateFaultSchema,
  TemplateToSave: templates.templateToSaveSchema,
  TemplateToPublish: templates.templateToPublishSchema,
  TemplateToRender: templates.templateToRenderSchema,
  Webhook: webhookAnswers.webhookSchema,
  WebhookHealth: webhookAnswers.webhookHealthSchema,
  WebhookWithSecret: webhookAnswers.webhookWithSecretSchema,
  Webhooks: webhookAnswers.webhooksSchema,
  WebhookTry: webhookAnswers.webhookTrySchema,
  WebhookDelivery: webhookAnswers.webhookDeliverySchema,
  WebhookDeliveries: webhookAnswers.webhookDeliveriesSchema,
  WebhookReplay: webhookAnswers.webhookReplaySchema,
  NewWebhook: webhooks.newWebhookSchema,
  WebhookChange: webhooks.webhookChangeSchema,
  WebhookReplayRequest: webhooks.webhookReplayRequestSchema,
  CapturedMessage: operatorAnswers.capturedMessageSchema,
  CapturedFile: operatorAnswers.capturedFileSchema,
  CapturedItem: operatorAnswers.capturedItemSchema,
  CapturedPage: operatorAnswers.capturedPageSchema,
  ListUnsubscribe: operatorAnswers.listUnsubscribeSchema,
  CapturedRelease: removing.releaseSchema,
  Queue: operatorAnswers.queueSchema,
  QueueHold: operatorAnswers.holdSchema,
  QueueAct: operatorAnswers.queueActSchema,
  Feedback: feedbackBodySchema,
  FeedbackReceipt: feedback.feedbackReceiptSchema,
  QueueTarget: queue.holdBodySchema,
  QueueSelection: queue.queueActBodySchema,
  QueueReroute: queue.rerouteBodySchema,
  Problem: answers.problemSchema,
  ItemProblem: answers.itemProblemSchema,
  FieldFault: answers.fieldFaultSchema,
} as const;

/** Name of a schema in the document. */
export type SchemaName = keyof typeof NAMED;

/** A reference to a named schema. */
export function schemaRef(name: SchemaName): Json {
  return { $ref: `#/components/schemas/${name}` };
}

/** Every named schema; each refers to the others by name. */
export function namedSchemas(): Readonly<Record<string, Json>> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(NAMED)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { uri: (id) => `#/components/schemas/${id}`, io: 'input' });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, plain(schema)]));
}

/** The values that a parameter of a query takes. */
export function parameterSchema({ schema }: Parameter<unknown>): Json {
  return plain(z.toJSONSchema(schema, { io: 'input' }));
}

/** Whether a parameter must be given. */
export function isRequired({ schema, repeatable }: Parameter<unknown>): boolean {
  return !schema.safeParse(repeatable ? [] : undefined).success;
}

/** A schema without what only a document of its own needs, and without what says nothing. */
function plain(schema: unknown): Json {
  const { $schema: _, $id: __, ...rest } = simplify(schema) as Json;
  return rest;
}

/** Any number of JSON has these bounds, and any name is a text. */
const EMPTY_BOUNDS: Readonly<Record<string, unknown>> = {
  maximum: Number.MAX_SAFE_INTEGER,
  minimum: Number.MIN_SAFE_INTEGER,
};

function simplify(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(simplify);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([name, item]) => EMPTY_BOUNDS[name] !== item && !isAnyName(name, item))
    .map(([name, item]) => [name, simplify(item)] as const);
  return withoutNullBranch(flattened(Object.fromEntries(entries)));
}

/** That the names of a record are texts goes without saying. */
function isAnyName(keyword: string, schema: unknown): boolean {
  return keyword === 'propertyNames' && JSON.stringify(schema) === '{"type":"string"}';
}

/** Alternatives among alternatives, made one list. */
function flattened(schema: Json): Json {
  const { anyOf } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const isList = (branch: Json) => Array.isArray(branch['anyOf']) && Object.keys(branch).length === 1;
  return { ...schema, anyOf: anyOf.flatMap((branch: Json) => (isList(branch) ? branch['anyOf'] : [branch])) };
}

/** `anyOf` of a type and null, as it reads best: one `type` with both. */
function withoutNullBranch(schema: Json): Json {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [branch, none]: Json[] = anyOf;
  const isPlain = typeof branch?.['type'] === 'string' && !('enum' in branch) && !('const' in branch);
  return isPlain && none?.['type'] === 'null'
    ? { ...branch, ...rest, type: [branch['type'], 'null'] }
    : schema;
}
