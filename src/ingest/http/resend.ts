import { parseMailbox } from '../../domain/mailbox.ts';
import type { Content, Recipient, Submission } from '../../domain/message.ts';
import { reserveBytes } from '../../http/body.ts';
import type { Share } from '../../lib/budget.ts';
import { inSlices, type Sliced, turnFor } from '../../lib/clock.ts';
import { writeField } from '../../mail/field.ts';
import { readHandedIn } from '../../mail/handed-in.ts';
import { changeHeader, type FieldSpan } from '../../mail/header-block.ts';
import { formatDate } from '../../mail/trace.ts';
import type { Spool } from '../../spool/spool.ts';
import type { MessageDetail } from '../../store/views.ts';
import { withoutLinks } from '../unsubscribing.ts';
import type { Call } from './call.ts';
import { refuseFaults } from './fields.ts';
import {
  contentExpired,
  type Findable,
  findActionable,
  readContent,
  refuseTestMessage,
} from './find-message.ts';
import { answer, findReceipt, type ReadRequest, type SubmitDeps, takeOne } from './hand-over.ts';
import { digestOfJson, readIdempotencyKey } from './idempotency.ts';
import { NO_PARAMETERS, readParameters } from './query.ts';
import { readNoBody } from './read-fields.ts';
import {
  envelopeOf,
  individually,
  originOf,
  refuseAuthors,
  refuseSender,
  refuseTooLarge,
  type SubmissionContext,
  submissionContext,
  traceOf,
} from './submission-context.ts';

/**
 * `POST /api/v1/messages/{id}/resend` (contract §3.3): sends a kept message to all its recipients again, as a new
 * message with its own id, Message-ID, Date and Received.
 */

/** What the endpoint needs. */
export interface ResendDeps extends SubmitDeps {
  readonly views: SubmitDeps['views'] & Findable;
  readonly spool: Pick<Spool, 'read'>;
}

/** A stored message as it was sent, and who gets it again. */
export interface Kept extends Pick<MessageDetail, 'message' | 'origin'> {
  readonly recipients: readonly Pick<Recipient, 'address' | 'kind'>[];
  readonly bytes: Buffer;
}

/** Takes the message again, and answers. The new one belongs to the caller. */
export async function answerResend(call: Call, deps: ResendDeps): Promise<void> {
  answer(call, await takeOne(call, deps, (budget) => readKept(call, deps, budget)));
}

/** Throws a `Problem`: 415, 413, 400, 404, 403, 409. */
async function readKept(call: Call, deps: ResendDeps, budget: Share): Promise<ReadRequest> {
  const { exchange, caller, params } = call;
  await readNoBody(exchange, budget);
  readParameters(exchange.query, NO_PARAMETERS);
  const given = readIdempotencyKey(exchange);
  refuseFaults(given.faults);
  const detail = await findActionable(params['id'] ?? '', caller.key, deps.views);
  const { message } = detail;
  const context = submissionContext(call, given.key, deps);
  // A repeat gets the first answer, whatever happened since to the content or the key's rights.
  if (given.key !== null) {
    const repeat = { key: given.key, hash: hashOf(message.id) };
    const receipt = await findReceipt(caller.key.id, repeat, context.now, deps.views);
    if (receipt !== null) return { receipt };
  }
  refuseTestMessage(message);
  if (message.content === null) throw contentExpired(409);
  await reserveBytes(exchange, budget, message.sizeBytes);
  const bytes = await readContent(message, deps.spool, 409);
  const { maxMessageBytes } = deps.options.limits;
  const submission = await inSlices(
    resubmission({ ...detail, bytes }, context, maxMessageBytes),
    turnFor(bytes.length),
  );
  refuseTooLarge(submission.content.sizeBytes, maxMessageBytes);
  return { submission, dryRun: false };
}

/**
 * A kept message as a new submission; recipients that had copies of their own get new ones. Throws a `Problem`: 403 for a
 * sender or author that the key may not use; 400, 413 if there can be no such copies now.
 */
export function* resubmission(
  kept: Kept,
  context: SubmissionContext,
  maxMessageBytes: number,
): Sliced<Submission> {
  const { message } = kept;
  const messageId = `<${context.token}@${context.hostname}>`;
  const recipients = kept.recipients.map(
    ({ address, kind }): Recipient => ({ address, kind, notify: null, orcpt: null }),
  );
  const bytes = message.copies === null ? kept.bytes : yield* withoutLinks(kept.bytes);
  const content = renewed({ ...kept, bytes }, recipients, messageId, context);
  const submission: Submission = {
    ...originOf(context, { hash: hashOf(message.id) }),
    envelope: envelopeOf(message.envelopeFrom, recipients),
    content,
    header: { ...message.header, messageId },
    tags: message.tags,
    metadata: message.metadata,
    sendAt: null,
    priority: message.priority,
    stream: kept.origin.stream,
    ignoresSuppression: false,
    ...(message.tls !== null && { tls: message.tls }),
  };
  const unsubscribe = message.copies === null ? null : kept.origin.stream;
  const nowhere = { unsubscribe: '', header: () => '' };
  return yield* individually(submission, unsubscribe, context, maxMessageBytes, nowhere);
}

/** The content with new fields of ours (every accepted message has a Date and a Message-ID), if the key may send it. */
function renewed(
  { message, bytes }: Kept,
  recipients: readonly Recipient[],
  messageId: string,
  context: SubmissionContext,
): Content {
  // Mail accepted over SMTP was not checked: its header may be any text.
  const read = readHandedIn([bytes], bytes.length);
  if (read === null) throw new Error('a header is larger than its message');
  const { header } = read;
  const reversePath = parseMailbox(message.envelopeFrom);
  if (reversePath.ok) refuseSender(context.key, reversePath.value.domain);
  refuseAuthors(context.key, () => header.fields);
  const fresh = new Map([
    ['message-id', writeField('Message-ID', [messageId])],
    ['date', writeField('Date', [formatDate(context.now)])],
  ]);
  const ours = onTop(header.fields);
  const chunks = changeHeader(bytes, header, {
    prepend: traceOf(recipients, context),
    each: (field, index) => (index < ours ? null : (fresh.get(field.lowerName) ?? field)),
  });
  const sizeBytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return { chunks, sizeBytes, flags: message.flags };
}

/**
 * How many fields we put on top at acceptance: our signatures, which cover the fields as they were, above our Received.
 */
function onTop(fields: readonly FieldSpan[]): number {
  const first = fields.findIndex(({ lowerName }) => lowerName !== 'dkim-signature');
  return fields[first]?.lowerName === 'received' ? first + 1 : 0;
}

/** Resending another message under the same key is another submission. */
function hashOf(id: string): string {
  return digestOfJson('resend', id);
}
