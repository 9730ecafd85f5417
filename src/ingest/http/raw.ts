import { createHash } from 'node:crypto';
import type { Recipient } from '../../domain/envelope.ts';
import type { Content, Submission } from '../../domain/message.ts';
import { joinBody, readBody } from '../../http/body.ts';
import type { FieldFault } from '../../http/problem.ts';
import { pointerToken } from '../../http/quote.ts';
import { formatDate } from '../../mail/date.ts';
import { writeField } from '../../mail/field.ts';
import { type FinishedMessage, type MessageFault, readFinished } from '../../mail/finished.ts';
import { changeHeader } from '../../mail/header-block.ts';
import type { Call, Endpoint } from './call.ts';
import { checkAddresses } from './check-addresses.ts';
import { checkPriority, checkSendAt, checkTags } from './check-fields.ts';
import { Faults, refuseFaults } from './faults.ts';
import type { ReadFields } from './fields.ts';
import { refuseSuspended } from './hand-over.ts';
import { readIdempotencyKey } from './idempotency.ts';
import type { IngestLimits } from './limits.ts';
import { readRawEnvelope } from './raw-envelope.ts';
import { messageBodyBounds, requireType } from './read-fields.ts';
import { refuseSender, refuseTooLarge, type SubmissionContext, traceOf } from './submission-context.ts';
import { answer, decide, type Outcome, type SubmitDeps, submissionContext } from './submit.ts';

/**
 * `POST /api/v1/messages/raw` (contract §2): a finished message, delivered as it is. Only Bcc is removed, and
 * Received, a missing Date and a missing Message-ID are added.
 */

const BLIND = new Set(['bcc', 'resent-bcc']);
/** How faults of the message are told from those of the parameters: `/message/From`. */
const MESSAGE_POINTER = '/message';
const SETTINGS: Readonly<Record<string, string>> = {
  header_count: ' The limit is api.max_headers.',
  header_size: ' The limit is api.max_header_bytes.',
};

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
  const { exchange } = call;
  refuseSuspended(deps.intake, call.caller.key.id);
  requireType(exchange, ['message/rfc822']);
  const { limits } = deps.options;
  const body = joinBody(await readBody(exchange, { ...messageBodyBounds(limits), budget: deps.budget }));
  const read = readRawEnvelope(exchange);
  const given = readIdempotencyKey(exchange);
  const context = submissionContext(call, given.key, deps);
  const checked = check({ ...read, faults: [...given.faults, ...read.faults] }, body, context.now, limits);
  return decide(rawSubmission(checked, context, limits), read.fields.dryRun, deps);
}

/** A raw submission whose every part was found good. */
interface Checked {
  readonly message: FinishedMessage;
  readonly reversePath: string;
  readonly domain: string;
  readonly recipients: readonly Recipient[];
  /** Some envelope address needs SMTPUTF8. */
  readonly utf8: boolean;
  readonly tags: readonly string[];
  readonly sendAt: number | null;
  readonly priority: Submission['priority'];
  /** As given, for comparing repeats. */
  readonly body: Buffer;
  readonly sendAtText: string | null;
}

function check(read: ReadFields, body: Buffer, now: number, limits: IngestLimits): Checked {
  const { fields } = read;
  const faults = new Faults(read);
  const { from, to, recipients } = checkAddresses(fields, limits.maxRecipients, faults);
  const tags = checkTags(fields.tags, limits.maxTags, faults);
  const sendAt = checkSendAt(fields.sendAt, now, faults);
  const priority = checkPriority(fields.priority, faults);
  const finished = readFinished(body, limits);
  refuseFaults([...faults.found, ...(finished.ok ? [] : finished.faults.map(toFieldFault))]);
  if (from === null || !finished.ok) throw new Error('a fault was not reported');
  const utf8 = [from, ...to].some(({ ascii }) => !ascii);
  const envelope = { reversePath: from.address, domain: from.domain, recipients, utf8 };
  return { ...envelope, message: finished.message, tags, sendAt, priority, body, sendAtText: fields.sendAt };
}

function toFieldFault({ field, code, detail }: MessageFault): FieldFault {
  const pointer = field === null ? MESSAGE_POINTER : `${MESSAGE_POINTER}/${pointerToken(field)}`;
  return { pointer, code, detail: `${detail}${SETTINGS[code] ?? ''}` };
}

/** Throws a `Problem`: 413 too large, 403 for a sender or an author that the key may not send as. */
function rawSubmission(checked: Checked, context: SubmissionContext, limits: IngestLimits): Submission {
  const { message, recipients, reversePath, tags, sendAt, priority } = checked;
  const messageId = message.messageId ?? `<${context.token}@${context.hostname}>`;
  const content = contentOf(checked, messageId, context);
  refuseTooLarge(content.sizeBytes, limits.maxMessageBytes);
  for (const domain of [checked.domain, ...message.authors.map((author) => author.domain)])
    refuseSender(context.key, domain);
  return {
    envelope: { reversePath, recipients, ret: null, envid: null },
    content,
    header: { from: message.from, subject: message.subject, messageId },
    tags,
    metadata: {},
    sendAt,
    priority,
    source: 'api',
    sourceAddress: context.sourceAddress,
    requestId: context.requestId,
    keyId: context.key.id,
    test: context.key.mode === 'test',
    idempotency:
      context.idempotencyKey === null ? null : { key: context.idempotencyKey, hash: hashOf(checked) },
  };
}

function contentOf(checked: Checked, messageId: string, context: SubmissionContext): Content {
  const { message, recipients, sendAt, utf8 } = checked;
  let prepend = traceOf(recipients, context);
  if (!message.hasDate) prepend += writeField('Date', [formatDate(sendAt ?? context.now)]);
  if (message.messageId === null) prepend += writeField('Message-ID', [messageId]);
  const chunks = changeHeader(message.bytes, message.header, {
    prepend,
    each: (field) => (BLIND.has(field.lowerName) ? null : field),
  });
  const sizeBytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return { chunks, sizeBytes, flags: { ...message.flags, utf8: message.flags.utf8 || utf8 } };
}

/** The message byte by byte, and its envelope as it was parsed. */
function hashOf({ reversePath, recipients, tags, sendAtText, priority, body }: Checked): string {
  const envelope = [reversePath, recipients.map(({ address }) => address), tags, sendAtText, priority];
  return createHash('sha256')
    .update(`raw\0${JSON.stringify(envelope)}\0`)
    .update(body)
    .digest('hex');
}
