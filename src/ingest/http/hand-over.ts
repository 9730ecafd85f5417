import type { Idempotency, Submission } from '../../domain/message.ts';
import { INBOX } from '../../domain/relay.ts';
import type { Intake, IntakeAnswer, Suspension } from '../../engine/contract.ts';
import { Problem } from '../../http/problem.ts';
import type { Views } from '../../store/views.ts';

/** From submissions that are checked to receipts: the engine's answers in the client's words. */

/** What the client gets for a message that is now ours. */
export interface Receipt {
  readonly id: string;
  /** The Message-ID with its angle brackets. */
  readonly messageId: string;
  readonly message: string;
  /** It is the first answer's once more (`Idempotency-Key`). */
  readonly replayed: boolean;
}

/** What handing over needs. */
export interface HandOverDeps {
  readonly intake: Pick<Intake, 'accept' | 'suspended'>;
  readonly views: Pick<Views, 'message' | 'remembered'>;
}

const QUEUED = 'Queued for delivery.';
const CAPTURED = 'Captured in the local inbox; nothing will be sent.';

/** Throws the problem 503 when nothing is accepted now, from anyone or from this key. */
export function refuseSuspended(intake: HandOverDeps['intake'], keyId: string): void {
  const suspension = intake.suspended(keyId);
  if (suspension !== null) throw suspended(suspension);
}

/**
 * Hands submissions over in one commit; resolves when what was accepted is durable. One receipt or refusal (409,
 * 503) each, in order. Rejects with `StoreError` when a first answer cannot be read again.
 */
export async function handOverAll(
  submissions: readonly Submission[],
  deps: HandOverDeps,
): Promise<(Receipt | Problem)[]> {
  if (submissions.length === 0) return [];
  const answers = await deps.intake.accept(submissions);
  const receipts: (Receipt | Problem)[] = [];
  for (const [place, submission] of submissions.entries())
    receipts.push(await receiptOf(answers[place], submission, deps.views));
  return receipts;
}

/** Hands one submission over. Throws its refusal. */
export async function handOver(submission: Submission, deps: HandOverDeps): Promise<Receipt> {
  const [receipt] = await handOverAll([submission], deps);
  if (receipt === undefined || receipt instanceof Problem) throw receipt ?? noAnswer();
  return receipt;
}

async function receiptOf(
  answer: IntakeAnswer | undefined,
  submission: Submission,
  views: HandOverDeps['views'],
): Promise<Receipt | Problem> {
  const { messageId } = submission.header;
  switch (answer?.kind) {
    case 'accepted':
      return { id: answer.id, messageId, message: answer.captured ? CAPTURED : QUEUED, replayed: false };
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
 * The receipt of an equal submission under this key, for repeats that could not be made anew: null when there is none.
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

/** The refusal of a key that stands for something else. */
export function idempotencyMismatch(): Problem {
  return new Problem(
    409,
    'idempotency_mismatch',
    'This Idempotency-Key was used for another submission in the last 24 hours; use a new one for each.',
  );
}

/** The first answer once more, told from what was stored then. */
async function firstReceipt(id: string, messageId: string, views: HandOverDeps['views']): Promise<Receipt> {
  const first = await views.message(id);
  const captured =
    first !== null && (first.message.test || first.recipients.every(({ relay }) => relay === INBOX));
  return {
    id,
    messageId: first?.message.header.messageId ?? messageId,
    message: captured ? CAPTURED : QUEUED,
    replayed: true,
  };
}

function suspended({ code, detail, retryAfterSeconds }: Suspension): Problem {
  return new Problem(503, code, detail, { headers: { 'Retry-After': String(retryAfterSeconds) } });
}

function noAnswer(): Error {
  return new Error('the intake gave no answer');
}
