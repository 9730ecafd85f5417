import type { Submission } from '../../domain/message.ts';
import { joinBody, RequestAborted, receiveBody, reserveMore } from '../../http/body.ts';
import type { Exchange } from '../../http/exchange.ts';
import { parseJson } from '../../http/json.ts';
import { type FieldFault, Problem, pointerToken, problemJson, quote } from '../../http/problem.ts';
import { Suggester } from '../../http/suggest.ts';
import { heldWhile, type Share } from '../../lib/budget.ts';
import { yieldToLoop } from '../../lib/clock.ts';
import type { Shown } from '../../operations/operation.ts';
import type { RateLimiter } from '../rate.ts';
import type { batchItemSchema } from './answers.ts';
import { BatchSplitter } from './batch-splitter.ts';
import { type Call, retryAfter } from './call.ts';
import { refuseFaults } from './fields.ts';
import {
  handOverAll,
  idempotencyMismatch,
  type Receipt,
  refuseSuspended,
  type SubmitDeps,
} from './hand-over.ts';
import { keyInBatch, keyOfBatch, readIdempotencyKey } from './idempotency.ts';
import type { IngestLimits } from './options.ts';
import { NO_PARAMETERS, readParameters } from './query.ts';
import { BATCH_SIZE_ADVICE, requireType, textTooLarge } from './read-fields.ts';
import { fieldsFromJson } from './schema.ts';
import { makeSubmission } from './submission.ts';
import { givenPlaces, verdictOf } from './verdict.ts';

/**
 * `POST /api/v1/messages/batch` (contract §2): many submissions in one request. Each is accepted or refused by itself;
 * all accepted ones share one commit.
 */

/** What the endpoint needs. */
interface BatchDeps extends SubmitDeps {
  /** Counts the messages of each key's batches. */
  readonly limiter: RateLimiter;
}

type Item = Shown<typeof batchItemSchema>;

/** A valid message and its index. */
interface Good {
  readonly index: number;
  readonly submission: Submission;
}

/** Messages, and bytes of their text, to process before other requests get a turn. */
const SLICE_MESSAGES = 16;
const SLICE_BYTES = 256 * 1024;
/**
 * Header fields and base64 lines make messages a little larger than their JSON. As with single submissions, only growth
 * beyond this factor is counted.
 */
const UNCOUNTED_GROWTH = 1.25;
/** Faults reported of one message, until the answer has reported that many in all: it must stay readable. */
const MAX_TOLD = 100;
const MAX_TOLD_OF_ALL = 1000;

/** Answers for each message. Throws a `Problem` for the whole batch: 503, 415, 413, 400, 429, 409, in this order. */
export async function answerBatch(call: Call, deps: BatchDeps): Promise<void> {
  const { exchange, caller } = call;
  refuseSuspended(deps.intake, caller.key.id);
  requireType(exchange, ['application/json']);
  // A share of its own: the key's single messages must not wait behind its batches.
  const share = deps.budget.share(`${caller.key.id} batches`);
  await heldWhile(share, (budget) => submitWithin(call, deps, budget));
}

async function submitWithin(call: Call, deps: BatchDeps, budget: Share): Promise<void> {
  const { exchange, caller } = call;
  const texts = await readTexts(exchange, deps.options.limits, budget);
  readParameters(exchange.query, NO_PARAMETERS);
  const { key, faults } = readIdempotencyKey(exchange);
  refuseFaults(faults);
  refuseRate(caller.key.id, texts.length, deps);
  if (key !== null && (await deps.views.remembered(caller.key.id, key, deps.clock.wall())) !== null)
    throw idempotencyMismatch();
  const { good, items, refusals } = await judge(call, texts, key, deps, budget);
  const submissions = good.map(({ submission }) => submission);
  await call.checkKey();
  const receipts = await deps.inProgress.alone(caller.key.id, key === null ? null : keyOfBatch(key), () =>
    handOverAll(submissions, deps),
  );
  refuseAll(receipts);
  for (const [place, { index }] of good.entries()) items[index] = toItem(index, receipts[place], refusals);
  const given = receipts.flatMap((receipt) => (receipt instanceof Problem ? [] : [receipt.replayed]));
  const replayed = given.length > 0 && given.every(Boolean);
  exchange.json(202, { results: items }, replayed ? { 'Idempotency-Replayed': 'true' } : {});
}

