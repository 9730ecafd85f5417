import { z } from 'zod';
import type { Submission } from '../../../../domain/message.ts';
import { type FieldFault, Problem } from '../../../../http/problem.ts';
import { heldWhile } from '../../../../lib/budget.ts';
import { formatTimestamp } from '../../../../lib/clock.ts';
import { messageUuid } from '../../../../lib/id.ts';
import { actOn, cancelMessage, newSendAt, rescheduleMessage } from '../../acts.ts';
import { refuseRate } from '../../batch.ts';
import type { Access, Call } from '../../call.ts';
import { refuseFaults } from '../../fields.ts';
import {
  handOverAll,
  handOverTogether,
  idempotencyMismatch,
  type Receipt,
  refuseSuspended,
  takeOne,
} from '../../hand-over.ts';
import { digestOfJson, keyInBatch, keyOfBatch, readIdempotencyKey } from '../../idempotency.ts';
import { NO_PARAMETERS, readParameters } from '../../query.ts';
import { readNoBody } from '../../read-fields.ts';
import type { Provider, ProviderDeps } from '../provider.ts';
import { judgeAll, readBody, tellIgnored, toSubmission } from '../submitting.ts';
import { withoutByteLists } from './byte-lists.ts';
import { type Email, emailSchema, IGNORED, messageOf, replyToFaults, timeOf } from './fields.ts';
import { listEmails, showEmail } from './reading.ts';
import { refusalText, refuseAsResend } from './refusals.ts';
import { SUPPRESSION_ENDPOINTS } from './suppressions.ts';

/** Resend's API (contract-2 §C2): ids are UUIDs. */

const SEND: Access = { scheme: 'bearer', scopes: ['messages:send'], window: 'send' };
const READ: Access = { scheme: 'bearer', scopes: ['messages:read', 'messages:read_all'], window: 'read' };

/** See contract-2 §C2. */
// biome-ignore format: a table
export const RESEND: Provider = {
  name: 'resend',
  refuse: refuseAsResend,
  endpoints: [
    { method: 'POST', path: '/emails',             access: SEND, handle: send },
    { method: 'POST', path: '/emails/batch',       access: SEND, handle: sendBatch },
    { method: 'GET',  path: '/emails',             access: READ, handle: listEmails },
    { method: 'GET',  path: '/emails/{id}',        access: READ, handle: showEmail },
    { method: 'PATCH', path: '/emails/{id}',       access: SEND, handle: reschedule },
    { method: 'POST', path: '/emails/{id}/cancel', access: SEND, handle: cancel },
    ...SUPPRESSION_ENDPOINTS,
  ],
};

async function send(call: Call, deps: ProviderDeps): Promise<void> {
  const { exchange } = call;
  const outcome = await takeOne(call, deps, async (budget) => {
    const email = await readBody(exchange, emailSchema, deps, budget, withoutByteLists);
    readParameters(exchange.query, NO_PARAMETERS);
    const { key, faults } = readIdempotencyKey(exchange);
    const others = [...faults, ...notOffered(email)];
    const message = messageOf(email, deps.clock.wall());
    tellIgnored(exchange, email, IGNORED);
    const submission = await toSubmission(call, message, key, deps, others);
    return { submission, dryRun: false, ofTemplate: email.template != null };
  });
  if (outcome.kind === 'receipt') exchange.json(200, { id: messageUuid(outcome.receipt.id) });
}

/** What Resend has and we do not, and what says two things at once. */
function notOffered(email: Email): FieldFault[] {
  const { attachments } = email;
  const faults = replyToFaults(email);
  for (const [place, { path }] of (attachments ?? []).entries())
    if (path != null)
      faults.push({
        pointer: `/attachments/${place}/path`,
        code: 'not_supported',
        detail: 'Files are not fetched: give the content, as base64.',
      });
  return faults;
}

const MAX_BATCH = 100;
const batchSchema = z.array(emailSchema).min(1).max(MAX_BATCH);

