import { type Idempotency, isReadBack, type Submission } from '../../domain/message.ts';
import { INBOX } from '../../domain/relay.ts';
import type { Intake, IntakeAnswer, Suspension } from '../../engine/contract.ts';
import { reserveMore } from '../../http/body.ts';
import { Problem } from '../../http/problem.ts';
import { type Budget, giveBack, heldWhile, type Share } from '../../lib/budget.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import type { Views } from '../../store/views.ts';
import type { Call } from './call.ts';
import type { InProgress } from './idempotency.ts';
import type { IngestDeps, IngestOptions } from './options.ts';
import type { TemplatingDeps } from './templating.ts';
import { type GivenPlaces, type Verdict, type VerdictDeps, verdictOf, withSuppressed } from './verdict.ts';

/** From checked submissions to receipts: the engine's answers in the client's terms. */

/** What every way of submitting needs. */
export interface SubmitDeps extends TemplatingDeps {
  readonly intake: Intake;
  readonly sending: VerdictDeps['sending'];
  readonly suppressions: VerdictDeps['suppressions'];
  readonly preflight: VerdictDeps['preflight'];
  readonly views: Pick<Views, 'message' | 'remembered'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly options: Pick<IngestOptions, 'hostname' | 'limits'>;
  /** Bytes of bodies in memory. */
  readonly budget: Budget;
  readonly inProgress: InProgress;
  /** Makes the unique part of a Message-ID. */
  readonly nextToken: () => string;
  readonly unsubscribing: IngestDeps['unsubscribing'];
}

/** An accepted message, or the verdict of a dry run. */
export type Outcome =
  | { readonly kind: 'receipt'; readonly receipt: Receipt }
  | { readonly kind: 'verdict'; readonly verdict: Verdict };

/** A checked submission; or a receipt: of what was accepted while it was read, or for a repeat of the first one. */
export type ReadRequest =
  | {
      readonly submission: MadeSubmission;
      readonly dryRun: boolean;
      readonly ofTemplate?: boolean;
      readonly given?: GivenPlaces;
      /** The body, if the submission's content is a part of it. */
      readonly body?: Buffer;
    }
  | { readonly receipt: Receipt };

/** A submission to hand over. */
export interface MadeSubmission extends Submission {
  /** What it says could not be made again: if it is no repeat, it is refused so. */
  readonly unlessRepeat?: Problem;
}

/** The answer to an accepted message. */
export interface Receipt {
  readonly id: string;
  /** The Message-ID with its angle brackets. */
  readonly messageId: string;
  readonly message: string;
  /** Recipients to whom nothing is sent, because of the suppression list; absent: none. */
  readonly suppressed?: readonly string[];
  /** It repeats the first answer (`Idempotency-Key`). */
  readonly replayed: boolean;
}

/** What handing over needs. */
export interface HandOverDeps {
  readonly intake: Pick<Intake, 'accept' | 'suspended'>;
  readonly views: Pick<Views, 'message' | 'remembered'>;
  readonly clock: Pick<Clock, 'wall'>;
}

/**
 * Takes the one message of a request, whichever way it is read: hands it over or, in a dry run, only judges it.
 * Resolves when it is durable. Throws a `Problem`: 503 suspended first, then those of reading, then 401, 409, 503.
 */
export async function takeOne(
  call: Call,
  deps: SubmitDeps,
  read: (budget: Share) => Promise<ReadRequest>,
): Promise<Outcome> {
  const { id } = call.caller.key;
  refuseSuspended(deps.intake, id);
  return heldWhile(deps.budget.share(id), async (budget) => {
    const request = await read(budget);
    if ('receipt' in request) return { kind: 'receipt', receipt: request.receipt };
    const { submission } = request;
    // What a template says was no part of the body, and so were copies.
    if (submission.copies !== undefined || request.ofTemplate === true)
      reserveMore(call.exchange, budget, submission.content.sizeBytes);
    // What it was made of is gone.
    else if (isReadBack(submission)) budget.keep(submission.content.sizeBytes);
    if (request.dryRun) return { kind: 'verdict', verdict: await verdictOf(submission, deps, request.given) };
    await call.checkKey();
    const receipt = await deps.inProgress.alone(id, submission.idempotency?.key ?? null, () =>
      handOver(submission, deps),
    );
    if (request.body !== undefined && isReadBack(submission)) giveBack(request.body);
    return { kind: 'receipt', receipt };
  });
}

/** The common answer of the endpoints that take one message. */
export function answer({ exchange }: Call, outcome: Outcome): void {
  if (outcome.kind === 'verdict') {
    exchange.json(200, outcome.verdict);
    return;
  }
  const { id, message, suppressed, replayed } = outcome.receipt;
  const location = { Location: `/api/v1/messages/${id}` };
  const headers = replayed ? { ...location, 'Idempotency-Replayed': 'true' } : location;
  exchange.json(202, { id, message, status: 'queued', ...(suppressed && { suppressed }) }, headers);
}

const QUEUED = 'Queued for delivery.';
const CAPTURED = 'Captured in the local inbox; nothing will be sent.';

/** What a client hears of an accepted message to so many recipients. */
function toldOf(
  captured: boolean,
  suppressed: readonly string[],
  recipients: number,
): Pick<Receipt, 'message' | 'suppressed'> {
  return withSuppressed(captured ? CAPTURED : QUEUED, suppressed, recipients);
}

