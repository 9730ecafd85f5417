import type { FieldFault } from '../../../../http/problem.ts';
import type { Share } from '../../../../lib/budget.ts';
import { refuseRate } from '../../batch.ts';
import type { Call } from '../../call.ts';
import { faultyFields, NO_FIELDS, type ReadFields, refuseFaults } from '../../fields.ts';
import type { FormEntry } from '../../form-fields.ts';
import { type Outcome, type ReadRequest, takeOne } from '../../hand-over.ts';
import { keyInBatch, readIdempotencyKey } from '../../idempotency.ts';
import { NO_PARAMETERS, readParameters } from '../../query.ts';
import { rawSubmission } from '../../raw.ts';
import { readForm } from '../../read-fields.ts';
import { submissionContext } from '../../submission-context.ts';
import { readSubmission, refuseOtherwiseSigned } from '../../submit.ts';
import { asksForTemplate, withTemplate } from '../../templating.ts';
import type { ProviderDeps } from '../provider.ts';
import type { GivenMessage } from '../submitting.ts';
import { judgeTogether, lengthOf, takeTogether } from '../together.ts';
import { type FinishedForm, fieldsOf, finishedFormOf } from './form.ts';
import { forEachRecipient, takeVariables } from './recipient-variables.ts';

/** What takes messages: each is a form. */

/** `POST /v3/{domain}/messages`: a message of its parts. */
export async function send(call: Call, deps: ProviderDeps): Promise<void> {
  const { exchange } = call;
  const { limits } = deps.options;
  const outcome = await takeOne(call, deps, async (budget) => {
    const { given, others } = takeVariables(await readForm(exchange, { limits, budget }));
    const read = fieldsOf(exchange, others);
    if (given === null) return await readSubmission(call, read, deps);
    return await takeForEach(call, await rendered(call, read, deps), given, deps, budget);
  });
  answerAsMailgun(call, outcome);
}

/** The template is the same for all; what it says is filled in for each. */
async function rendered(call: Call, read: ReadFields, deps: ProviderDeps): Promise<ReadFields> {
  if (!asksForTemplate(read)) return read;
  const { unrendered, ...said } = await withTemplate(read, deps);
  const { template, variables, dryRun } = read.fields;
  const mayRepeat = unrendered !== undefined && !dryRun && (await isKeyKnown(call, deps));
  const whole = mayRepeat
    ? { ...unrendered, unlessRepeat: faultyFields('invalid_submission', said.faults) }
    : said;
  const fields = { ...whole.fields, template: null, variables: null };
  if (template === null) return { ...whole, fields };
  return { ...whole, fields, asked: { template, variables: { values: variables ?? {} } } };
}

/** Whether something was sent under the request's key: to one recipient, or to several. */
async function isKeyKnown({ exchange, caller }: Call, { views, clock }: ProviderDeps): Promise<boolean> {
  const { key } = readIdempotencyKey(exchange);
  for (const one of key === null ? [] : [key, keyInBatch(key, 0)])
    if ((await views.remembered(caller.key.id, one, clock.wall())) !== null) return true;
  return false;
}

/** Takes a message for each recipient: all in one commit, or none. Throws a `Problem`: 400, 413, 403, 429, 401, 409, 503. */
async function takeForEach(
  call: Call,
  read: ReadFields,
  given: readonly FormEntry[],
  deps: ProviderDeps,
  budget: Share,
): Promise<ReadRequest> {
  readParameters(call.exchange.query, NO_PARAMETERS);
  const { key, faults: faultsOfKey } = readIdempotencyKey(call.exchange);
  const { recipients, faults, make } = forEachRecipient(read, given, deps.options.limits);
  const found = [...faultsOfKey, ...read.faults, ...faults];
  // For nobody the rest is judged all the same, so that all faults are told; with a fault, for one alone.
  const messages = recipients.length === 0 ? [null] : found.length > 0 ? recipients.slice(0, 1) : recipients;
  if (messages.length > 1) refuseRate(call.caller.key.id, messages.length, deps);
  const nobody = forNobody(read, faults);
  const submissions = await judgeTogether(
    call,
    messages,
    {
      key,
      found,
      shared: lengthOf(read.fields),
      make: (recipient) => (recipient === null ? nobody : make(recipient)),
    },
    deps,
    budget,
  );
  const [first] = submissions;
  if (first === undefined) throw new Error('a fault was not reported');
  refuseOtherwiseSigned(read, first, deps);
  if (read.fields.dryRun) return { submission: first, dryRun: true };
  return { receipt: await takeTogether(call, submissions, key, deps) };
}

/** The message without its recipients, which are reported as missing if nothing else is wrong with them. */
function forNobody({ fields, faulty, pointTo }: ReadFields, faults: readonly FieldFault[]): GivenMessage {
  return {
    fields: { ...fields, to: NO_FIELDS.to },
    faulty: faults.some(({ pointer }) => /^\/to(?:\/|$)/.test(pointer)) ? new Set([...faulty, 'to']) : faulty,
    pointTo,
  };
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
  // What it lacks then is told by that.
  if (message.length === 0) refuseFaults([...faultsOfKey, ...faults]);
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
