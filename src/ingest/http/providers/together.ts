import type { Submission } from '../../../domain/message.ts';
import { type FieldFault, Problem } from '../../../http/problem.ts';
import type { Share } from '../../../lib/budget.ts';
import type { Call } from '../call.ts';
import { type Fields, refuseFaults } from '../fields.ts';
import { handOverTogether, idempotencyMismatch, type Receipt } from '../hand-over.ts';
import { keyInBatch } from '../idempotency.ts';
import type { ProviderDeps } from './provider.ts';
import { type GivenMessage, inTurns, toSubmission } from './submitting.ts';

/** The messages of one request, where the provider takes all of them or none. */

/** What their submissions are made of. */
export interface Together<T> {
  readonly key: string | null;
  /** Faults found beside the messages. */
  readonly found: readonly FieldFault[];
  /** Characters that each message is made of and that the request has once: {@link lengthOf} them. */
  readonly shared: number;
  /** Throws a `Problem`: 400, 413. */
  readonly make: (message: T, place: number) => GivenMessage;
}

/** Faults told of all messages together, and messages at fault; the others are not looked for. */
const MAX_FAULTS = 20;

/** The characters of what replacing and composing read, and the bytes of attachments. */
export function lengthOf({
  subject,
  text,
  html,
  headers,
  metadata,
  attachments,
}: Pick<Fields, 'subject' | 'text' | 'html' | 'headers' | 'metadata' | 'attachments'>): number {
  let length = subject.length + (text?.length ?? 0) + (html?.length ?? 0);
  for (const [name, value] of [...headers, ...metadata]) length += name.length + value.length;
  for (const { content } of attachments) if (content instanceof Uint8Array) length += content.length;
  return length;
}

/** A submission of each message. Throws a `Problem`: 400 with the faults of all, each once; 403, 413, 503. */
export async function judgeTogether<T>(
  call: Call,
  messages: readonly T[],
  { key, found, shared, make }: Together<T>,
  deps: ProviderDeps,
  budget: Share,
): Promise<Submission[]> {
  const { maxBatchBytes } = deps.options.limits;
  const faults = new Map<string, FieldFault>();
  const note = (fault: FieldFault) => faults.set(`${fault.pointer} ${fault.detail}`, fault);
  found.forEach(note);
  const isSingle = messages.length === 1;
  let bytes = 0;
  // What goes in is the work, whatever is left of it; what comes out is the memory.
  let read = 0;
  let faulty = 0;
  const made = await inTurns(
    messages,
    call,
    budget,
    async (one, place): Promise<Submission | null> => {
      if (faults.size >= MAX_FAULTS || faulty >= MAX_FAULTS) return null;
      read += shared;
      if (!isSingle && read > maxBatchBytes) throw tooLarge(maxBatchBytes);
      try {
        const message = make(one, place);
        const own = key === null || isSingle ? key : keyInBatch(key, place);
        const submission = await toSubmission(call, message, own, deps).catch((error: unknown) => {
          throw atSender(error, message.pointTo('from'));
        });
        bytes += submission.content.sizeBytes;
        if (!isSingle && bytes > maxBatchBytes) throw tooLarge(maxBatchBytes);
        return submission;
      } catch (error) {
        if (!(error instanceof Problem) || error.status !== 400 || error.errors.length === 0) throw error;
        error.errors.forEach(note);
        faulty += 1;
        return null;
      }
    },
    (submission) => submission?.content.sizeBytes ?? 0,
  );
  refuseFaults([...faults.values()]);
  return made.flatMap((submission) => submission ?? []);
}

/** The refusal of a sender names its field. */
function atSender(error: unknown, pointer: string): unknown {
  if (!(error instanceof Problem) || error.code !== 'sender_not_allowed') return error;
  const { status, code, detail } = error;
  return new Problem(status, code, detail, { errors: [{ pointer, code, detail }] });
}

function tooLarge(maxBytes: number): Problem {
  return new Problem(
    413,
    'content_too_large',
    `All messages of a request may have at most ${maxBytes} bytes together, before and after values are put in. Send to fewer recipients at once, or raise api.max_batch_bytes.`,
  );
}

/**
 * Hands all of them over in one commit. Returns the receipt of the first, which is a repeat if all are. Throws a
 * `Problem`: 401, 409, 503.
 */
export async function takeTogether(
  call: Call,
  submissions: readonly Submission[],
  key: string | null,
  deps: ProviderDeps,
): Promise<Receipt> {
  const { id } = call.caller.key;
  await call.checkKey();
  const taken = await deps.inProgress.alone(id, key, async () => {
    if (key !== null) await refuseOtherNumber(id, key, submissions.length, deps);
    return handOverTogether(submissions, deps);
  });
  const [first] = taken;
  if (first === undefined) throw new Error('there was no message to take');
  return { ...first, replayed: taken.every(({ replayed }) => replayed) };
}

/**
 * Throws the problem 409 when the first request under this key had another number of messages: their keys would be
 * others, or more would be sent.
 */
async function refuseOtherNumber(
  keyId: string,
  key: string,
  count: number,
  { views, clock }: ProviderDeps,
): Promise<void> {
  const isKnown = async (one: string) => (await views.remembered(keyId, one, clock.wall())) !== null;
  const others = count === 1 ? [keyInBatch(key, 0)] : [key, keyInBatch(key, count)];
  for (const other of others) if (await isKnown(other)) throw idempotencyMismatch();
  const hadFewer =
    count > 1 && (await isKnown(keyInBatch(key, 0))) && !(await isKnown(keyInBatch(key, count - 1)));
  if (hadFewer) throw idempotencyMismatch();
}
