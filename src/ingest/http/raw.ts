import type { Recipient } from '../../domain/envelope.ts';
import type { Mailbox } from '../../domain/mailbox.ts';
import type { Content, Submission } from '../../domain/message.ts';
import { readWholeBody } from '../../http/body.ts';
import type { FieldFault } from '../../http/problem.ts';
import { pointerToken } from '../../http/problem.ts';
import { heldWhile, type Share } from '../../lib/budget.ts';
import { inSlices, parseTimestamp, type Sliced } from '../../lib/clock.ts';
import {
  type FinishedMessage,
  isBlind,
  type MessageFault,
  missingFields,
  readFinished,
} from '../../mail/finished.ts';
import { changeHeader } from '../../mail/header-block.ts';
import type { Call, Endpoint } from './call.ts';
import { checkAddresses } from './check-addresses.ts';
import { checkPriority, checkSendAt, checkTags } from './check-fields.ts';
import { digestOf, digestOfJson } from './digest.ts';
import { Faults, refuseFaults, withSetting } from './faults.ts';
import { refuseSuspended } from './hand-over.ts';
import { readIdempotencyKey } from './idempotency.ts';
import type { IngestLimits } from './limits.ts';
import { type RawEnvelope, readRawEnvelope } from './raw-envelope.ts';
import { messageBodyBounds, requireType } from './read-fields.ts';
import {
  refuseAuthors,
  refuseSender,
  refuseTooLarge,
  type SubmissionContext,
  submissionOf,
  traceOf,
} from './submission-context.ts';
import { answer, decide, type Outcome, type SubmitDeps, submissionContext } from './submit.ts';
import { messageTooLarge } from './too-large.ts';

/**
 * `POST /api/v1/messages/raw` (contract §2): a finished message, delivered as it is. Only Bcc is removed, and
 * Received, a missing Date and a missing Message-ID are added.
 */

/** How faults of the message are told from those of the parameters: `/message/From`. */
const MESSAGE_POINTER = '/message';

/** The endpoint. */
export function rawEndpoint(deps: SubmitDeps): Endpoint {
  return {
    scopes: ['messages:send'],
    window: 'send',
    scheme: 'bearer',
    handle: async (call) => answer(call, await submitRaw(call, deps)),
  };
}

/** Throws a `Problem`: 503 suspended, 415, 413, 400, 403, 409, in this order. */
async function submitRaw(call: Call, deps: SubmitDeps): Promise<Outcome> {
  const { id } = call.caller.key;
  refuseSuspended(deps.intake, id);
  requireType(call.exchange, ['message/rfc822']);
  return heldWhile(deps.budget.share(id), (share) => submitWithin(call, deps, share));
}

async function submitWithin(call: Call, deps: SubmitDeps, budget: Share): Promise<Outcome> {
  const { exchange } = call;
  const { limits } = deps.options;
  const body = await readWholeBody(exchange, { ...messageBodyBounds(limits), budget });
  const given = readIdempotencyKey(exchange);
  const envelope = readRawEnvelope(exchange, given.faults);
  const context = submissionContext(call, given.key, deps);
  const submission = await inSlices(buildRaw(envelope, body, context, limits));
  return decide(call, submission, envelope.fields.dryRun, deps);
}

/** Throws a `Problem`: 413 too large, 400, 403 for a sender or an author that the key may not send as. */
function* buildRaw(
  envelope: RawEnvelope,
  body: Buffer,
  context: SubmissionContext,
  limits: IngestLimits,
): Sliced<Submission> {
  const checked = yield* check(envelope, body, context.now, limits);
  const { message, recipients, from, tags, sendAt, priority } = checked;
  const messageId = message.messageId ?? `<${context.token}@${context.hostname}>`;
  const content = contentOf(checked, messageId, context);
  refuseTooLarge(content.sizeBytes, limits.maxMessageBytes);
  refuseSender(context.key, from.domain);
  refuseAuthors(context.key, message.header.fields);
  return submissionOf(
    {
      reversePath: from.address,
      recipients,
      content,
      header: { from: message.from, subject: message.subject, messageId },
      tags,
      metadata: {},
      sendAt,
      priority,
      hash: context.idempotencyKey === null ? null : yield* hashOf(checked, body),
    },
    context,
  );
}

