import { z } from 'zod';
import type { MessageRecord } from '../../../domain/message.ts';
import { Problem } from '../../../http/problem.ts';
import type { Clock } from '../../../lib/clock.ts';
import { messageIdTime, readMessageId } from '../../../lib/id.ts';
import { StoreError } from '../../../store/store.ts';
import type { Outlook } from '../../service.ts';
import type { Call } from '../call.ts';
import {
  asBoolean,
  asInteger,
  invalidQuery,
  type ParameterValues,
  parameterFault,
  readParameters,
} from '../query.ts';
import { messageJson } from '../record.ts';
import { CAPTURED, type Watch, type Watchers } from '../watchers.ts';
import type { CapturedMail } from './captured-mail.ts';
import type { CapturedWords } from './captured-words.ts';
import { CAPTURED_FILTERS, capturedFilter, requireContent } from './filter.ts';
import { capturedJson } from './shown.ts';

/**
 * `GET /api/v1/inbox/wait`: matching captured messages, as soon as they arrive, with their texts, links and codes; or
 * that none comes (contract-2 §G1).
 */

const MAX_TIMEOUT_SECONDS = 60;
const DEFAULT_TIMEOUT_SECONDS = 30;
const MAX_COUNT = 50;
/** How far back to look without `since` and `after`: a test asks shortly after it caused the message. */
const LOOK_BACK_MS = 10 * 60_000;
/** Another node may capture it, so waiting readers also poll. */
const REREAD_MS = 1000;

const messageIdText = z.string().transform((text, context) => {
  const id = readMessageId(text);
  if (id !== null) return id;
  context.issues.push({ code: 'custom', input: text, message: 'not an id' });
  return z.NEVER;
});

const { until: _, since, ...filters } = CAPTURED_FILTERS;

/** The endpoint's parameters. */
// biome-ignore format: a table
export const INBOX_WAIT_PARAMETERS = {
  ...filters,
  since: { ...since, meaning: 'Only messages accepted at this time or later (RFC 3339); without it, within the last ten minutes. Give the time at which the test began, so that it does not find mail of an earlier test.' },
  after: { schema: messageIdText.optional(), code: 'message_id', rule: 'the id of a message', meaning: 'Only messages newer than this one, instead of `since`.', example: 'msg_01k9f5y7f0e2c4a8b6d0e2f4g6' },
  timeout: { schema: z.int().min(0).max(MAX_TIMEOUT_SECONDS).default(DEFAULT_TIMEOUT_SECONDS), fromText: asInteger, code: 'out_of_range', rule: `an integer from 0 to ${MAX_TIMEOUT_SECONDS}`, meaning: 'How many seconds to wait.', example: '30' },
  count: { schema: z.int().min(1).max(MAX_COUNT).optional(), fromText: asInteger, code: 'out_of_range', rule: `an integer from 1 to ${MAX_COUNT}`, meaning: 'Wait for this many messages; the answer is `messages`, that many of the newest, newest first.', example: '1' },
  not: { schema: z.boolean().default(false), fromText: asBoolean, code: 'type', rule: 'true or false', meaning: '`true`: expects that no message arrives. The answer is `{"captured": 0}` when the time is up, or at once 409 `unexpected_mail`.', example: 'false' },
};

/** What the endpoint needs. */
export interface InboxWaitDeps {
  readonly captured: CapturedMail;
  readonly capturedWords: CapturedWords;
  readonly watchers: Watchers;
  readonly clock: Clock;
  readonly outlook: Outlook;
}