/** `strict`: one fault refuses all. `permissive`: each by itself. All that is accepted shares one commit. */
async function sendBatch(call: Call, deps: ProviderDeps): Promise<void> {
  const { exchange, caller } = call;
  const isStrict = exchange.headers['x-batch-validation'] !== 'permissive';
  refuseSuspended(deps.intake, caller.key.id);
  const share = deps.budget.share(`${caller.key.id} batches`);
  await heldWhile(share, async (budget) => {
    const emails = await readBody(exchange, batchSchema, deps, budget);
    readParameters(exchange.query, NO_PARAMETERS);
    const { key, faults } = readIdempotencyKey(exchange);
    refuseFaults(faults);
    if (key !== null && (await deps.views.remembered(caller.key.id, key, deps.clock.wall())) !== null)
      throw idempotencyMismatch();
    refuseRate(caller.key.id, emails.length, deps);
    const now = deps.clock.wall();
    const judged = await judgeAll(emails, call, budget, (email, index) => {
      const others = [...notOffered(email), ...notInBatch(email)];
      return toSubmission(
        call,
        messageOf(email, now),
        key === null ? null : keyInBatch(key, index),
        deps,
        others,
      );
    });
    const refused = judged.flatMap((one, index) =>
      'problem' in one ? [{ index, problem: one.problem }] : [],
    );
    const [first] = refused;
    if (isStrict && first !== undefined) throw within(first.problem, first.index);
    const submissions = asOneRequest(
      judged.flatMap((one) => ('submission' in one ? [one.submission] : [])),
      emails.length,
    );
    const indexes = judged.flatMap((one, index) => ('submission' in one ? [index] : []));
    await call.checkKey();
    const handOver = isStrict ? handOverTogether : handOverAll;
    const receipts = await deps.inProgress.alone<readonly (Receipt | Problem)[]>(
      caller.key.id,
      key === null ? null : keyOfBatch(key),
      async () => {
        if (!isStrict) await refuseOtherBatch(submissions, deps);
        return handOver(submissions, deps);
      },
    );
    const failed = receipts.find((receipt) => receipt instanceof Problem);
    if (failed !== undefined && receipts.every((receipt) => receipt instanceof Problem)) throw failed;
    const data = receipts.flatMap((receipt) =>
      receipt instanceof Problem ? [] : [{ id: messageUuid(receipt.id) }],
    );
    const untaken = indexes.flatMap((index, place) => {
      const problem = receipts[place];
      return problem instanceof Problem ? [{ index, problem }] : [];
    });
    const errors = [...refused, ...untaken]
      .sort((a, b) => a.index - b.index)
      .map(({ index, problem }) => ({ index, message: refusalText(problem) }));
    exchange.json(200, isStrict ? { data } : { data, errors });
  });
}

/** Each is compared by the whole batch, of `count` emails: a repeat with another email, more or fewer is no repeat. */
function asOneRequest(submissions: readonly Submission[], count: number): Submission[] {
  const hashes = submissions.map(({ idempotency }) => idempotency && [idempotency.key, idempotency.hash]);
  const hash = digestOfJson('batch', [count, hashes]);
  return submissions.map((one) =>
    one.idempotency ? { ...one, idempotency: { ...one.idempotency, hash } } : one,
  );
}

/** Throws the problem 409 when the key's first batch was another. What is handed over together, the store refuses so. */
async function refuseOtherBatch(
  submissions: readonly Submission[],
  { views, clock }: ProviderDeps,
): Promise<void> {
  for (const { keyId, idempotency } of submissions) {
    if (keyId === null || idempotency === null) return;
    const first = await views.remembered(keyId, idempotency.key, clock.wall());
    if (first === null) continue;
    if (first.hash !== idempotency.hash) throw idempotencyMismatch();
    return;
  }
}

/** What Resend takes of single emails alone. */
function notInBatch(email: Email): FieldFault[] {
  return (['attachments', 'scheduled_at'] as const).flatMap((name) =>
    email[name] == null || email[name]?.length === 0
      ? []
      : [
          {
            pointer: `/${name}`,
            code: 'not_supported',
            detail: 'Is not possible in a batch; send it by itself.',
          },
        ],
  );
}

/** The refusal of one email of a batch, with its place. */
function within({ status, code, detail, errors, headers }: Problem, index: number): Problem {
  const placed = errors.map((fault) => ({ ...fault, pointer: `/emails/${index}${fault.pointer}` }));
  return new Problem(status, code, `emails[${index}]: ${detail}`, { errors: placed, headers });
}

const changeSchema = z.strictObject({ scheduled_at: z.string().max(100) });

/** Moves a scheduled email. */
async function reschedule(call: Call, deps: ProviderDeps): Promise<void> {
  const { exchange, caller } = call;
  const budget = deps.budget.share(caller.key.id);
  const { scheduled_at: text } = await readBody(exchange, changeSchema, deps, budget);
  readParameters(exchange.query, NO_PARAMETERS);
  const now = deps.clock.wall();
  const sendAt = newSendAt(timeOf(text, now), now, '/scheduled_at');
  const request = { sendAt: formatTimestamp(sendAt) };
  const { id } = await actOn(call, deps, { operation: 'rescheduleMessage', request }, (message, acts) =>
    rescheduleMessage(message, sendAt, acts),
  );
  exchange.json(200, { object: 'email', id: messageUuid(id) });
}

async function cancel(call: Call, deps: ProviderDeps): Promise<void> {
  const { exchange, caller } = call;
  await readNoBody(exchange, deps.budget.share(caller.key.id));
  const { id } = await actOn(call, deps, { operation: 'cancelMessage', request: {} }, cancelMessage);
  exchange.json(200, { object: 'email', id: messageUuid(id) });
}