/** A raw submission whose every part was found good. */
interface Checked {
  readonly message: FinishedMessage;
  readonly from: Mailbox;
  readonly to: readonly Mailbox[];
  readonly recipients: readonly Recipient[];
  readonly tags: readonly string[];
  readonly sendAt: number | null;
  readonly priority: Submission['priority'];
  /** As given, for comparing repeats. */
  readonly sendAtText: string | null;
}

function* check(envelope: RawEnvelope, body: Buffer, now: number, limits: IngestLimits): Sliced<Checked> {
  const { fields } = envelope;
  const faults = new Faults(envelope);
  const { from, to, recipients } = checkAddresses(fields, limits.maxRecipients, faults);
  const tags = checkTags(fields.tags, limits.maxTags, faults);
  const sendAt = checkSendAt(fields.sendAt, now, faults);
  const priority = checkPriority(fields.priority, faults);
  const finished = yield* readFinished(body, limits);
  if (finished.kind === 'too_large') throw messageTooLarge(finished.sizeBytes, limits.maxMessageBytes);
  refuseRaw(envelope, [
    ...faults.found.map((fault) => withPlus(fault, envelope)),
    ...(finished.kind === 'faulty' ? finished.faults.map(toFieldFault) : []),
  ]);
  if (from === null || finished.kind !== 'read') throw new Error('a fault was not reported');
  return {
    from,
    to,
    recipients,
    message: finished.message,
    tags,
    sendAt,
    priority,
    sendAtText: fields.sendAt,
  };
}

/** Throws the problem 400 if anything was found; the query's own when nothing else was. */
function refuseRaw({ queryProblem }: RawEnvelope, faults: readonly FieldFault[]): void {
  if (queryProblem !== null && faults.length === queryProblem.errors.length) throw queryProblem;
  refuseFaults(faults);
}

/** Tells the likeliest cause of a blank in an address. */
function withPlus(fault: FieldFault, { lacksPlus }: RawEnvelope): FieldFault {
  if (!lacksPlus || fault.code !== 'address_local_part') return fault;
  return { ...fault, detail: `${fault.detail} In a query, + is written as %2B.` };
}

function toFieldFault({ field, ...fault }: MessageFault): FieldFault {
  const pointer = field === null ? MESSAGE_POINTER : `${MESSAGE_POINTER}/${pointerToken(field)}`;
  const { code, detail } = withSetting(fault);
  return { pointer, code, detail };
}

function contentOf(checked: Checked, messageId: string, context: SubmissionContext): Content {
  const { message, from, to, recipients, sendAt } = checked;
  const missing = missingFields(message, { date: sendAt ?? context.now, messageId });
  const chunks = changeHeader(message.bytes, message.header, {
    prepend: traceOf(recipients, context) + missing,
    each: (field) => (isBlind(field) || (field.lowerName === 'date' && !message.hasDate) ? null : field),
  });
  const sizeBytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const utf8 = message.flags.utf8 || [from, ...to].some(({ ascii }) => !ascii);
  return { chunks, sizeBytes, flags: { ...message.flags, utf8 } };
}

/** The message byte by byte, and its envelope as it was parsed. */
function* hashOf({ from, recipients, tags, sendAtText, priority }: Checked, body: Buffer): Sliced<string> {
  const addresses = [from.address, recipients.map(({ address }) => address)];
  const sendAt = sendAtText === null ? null : parseTimestamp(sendAtText);
  return digestOfJson('raw', [addresses, tags, sendAt, priority, yield* digestOf(body)]);
}
