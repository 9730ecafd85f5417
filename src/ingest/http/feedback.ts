import { z } from 'zod';
import type { FeedbackDesk, FeedbackReport } from '../../engine/contract.ts';
import { readWholeBody } from '../../http/body.ts';
import { parseJson } from '../../http/json.ts';
import { Problem } from '../../http/problem.ts';
import type { Budget } from '../../lib/budget.ts';
import { formatTimestamp } from '../../lib/clock.ts';
import { readMessageId } from '../../lib/id.ts';
import type { RecogniseToken } from '../../mail/feedback-report.ts';
import { readIncomingFeedback } from '../../mail/incoming-feedback.ts';
import { requestFaults } from '../../operations/request-faults.ts';
import type { FeedbackDetail, StoredFeedback, Views } from '../../store/views.ts';
import type { Call } from './call.ts';
import type { feedbackDetailSchema, feedbackListSchema } from './event-answers.ts';
import { feedbackBodySchema, feedbackOfBody } from './feedback-body.ts';
import { faultyFields } from './fields.ts';
import { type Findable, findReadable } from './find-message.ts';
import { NO_PARAMETERS, readParameters } from './query.ts';
import { requireType } from './read-fields.ts';

/**
 * `POST /api/v1/feedback` (contract-2 §A3): what came elsewhere of mail that Waybill sent, such as to a mailbox that is
 * piped. It is read as mail to a return path is, and kept as evidence, which can be read here, too.
 */

/** What the endpoint needs. */
export interface FeedbackDeps {
  readonly desk: Pick<FeedbackDesk, 'tell'>;
  /** Reads the tokens of ours in addresses and links. */
  readonly recognise: RecogniseToken;
  /** Bytes of bodies in memory. */
  readonly budget: Budget;
  readonly options: { readonly maxFeedbackBytes: number };
}

const MAIL = 'message/rfc822';
const JSON_TYPE = 'application/json';
const JSON_LIMITS = { maxDepth: 4, maxValues: 100 };
const MAX_FAULTS = 20;
const ADVICE = 'Send reports without the whole message that they return, or raise bounces.max_message_bytes.';

/** The answer. */
// biome-ignore format: a table
export const feedbackReceiptSchema = z.object({
  id: z.string().describe('The id of what is kept as evidence.').meta({ examples: ['fbk_01kaj3v7q8x5m2c9t4r6w0ybzn'] }),
  matched: z.boolean().describe('It is about a message, and perhaps a recipient, that the key may see.'),
  changed: z.boolean().describe('It changed the message’s record, or the suppression list.'),
}).describe('Feedback is on disk, and what it says was done.');

/** What reading needs. */
export interface EvidenceDeps {
  readonly views: Findable & Pick<Views, 'feedback' | 'feedbackAbout'>;
}

/** `GET /api/v1/messages/{id}/feedback`: what others told of a message. */
export async function answerFeedbackList(call: Call, { views }: EvidenceDeps): Promise<void> {
  const { exchange, caller, params } = call;
  readParameters(exchange.query, NO_PARAMETERS);
  const { message } = await findReadable(params['id'] ?? '', caller.key, views);
  exchange.json(200, feedbackListJson(await views.feedbackAbout(message.id)));
}

/** `GET /api/v1/feedback/{feedback}`: one piece of evidence. What is about no message needs `messages:read_all`. */
export async function answerEvidence(call: Call, { views }: EvidenceDeps): Promise<void> {
  const { exchange, caller, params } = call;
  readParameters(exchange.query, NO_PARAMETERS);
  const found = await views.feedback(params['feedback'] ?? '');
  if (found === null || !(await maySee(found, caller.key, views)))
    throw new Problem(404, 'not_found', 'There is no such feedback, or it is no longer kept.');
  exchange.json(200, feedbackDetailJson(found));
}

async function maySee(
  { messageId }: StoredFeedback,
  key: Call['caller']['key'],
  views: Findable,
): Promise<boolean> {
  if (key.scopes.includes('messages:read_all')) return true;
  const detail = messageId === null ? null : await views.message(messageId);
  return detail?.message.keyId === key.id;
}

/** What was told of a message. */
export function feedbackListJson(all: readonly StoredFeedback[]): z.output<typeof feedbackListSchema> {
  return { feedback: all.map(entryJson) };
}

/** A piece of evidence. */
export function feedbackDetailJson(found: FeedbackDetail): z.output<typeof feedbackDetailSchema> {
  return { ...entryJson(found), content: found.base64 };
}

function entryJson({ id, at, source, kind, messageId, address, contentType }: StoredFeedback) {
  return { id, at: formatTimestamp(at), source, kind, message: messageId, recipient: address, contentType };
}

/** Takes what was told, and answers once it is durable. */
export async function answerFeedback(call: Call, deps: FeedbackDeps): Promise<void> {
  const { exchange, caller, checkKey } = call;
  readParameters(exchange.query, NO_PARAMETERS);
  const { type } = requireType(exchange, [JSON_TYPE, MAIL]);
  const { maxFeedbackBytes: maxBytes } = deps.options;
  const budget = deps.budget.share(caller.key.id);
  const bytes = await readWholeBody(exchange, { maxBytes, advice: ADVICE, budget });
  const items = type === MAIL ? readMail(bytes, deps.recognise) : readJson(bytes);
  await checkKey();
  const evidence = { contentType: type, bytes };
  const owner = maySeeAll(call) ? {} : { onlyOfKey: caller.key.id };
  const report = { source: 'api', items, evidence, mayBeEarly: false, ...owner } as const;
  const { id, matched, changed } = await deps.desk.tell(report);
  exchange.json(202, { id, matched, changed });
}

function maySeeAll({ caller: { key } }: Call): boolean {
  return key.scopes.includes('messages:read_all');
}

function readMail(bytes: Uint8Array, recognise: RecogniseToken): FeedbackReport['items'] {
  const { feedback } = readIncomingFeedback({ bytes, reversePath: null, token: null }, recognise);
  return feedback.map((one) => ({ feedback: one, onceId: null }));
}

/** Throws the problem 400. */
function readJson(bytes: Buffer): FeedbackReport['items'] {
  const parsed = feedbackBodySchema.safeParse(parseJson(bytes, JSON_LIMITS), { reportInput: true });
  if (!parsed.success)
    throw faultyFields('invalid_request', requestFaults(parsed.error.issues.slice(0, MAX_FAULTS)));
  const feedback = feedbackOfBody(parsed.data);
  const { id } = feedback.message;
  const message = { ...feedback.message, id: id === null ? null : (readMessageId(id) ?? id) };
  return [{ feedback: { ...feedback, message }, onceId: null }];
}