/** The text of each message. Throws 413 and 400. */
async function readTexts(exchange: Exchange, limits: IngestLimits, budget: Share): Promise<Buffer[][]> {
  const splitter = new BatchSplitter({ maxMessages: limits.maxBatchMessages });
  const bounds = { maxBytes: limits.maxBatchBytes, advice: BATCH_SIZE_ADVICE, budget };
  await receiveBody(exchange, bounds, (chunk) => splitter.push(chunk));
  const { frame, messages } = splitter.finish();
  readFrame(frame, limits);
  return messages;
}

/** Makes a submission of each text and frees the text. In `items`, the places of the valid ones stay empty. */
async function judge(call: Call, texts: Buffer[][], key: string | null, deps: BatchDeps, budget: Share) {
  const { exchange } = call;
  const good: Good[] = [];
  const items: Item[] = [];
  const memory = new BatchMemory(exchange, texts, budget);
  const refusals = new Refusals();
  let slice = { messages: 0, bytes: 0 };
  for (let index = 0; index < texts.length; index++) {
    if (exchange.over) throw new RequestAborted();
    const pieces = texts[index] ?? [];
    texts[index] = [];
    const textBytes = sizeOf(pieces);
    const judged = await judgeOne(call, pieces, { index, key, refusals }, deps);
    if ('submission' in judged) good.push(judged);
    else items[index] = judged;
    memory.became(textBytes, 'submission' in judged ? judged.submission.content.sizeBytes : 0);
    // Refusing takes longer than accepting: each value of a message may be faulty.
    const weight = 'error' in judged ? SLICE_MESSAGES : 1;
    slice = { messages: slice.messages + weight, bytes: slice.bytes + textBytes };
    if (slice.messages < SLICE_MESSAGES && slice.bytes < SLICE_BYTES) continue;
    await yieldToLoop();
    slice = { messages: 0, bytes: 0 };
  }
  return { good, items, refusals };
}

async function judgeOne(
  call: Call,
  pieces: readonly Buffer[],
  { index, key, refusals }: { index: number; key: string | null; refusals: Refusals },
  deps: BatchDeps,
): Promise<Good | Item> {
  const { limits } = deps.options;
  try {
    const textBytes = sizeOf(pieces);
    if (textBytes > limits.maxMessageBytes) throw textTooLarge(textBytes, limits.maxMessageBytes);
    const { maxJsonDepth: maxDepth, maxJsonValues: maxValues } = limits;
    const fields = fieldsFromJson(parseJson(joinBody(pieces), { maxDepth, maxValues }), refusals.suggester);
    const { dryRun } = fields.fields;
    const ownKey = key === null || dryRun ? null : keyInBatch(key, index);
    const given = { ...fields, whole: 'The message' };
    const { submission, read } = await makeSubmission(call, given, ownKey, deps);
    if (!dryRun) return { index, submission };
    return { index, verdict: await verdictOf(submission, deps, givenPlaces(read)) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === 'malformed_json' || error.code === 'invalid_utf8')
      throw malformedMessage(error, index);
    return refusals.item(index, error);
  }
}

function sizeOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}

/** Counts the memory of a batch: the remaining texts, and the messages made so far. */
class BatchMemory {
  readonly #exchange: Exchange;
  readonly #budget: Share;
  #bytes: number;
  #reserved: number;

  constructor(exchange: Exchange, texts: readonly (readonly Buffer[])[], budget: Share) {
    this.#exchange = exchange;
    this.#budget = budget;
    this.#bytes = sizeOf(texts.flat());
    // The body's own reservation, which lasts as long as the exchange.
    this.#reserved = this.#bytes * UNCOUNTED_GROWTH;
  }

