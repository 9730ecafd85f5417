import type { Call } from '../../call.ts';
import { type Outcome, type ReadRequest, takeOne } from '../../hand-over.ts';
import { readIdempotencyKey } from '../../idempotency.ts';
import { NO_PARAMETERS, readParameters } from '../../query.ts';
import { rawSubmission } from '../../raw.ts';
import { readForm } from '../../read-fields.ts';
import { submissionContext } from '../../submission-context.ts';
import { readSubmission, refuseOtherwiseSigned } from '../../submit.ts';
import type { ProviderDeps } from '../provider.ts';
import { type FinishedForm, fieldsOf, finishedFormOf } from './form.ts';

/** What takes messages: each is a form. */

/** `POST /v3/{domain}/messages`: a message of its parts. */
export async function send(call: Call, deps: ProviderDeps): Promise<void> {
  const { exchange } = call;
  const { limits } = deps.options;
  const outcome = await takeOne(call, deps, async (budget) => {
    const form = await readForm(exchange, { limits, budget });
    return await readSubmission(call, fieldsOf(exchange, form), deps);
  });
  answerAsMailgun(call, outcome);
}

/** `POST /v3/{domain}/messages.mime`: a finished message. */
export async function sendFinished(call: Call, deps: ProviderDeps): Promise<void> {
  const { exchange } = call;
  const { limits } = deps.options;
  const outcome = await takeOne(call, deps, async (budget) => {
    const form = await readForm(exchange, { limits, budget });
    return await readFinishedForm(call, finishedFormOf(exchange, form, limits.maxHeaderBytes), deps);
  });
  answerAsMailgun(call, outcome);
}

/** Throws a `Problem`: 400, 413, 403, in this order. */
async function readFinishedForm(
  call: Call,
  { message, read, faults }: FinishedForm,
  deps: ProviderDeps,
): Promise<ReadRequest> {
  readParameters(call.exchange.query, NO_PARAMETERS);
  const { key, faults: faultsOfKey } = readIdempotencyKey(call.exchange);
  const context = submissionContext(call, key, deps);
  const { limits } = deps.options;
  const submission = await rawSubmission(read, message, context, limits, [...faultsOfKey, ...faults]);
  refuseOtherwiseSigned(read, submission, deps);
  return { submission, dryRun: read.fields.dryRun };
}

/** Answers with the Message-ID as `id`, as Mailgun does; a dry run with its verdict. */
function answerAsMailgun({ exchange }: Call, outcome: Outcome): void {
  if (outcome.kind === 'verdict') {
    exchange.json(200, outcome.verdict);
    return;
  }
  const { messageId, message, replayed } = outcome.receipt;
  const headers = replayed ? { 'Idempotency-Replayed': 'true' } : {};
  exchange.json(200, { id: messageId, message: asQueued(message) }, headers);
}

/** Clients such as django-anymail take nothing for accepted that does not begin as Mailgun's own answer does. */
const asQueued = (message: string) => (message.startsWith('Queued') ? message : `Queued. ${message}`);
