import type { Submission } from '../../domain/message.ts';
import type { Intake } from '../../engine/contract.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Problem } from '../../http/problem.ts';
import { type Budget, heldWhile, type Share } from '../../lib/budget.ts';
import { type Clock, inSlices } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import type { Views } from '../../store/views.ts';
import type { Call, Endpoint } from './call.ts';
import { type ReadFields, refuseFaults } from './fields.ts';
import { handOver, type Receipt, refuseSuspended } from './hand-over.ts';
import { type InProgress, readIdempotencyKey } from './idempotency.ts';
import type { IngestOptions } from './options.ts';
import { NO_PARAMETERS, readParameters } from './query.ts';
import { type FieldReaders, MAILGUN_READERS, readFields, SUBMIT_READERS } from './read-fields.ts';
import { buildSubmission } from './submission.ts';
import type { SubmissionContext } from './submission-context.ts';
import { type Verdict, type VerdictDeps, verdictOf, willBeSigned } from './verdict.ts';

/** `POST /api/v1/messages`: a request becomes a submission, the submission a message (contract §2). */

/** What submitting needs, in whichever way. */
export interface SubmitDeps {
  readonly intake: Intake;
  readonly sending: VerdictDeps['sending'];
  readonly views: Pick<Views, 'message' | 'remembered'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly options: Pick<IngestOptions, 'hostname' | 'limits'>;
  /** Bytes of bodies in memory. */
  readonly budget: Budget;
  readonly inProgress: InProgress;
  /** Makes the unique part of a Message-ID. */
  readonly nextToken: () => string;
}

/** A message that is ours, or what would become of it. */
export type Outcome =
  | { readonly kind: 'receipt'; readonly receipt: Receipt }
  | { readonly kind: 'verdict'; readonly verdict: Verdict };

/** The endpoint. */
export function submitEndpoint(deps: SubmitDeps): Endpoint {
  return {
    scopes: ['messages:send'],
    window: 'send',
    scheme: 'bearer',
    handle: async (call) => answer(call, await submit(call, SUBMIT_READERS, deps)),
  };
}

/** Answers as every endpoint does that makes one message. */
export function answer({ exchange }: Call, outcome: Outcome): void {
  if (outcome.kind === 'verdict') {
    exchange.json(200, outcome.verdict);
    return;
  }
  const { id, message, replayed } = outcome.receipt;
  const location = { Location: `/api/v1/messages/${id}` };
  const headers = replayed ? { ...location, 'Idempotency-Replayed': 'true' } : location;
  exchange.json(202, { id, message, status: 'queued' }, headers);
}

/**
 * Reads, checks and hands over one submission; resolves when the message is durable. Throws a `Problem`: 503
 * suspended, 415, 413, 400, 403, 409, in this order.
 */
async function submit(call: Call, readers: FieldReaders, deps: SubmitDeps): Promise<Outcome> {
  const { id } = call.caller.key;
  refuseSuspended(deps.intake, id);
  return heldWhile(deps.budget.share(id), (share) => submitWithin(call, readers, deps, share));
}

async function submitWithin(
  call: Call,
  readers: FieldReaders,
  deps: SubmitDeps,
  budget: Share,
): Promise<Outcome> {
  const { limits } = deps.options;
  const read = await readFields(call.exchange, readers, { limits, budget });
  readParameters(call.exchange.query, NO_PARAMETERS);
  const given = readIdempotencyKey(call.exchange);
  const told = { ...read, faults: [...read.faults, ...given.faults] };
  const context = submissionContext(call, given.key, deps);
  const submission = await inSlices(buildSubmission(told, context, limits));
  refuseOtherwiseSigned(read, submission, deps);
  return decide(call, submission, read.fields.dryRun, deps);
}

/** Throws a `Problem` 400 where a client asks for a signature that we do not make, or for none where we do. */
function refuseOtherwiseSigned(
  { fields, pointTo }: Pick<ReadFields, 'fields' | 'pointTo'>,
  submission: Submission,
  deps: Pick<SubmitDeps, 'sending'>,
): void {
  if (fields.dkim === null) return;
  const signed = willBeSigned(submission, deps);
  if (fields.dkim === signed) return;
  const detail = signed
    ? 'The sender\'s domain signs all of its mail; leave it out, or ask for "yes".'
    : "No key of ours signs for the sender's domain; leave it out, or set the domain up (docs/domains.md).";
  refuseFaults([{ pointer: pointTo('dkim'), code: 'not_supported', detail }]);
}

/** Hands a submission over, or judges it only. Throws a `Problem`: 401, 409, 503. */
export async function decide(
  { checkKey }: Pick<Call, 'checkKey'>,
  submission: Submission,
  dryRun: boolean,
  deps: Pick<SubmitDeps, 'intake' | 'views' | 'inProgress' | 'sending'>,
): Promise<Outcome> {
  if (dryRun) return { kind: 'verdict', verdict: await verdictOf(submission, deps) };
  await checkKey();
  const { keyId, idempotency } = submission;
  const receipt = await deps.inProgress.alone(keyId ?? '', idempotency?.key ?? null, () =>
    handOver(submission, deps),
  );
  return { kind: 'receipt', receipt };
}

/** Where and when a call's submission comes from, and the names it is to have. */
export function submissionContext(
  { exchange, caller, sourceAddress }: Call,
  idempotencyKey: string | null,
  deps: Pick<SubmitDeps, 'clock' | 'random' | 'options' | 'nextToken'>,
): SubmissionContext {
  return {
    key: caller.key,
    sourceAddress,
    requestId: exchange.requestId,
    secure: exchange.secure,
    now: deps.clock.wall(),
    random: deps.random,
    hostname: deps.options.hostname,
    token: deps.nextToken(),
    idempotencyKey,
  };
}

/**
 * `POST /v3/{domain}/messages`: the same endpoint for clients written for Mailgun (contract §2): Basic
 * authentication, forms only, and answers in the shape those clients read. The domain in the path chooses
 * nothing; who may send as whom is the key's.
 */

const MAX_TOLD = 20;

/** The endpoint. Its answers' `id` is the Message-ID, as Mailgun's is. */
export function mailgunEndpoint(deps: SubmitDeps): Endpoint {
  return {
    scopes: ['messages:send'],
    window: 'send',
    scheme: 'basic',
    handle: async (call) => {
      const outcome = await submit(call, MAILGUN_READERS, deps);
      if (outcome.kind === 'verdict') return call.exchange.json(200, outcome.verdict);
      const { messageId, message, replayed } = outcome.receipt;
      const headers = replayed ? { 'Idempotency-Replayed': 'true' } : {};
      call.exchange.json(200, { id: messageId, message }, headers);
    },
  };
}

/** A refusal in Mailgun's shape: one message, which names the faulty fields. */
export function answerAsMailgun(exchange: Exchange, problem: Problem): void {
  const told = problem.errors.slice(0, MAX_TOLD);
  const faults = told.map(({ pointer, detail }) => `${pointer.slice(1)}: ${detail}`).join(' ');
  exchange.json(problem.status, { message: faults || problem.detail }, problem.headers);
}
