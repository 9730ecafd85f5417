import type { Submission } from '../../domain/message.ts';
import type { Share } from '../../lib/budget.ts';
import type { Call } from './call.ts';
import { type ReadFields, refuseFaults } from './fields.ts';
import { answer, type ReadRequest, type SubmitDeps, takeOne } from './hand-over.ts';
import { readIdempotencyKey } from './idempotency.ts';
import { NO_PARAMETERS, readParameters } from './query.ts';
import { readRaw } from './raw.ts';
import { readFields, requireType } from './read-fields.ts';
import { makeSubmission } from './submission.ts';
import { givenPlaces, willBeSigned } from './verdict.ts';

/** `POST /api/v1/messages`: turns a request into a submission, and the submission into a message (contract §2). */

/** Takes a message, and answers. */
export async function answerSubmit(call: Call, deps: SubmitDeps): Promise<void> {
  answer(
    call,
    await takeOne(call, deps, async (budget) =>
      readSubmission(call, await readFieldsOf(call, deps, budget), deps),
    ),
  );
}

/** Checks the fields that were read of a request. Throws a `Problem`: 400, 413, 403, in this order. */
export async function readSubmission(
  call: Call,
  read: ReadFields,
  deps: SubmitDeps,
  dryRun = read.fields.dryRun,
): Promise<ReadRequest> {
  readParameters(call.exchange.query, NO_PARAMETERS);
  const { key, faults } = readIdempotencyKey(call.exchange);
  const made = await makeSubmission(call, read, dryRun ? null : key, deps, faults);
  refuseOtherwiseSigned(read, made.submission, deps);
  const ofTemplate = read.fields.template !== null;
  return {
    submission: made.submission,
    dryRun,
    ofTemplate,
    ...(dryRun && { given: givenPlaces(made.read) }),
  };
}

/** Throws a `Problem` 400 if the client asks for a signature that we cannot make, or for none where we sign. */
export function refuseOtherwiseSigned(
  { fields, pointTo }: Pick<ReadFields, 'fields' | 'pointTo'>,
  submission: Submission,
  deps: Pick<SubmitDeps, 'sending'>,
): void {
  if (fields.dkim === null) return;
  const signed = willBeSigned(submission, deps);
  if (fields.dkim === signed) return;
  const detail = signed
    ? 'The sender\'s domain signs all of its mail; leave it out, or ask for "yes".'
    : "No key signs for the sender's domain; leave it out, or set up the domain (docs/domains.md).";
  refuseFaults([{ pointer: pointTo('dkim'), code: 'not_supported', detail }]);
}

/** `POST /api/v1/preflight` takes a message in any of the forms in which it may be submitted. */
const FINISHED = 'message/rfc822';
const TYPES = ['application/json', 'multipart/form-data', FINISHED];

/** Checks a message, and answers. Whether its own `dryRun` says so makes no difference. */
export async function answerPreflight(call: Call, deps: SubmitDeps): Promise<void> {
  const outcome = await takeOne(call, deps, async (budget) => ({
    ...(await readAny(call, deps, budget)),
    dryRun: true,
  }));
  answer(call, outcome);
}

/** Throws a `Problem`: 415, 413, 400, 403, in this order. */
async function readAny(call: Call, deps: SubmitDeps, budget: Share): Promise<ReadRequest> {
  const { exchange } = call;
  if (requireType(exchange, TYPES).type === FINISHED) return await readRaw(call, deps, budget);
  return await readSubmission(call, await readFieldsOf(call, deps, budget), deps, true);
}

function readFieldsOf({ exchange }: Call, deps: SubmitDeps, budget: Share): Promise<ReadFields> {
  const { options, random } = deps;
  return readFields(exchange, { limits: options.limits, budget, random });
}