/** Answers with what came, or that it did not. */
export async function answerWait(call: Call, deps: InboxWaitDeps): Promise<void> {
  const { exchange, caller } = call;
  const values = readParameters(exchange.query, INBOX_WAIT_PARAMETERS);
  refuseContradictions(values);
  requireContent(caller.key);
  const { clock } = deps;
  const { timeout, count, not } = values;
  const find = finder(values, caller.key.id, deps, exchange.signal);
  const deadline = clock.mono() + timeout * 1000;
  const watch = timeout > 0 ? deps.watchers.watch(CAPTURED) : null;
  if (watch !== null) exchange.onEnd(() => watch.stop());
  for (;;) {
    // What comes while it looks is found only by another look.
    const leftMs = deadline - clock.mono();
    const mayWait = watch !== null && !watch.stopped && leftMs > 0;
    const found = await find().catch((error: unknown) => {
      if (mayWait && isBusy(error)) return [];
      watch?.stop();
      throw error;
    });
    if (found.length >= (count ?? 1)) {
      watch?.stop();
      if (not) throw await unexpected(found, deps);
      return exchange.json(200, await answerOf(found, count, deps));
    }
    if (!mayWait) {
      watch?.stop();
      if (leftMs > 0) throw notWaited(watch);
      if (!not) throw nothingCaptured(timeout, found.length, count ?? 1);
      return exchange.json(200, { captured: 0 });
    }
    await watch.wake.wait(clock, Math.min(deadline - clock.mono(), REREAD_MS));
  }
}

type Values = ParameterValues<typeof INBOX_WAIT_PARAMETERS>;

/** Throws the problem 400. */
function refuseContradictions({ since: from, after, count, not }: Values): void {
  if (from !== undefined && after !== undefined)
    throw invalidQuery([parameterFault('after', 'combination', 'Give since or after, not both.')]);
  if (not && count !== undefined)
    throw invalidQuery([
      parameterFault('count', 'combination', 'Leave it out with not=true, which expects no message.'),
    ]);
}

/**
 * Finds the newest messages that match, as many as are waited for, from the earliest time on. Messages that do not say
 * what is wanted are read once, however often it looks. One that cannot be read might be unexpected: with `not` it is
 * refused.
 */
function finder(
  values: Values,
  keyId: string,
  { captured, clock }: InboxWaitDeps,
  signal: AbortSignal,
): () => Promise<readonly MessageRecord[]> {
  const { since: from, after, count = 1, not } = values;
  const earliest = from ?? (after === undefined ? clock.wall() - LOOK_BACK_MS : messageIdTime(after));
  const filter = capturedFilter({ ...values, since: earliest });
  const search = { keyId, filter, after, misfits: new Set<string>(), refusesUnreadable: not };
  return () => captured.newest(search, count, signal);
}

/** Whether a look failed because others were faster: the next one may succeed. */
function isBusy(error: unknown): boolean {
  return error instanceof StoreError
    ? error.code === 'store_busy'
    : error instanceof Problem && error.status === 503;
}

async function answerOf(
  found: readonly MessageRecord[],
  count: number | undefined,
  { capturedWords, outlook }: InboxWaitDeps,
) {
  const lanes = await outlook(found);
  const messages: ReturnType<typeof capturedJson>[] = [];
  for (const message of found)
    messages.push(capturedJson(message, await capturedWords.words(message), lanes));
  return count === undefined ? messages[0] : { messages };
}

async function unexpected([message]: readonly MessageRecord[], { outlook }: InboxWaitDeps): Promise<Problem> {
  const detail = 'An unexpected message arrived; see `message`.';
  const record = message && messageJson(message, await outlook([message]));
  return new Problem(409, 'unexpected_mail', detail, { members: { message: record } });
}

function nothingCaptured(timeout: number, found: number, wanted: number): Problem {
  const what =
    found === 0
      ? `Within ${timeout} seconds no such message of this key was captured.`
      : `Within ${timeout} seconds only ${found} of ${wanted} such messages of this key were captured.`;
  return new Problem(
    404,
    'nothing_captured',
    `${what} Only mail of test keys and mail routed to the inbox is captured; the message’s status says where it went instead.`,
  );
}

/** Who did not wait cannot say that nothing came. */
function notWaited(watch: Watch | null): Problem {
  const headers = { 'Retry-After': '1' };
  return watch === null
    ? new Problem(503, 'unavailable', 'Too many readers are waiting; try again in a moment.', { headers })
    : new Problem(503, 'shutting_down', 'The server is stopping.', { headers });
}