/** Throws the problem 503 when nothing is accepted now, from any client or from this key. */
export function refuseSuspended(intake: HandOverDeps['intake'], keyId: string): void {
  const suspension = intake.suspended(keyId);
  if (suspension !== null) throw suspended(suspension);
}

/**
 * Hands submissions over in one commit; resolves when the accepted ones are durable. Returns one receipt or refusal
 * (409, 503) each, in order. Rejects with `StoreError` when a first answer cannot be read again.
 */
export async function handOverAll(
  submissions: readonly MadeSubmission[],
  deps: HandOverDeps,
): Promise<(Receipt | Problem)[]> {
  return await receiptsOf(submissions, false, deps);
}

/**
 * Hands over submissions that are accepted together or not at all; resolves when they are durable. Throws the first
 * refusal, with nothing stored.
 */
export async function handOverTogether(
  submissions: readonly MadeSubmission[],
  deps: HandOverDeps,
): Promise<Receipt[]> {
  const receipts = await receiptsOf(submissions, true, deps);
  return receipts.map((receipt) => {
    if (receipt instanceof Problem) throw receipt;
    return receipt;
  });
}

/** Hands one submission over. Throws its refusal. */
export async function handOver(submission: MadeSubmission, deps: HandOverDeps): Promise<Receipt> {
  const [receipt] = await handOverAll([submission], deps);
  if (receipt === undefined || receipt instanceof Problem) throw receipt ?? noAnswer();
  return receipt;
}

/** One each, in order. Taken `together`, throws the refusal of the first that was not made and is no repeat. */
async function receiptsOf(
  submissions: readonly MadeSubmission[],
  together: boolean,
  deps: HandOverDeps,
): Promise<(Receipt | Problem)[]> {
  const repeats = new Map<MadeSubmission, Receipt | Problem>();
  for (const one of submissions) {
    if (one.unlessRepeat === undefined) continue;
    const repeat = (await firstReceiptOf(one, deps)) ?? one.unlessRepeat;
    if (together && repeat instanceof Problem) throw repeat;
    repeats.set(one, repeat);
  }
  const made = submissions.filter((one) => !repeats.has(one));
  // One alone takes the shorter way of any message.
  const isWhole = together && made.length > 1;
  const answers = (made.length === 0 ? [] : await deps.intake.accept(made, isWhole)).values();
  const receipts: (Receipt | Problem)[] = [];
  for (const one of submissions)
    receipts.push(repeats.get(one) ?? (await receiptOf(answers.next().value, one, deps.views)));
  return receipts;
}

async function firstReceiptOf(
  { keyId, idempotency }: Submission,
  { views, clock }: HandOverDeps,
): Promise<Receipt | null> {
  if (keyId === null || idempotency === null) return null;
  return await findReceipt(keyId, idempotency, clock.wall(), views);
}

async function receiptOf(
  answer: IntakeAnswer | undefined,
  submission: Submission,
  views: HandOverDeps['views'],
): Promise<Receipt | Problem> {
  const { messageId } = submission.header;
  switch (answer?.kind) {
    case 'accepted':
      return {
        id: answer.id,
        messageId,
        ...toldOf(
          answer.captured,
          (answer.suppressed ?? []).map(({ address }) => address),
          submission.envelope.recipients.length,
        ),
        replayed: false,
      };
    case 'replayed':
      return firstReceipt(answer.id, messageId, views);
    case 'idempotency_mismatch':
      return idempotencyMismatch();
    case 'suspended':
      return suspended(answer.suspension);
    default:
      throw noAnswer();
  }
}

/**
 * The receipt of an equal submission under this key, for repeats that could not be composed again; null without one.
 */
export async function findReceipt(
  keyId: string,
  { key, hash }: Idempotency,
  now: number,
  views: HandOverDeps['views'],
): Promise<Receipt | null> {
  const first = await views.remembered(keyId, key, now);
  return first?.hash === hash ? firstReceipt(first.id, '', views) : null;
}

/** The refusal of an idempotency key used for another submission. */
export function idempotencyMismatch(): Problem {
  return new Problem(
    409,
    'idempotency_mismatch',
    'This Idempotency-Key was used for another submission in the last 24 hours; use a new key for each.',
  );
}

/** The first answer once more, built from what was stored then. */
async function firstReceipt(id: string, messageId: string, views: HandOverDeps['views']): Promise<Receipt> {
  const first = await views.message(id);
  const captured =
    first !== null && (first.message.test || first.recipients.every(({ relay }) => relay === INBOX));
  const suppressed = (first?.recipients ?? []).flatMap(({ address, outcome }) =>
    outcome === 'suppressed' ? [address] : [],
  );
  return {
    id,
    messageId: first?.message.header.messageId ?? messageId,
    ...toldOf(captured, suppressed, first?.recipients.length ?? 0),
    replayed: true,
  };
}

function suspended({ code, detail, retryAfterSeconds }: Suspension): Problem {
  return new Problem(503, code, detail, { headers: { 'Retry-After': String(retryAfterSeconds) } });
}

function noAnswer(): Error {
  return new Error('the intake gave no answer');
}