  /** Records that a text became a message. Throws the problem 503 when memory is short. */
  became(textBytes: number, messageBytes: number): void {
    this.#bytes += messageBytes - textBytes;
    if (this.#bytes <= this.#reserved) return;
    reserveMore(this.#exchange, this.#budget, Math.ceil(this.#bytes - this.#reserved));
    this.#reserved = this.#bytes;
  }
}

/** Throws the problem 429 when a key sends more messages in batches than it may. */
export function refuseRate(
  keyId: string,
  messages: number,
  { limiter, clock, options }: Pick<BatchDeps, 'limiter' | 'clock' | 'options'>,
): void {
  const limit = options.limits.batchMessagesPerMinute;
  const verdict = limiter.take(keyId, 'batch', limit, clock.mono(), messages);
  if (verdict === null || verdict.allowed) return;
  const cure = messages > limit ? 'Send smaller batches' : `${verdict.remaining} are left now; try again`;
  const detail = `This key may send ${limit} messages a minute in batches (api.batch_messages_per_minute), but this batch has ${messages}. ${cure}.`;
  throw new Problem(429, 'batch_rate_limited', detail, { headers: retryAfter(verdict) });
}

/**
 * If the disk or the store takes nothing, no single message is at fault: 503 for all. A full queue is reported for
 * each.
 */
function refuseAll(receipts: readonly (Receipt | Problem)[]): void {
  const [first] = receipts;
  const isDown = (receipt: Receipt | Problem) =>
    receipt instanceof Problem && receipt.status === 503 && receipt.code !== 'queue_limit';
  if (first instanceof Problem && receipts.every(isDown)) throw first;
}

function toItem(index: number, receipt: Receipt | Problem | undefined, refusals: Refusals): Item {
  if (receipt === undefined) throw new Error('the intake gave no answer');
  if (receipt instanceof Problem) return refusals.item(index, receipt);
  const { id, message, suppressed } = receipt;
  return { index, id, message, status: 'queued', ...(suppressed && { suppressed }) };
}

/** Reports the faults of one batch's messages, at least one of each. */
class Refusals {
  readonly suggester = new Suggester();
  #left = MAX_TOLD_OF_ALL;

  item(index: number, problem: Problem): Item {
    const error = problemJson(problem);
    const errors = error.errors.slice(0, Math.max(1, Math.min(MAX_TOLD, this.#left)));
    this.#left -= errors.length;
    return { index, error: { ...error, errors } };
  }
}

/** Malformed JSON is a fault of the whole body, but the message's index helps to find it. */
function malformedMessage({ status, code, detail }: Problem, index: number): Problem {
  const place = `In the message with index ${index}: ${detail}`;
  return new Problem(status, code, place, { errors: [{ pointer: `/messages/${index}`, code, detail }] });
}

// The frame of a batch: `{"messages": [ … ]}` and nothing else.

const NAME = 'messages';
const SHAPE = '{"messages": [ … ]}';

/** Checks the frame of a batch, in which every message is `0`. Throws a problem 400. */
function readFrame(frame: Buffer, limits: Pick<IngestLimits, 'maxBatchMessages' | 'maxJsonDepth'>): void {
  refuseFaults(frameFaults(parseFrame(frame, limits)));
}

function parseFrame(
  frame: Buffer,
  { maxJsonDepth, maxBatchMessages }: Parameters<typeof readFrame>[1],
): unknown {
  try {
    // Leaves room for a few wrong fields, so that they can be reported by name.
    return parseJson(frame, { maxDepth: maxJsonDepth, maxValues: 2 * maxBatchMessages + 100 });
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'malformed_json' || isBlank(frame) || hasMark(frame))
      throw error;
    const detail = `The body is not well-formed JSON outside of its messages; it must be ${SHAPE}.`;
    throw new Problem(400, error.code, detail);
  }
}

function frameFaults(value: unknown): FieldFault[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [{ pointer: '', code: 'type', detail: `Must be an object: ${SHAPE}.` }];
  const suggester = new Suggester();
  const faults = Object.keys(value)
    .filter((name) => name !== NAME)
    .map((name) => ({
      pointer: `/${pointerToken(name)}`,
      code: 'unknown_field',
      detail: `There is no field ${quote(name)}.${suggester.didYouMean(name, [NAME])} A batch is ${SHAPE}.`,
    }));
  const messages: unknown = Reflect.get(value, NAME);
  if (messages === undefined || messages === null)
    faults.unshift(fault('required', `Is required: ${SHAPE}.`));
  else if (!Array.isArray(messages)) faults.unshift(fault('type', 'Must be an array of messages.'));
  else if (messages.length === 0) faults.unshift(fault('required', 'Must contain at least one message.'));
  return faults;
}

function fault(code: string, detail: string): FieldFault {
  return { pointer: `/${NAME}`, code, detail };
}

/** Whether the frame begins with a byte order mark, which the parser reports. */
function hasMark(frame: Buffer): boolean {
  return frame.toString('utf8', 0, 3) === '\ufeff';
}

function isBlank(frame: Buffer): boolean {
  return frame.toString('latin1').trim() === '';
}
