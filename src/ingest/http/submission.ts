import { formatMailbox, type Mailbox, parseMailbox } from '../../domain/mailbox.ts';
import type { Content, Submission } from '../../domain/message.ts';
import { type FieldFault, Problem } from '../../http/problem.ts';
import { giveBackAllBut } from '../../lib/budget.ts';
import { inSlices, parseTimestamp, type Sliced } from '../../lib/clock.ts';
import { compose, type Draft } from '../../mail/compose.ts';
import { addressWords } from '../../mail/field.ts';
import { withDecodedName } from '../../mail/field-values.ts';
import { effectiveMessageId, findHeader } from '../../mail/headers.ts';
import { type Attachment, checkAttachment, UNKNOWN_TYPE } from '../../mail/part.ts';
import { streamOf, tlsDemandOf, tooMany } from '../message-rules.ts';
import type { Call } from './call.ts';
import {
  type Addresses,
  checkAddresses,
  checkBody,
  checkBox,
  checkHeaders,
  checkMetadata,
  checkPriority,
  checkSendAt,
  checkStream,
  checkSuppression,
  checkTags,
  withBox,
} from './checks.ts';
import type { AttachmentField, Fields, ReadFields } from './fields.ts';
import { Faults } from './fields.ts';
import type { MadeSubmission, SubmitDeps } from './hand-over.ts';
import { digestible, digestOf, digestOfJson, sortedByName } from './idempotency.ts';
import type { IngestLimits } from './options.ts';
import {
  envelopeOf,
  individually,
  originOf,
  refuseAuthors,
  refuseIgnoring,
  refuseSender,
  refuseTooLarge,
  type SubmissionContext,
  submissionContext,
  traceOf,
} from './submission-context.ts';
import { asksForTemplate, sortedValues, withTemplate } from './templating.ts';

/** A submission, and the fields that it was made of: with what their template says. */
export interface Made {
  readonly submission: MadeSubmission;
  readonly read: ReadFields;
}

/**
 * Makes a submission of a client's fields. For a repeat whose template is gone, or has changed so that these values no
 * longer fit, it is one without words, which is never sent (see {@link MadeSubmission}). `others` are faults found
 * beside the fields. Throws as {@link buildSubmission} does.
 */
export async function makeSubmission(
  call: Call,
  given: ReadFields,
  idempotencyKey: string | null,
  deps: SubmitDeps,
  others: readonly FieldFault[] = [],
): Promise<Made> {
  const context = submissionContext(call, idempotencyKey, deps);
  const build = async (read: ReadFields) => {
    const submission = await deps.budget.inTurn(lengthOf(read.fields), (turn) =>
      inSlices(buildSubmission(read, context, deps.options.limits, others), turn),
    );
    const { unlessRepeat } = read;
    return { submission: unlessRepeat === undefined ? submission : { ...submission, unlessRepeat }, read };
  };
  if (!asksForTemplate(given)) return await build(given);
  const { unrendered, ...whole } = await withTemplate(given, deps);
  try {
    return await build(whole);
  } catch (refusal) {
    if (!(refusal instanceof Problem) || unrendered === undefined || idempotencyKey === null) throw refusal;
    if ((await deps.views.remembered(context.key.id, idempotencyKey, context.now)) === null) throw refusal;
    return await build({ ...unrendered, unlessRepeat: refusal }).catch(() => {
      throw refusal;
    });
  }
}

/** About how much there is to compose. */
function lengthOf({ text, html, attachments }: Fields): number {
  let length = (text?.length ?? 0) + (html?.length ?? 0);
  for (const { content } of attachments) if (content instanceof Uint8Array) length += content.length;
  return length;
}

/** A fully checked submission: a draft to compose, and the data beside the message. */
interface Checked extends Draft, Omit<Addresses, 'from' | 'to' | 'cc'> {
  readonly fields: Fields;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly sendAt: number | null;
  readonly priority: Submission['priority'];
  readonly stream: string | null;
  readonly unsubscribe: string | null;
  readonly ignoresSuppression: boolean;
  readonly box: string | null;
}

/**
 * Makes a submission of a client's fields: checks them all, and composes the message once, as it will be sent. This
 * frees the memory of large attachments, which the message now contains. Throws a `Problem`: 400 with every faulty
 * field (and `others`, found beside them), 413 too large, 403 sender not allowed.
 */
export function* buildSubmission(
  read: ReadFields,
  context: SubmissionContext,
  limits: IngestLimits,
  others: readonly FieldFault[] = [],
): Sliced<Submission> {
  const checked = check(read, context, limits, others);
  const { from, fields } = checked;
  const messageId = effectiveMessageId(fields.headers, `<${context.token}@${context.hostname}>`);
  const content = yield* composeChecked(checked, messageId, context);
  refuseTooLarge(content.sizeBytes, limits.maxMessageBytes);
  refuseSender(context.key, from.domain);
  refuseAuthors(context.key, () => writtenAuthors(checked));
  refuseIgnoring(context.key, checked.ignoresSuppression);
  const hash = context.idempotencyKey === null ? null : yield* hashOf(checked, read);
  giveBackAllBut(
    content.chunks,
    checked.attachments.map((attachment) => attachment.content),
  );
  const { recipients, tags, metadata, sendAt, priority, stream, unsubscribe, box } = checked;
  const submission: Submission = {
    ...originOf(context, { hash, capture: fields.capture }),
    envelope: envelopeOf(from.address, recipients),
    content,
    header: { from: formatMailbox(from), subject: fields.subject, messageId },
    tags,
    metadata,
    sendAt,
    priority,
    stream: streamOf(stream, findHeader(fields.headers, 'list-id')),
    ignoresSuppression: checked.ignoresSuppression,
    ...(box !== null && { box }),
    ...tlsDemandOf(fields.requireTls, lowerNamed(fields)),
  };
  return yield* individually(submission, unsubscribe, context, limits.maxMessageBytes, {
    unsubscribe: read.pointTo('unsubscribe'),
    header: (name) => read.pointTo('headers', name),
  });
}

function check(
  read: ReadFields,
  context: SubmissionContext,
  limits: IngestLimits,
  others: readonly FieldFault[],
): Checked {
  const faults = new Faults(read, others);
  const fields = withBox(read.fields, faults);
  const { from, ...addresses } = checkAddresses(fields, limits.maxRecipients, faults);
  checkBody(fields, faults);
  checkHeaders(fields.headers, from?.domain ?? null, limits, faults);
  const attachments = checkAttachments(fields.attachments, limits.maxAttachments, faults);
  const tags = checkTags(fields.tags, limits.maxTags, faults);
  const metadata = checkMetadata(fields.metadata, limits.maxMetadata, faults);
  const sendAt = checkSendAt(fields.sendAt, context.now, faults);
  const priority = checkPriority(fields.priority, faults);
  const streams = checkStream(fields, faults);
  const ignores = checkSuppression(fields, faults);
  const box = checkBox(fields, faults);
  faults.refuse();
  if (from === null) throw new Error('a missing sender was not reported');
  const { subject, text, html, headers } = fields;
  const body = { subject, text, html, headers, attachments };
  return {
    ...addresses,
    from,
    fields,
    ...body,
    tags,
    metadata,
    sendAt,
    priority,
    ...streams,
    ignoresSuppression: ignores,
    box,
  };
}

function lowerNamed({ headers }: Pick<Fields, 'headers'>) {
  return headers.map(([name, value]) => ({ lowerName: name.toLowerCase(), value }));
}

/** From and Sender as written in the message. */
function writtenAuthors({ from, fields }: Checked) {
  const sender = parseMailbox(findHeader(fields.headers, 'sender') ?? '');
  const written = (mailbox: Mailbox) => addressWords([mailbox]).join(' ');
  return [
    { lowerName: 'from', value: written(from) },
    ...(sender.ok ? [{ lowerName: 'sender', value: written(withDecodedName(sender.value)) }] : []),
  ];
}

function* composeChecked(checked: Checked, messageId: string, context: SubmissionContext): Sliced<Content> {
  const trace = traceOf(checked.recipients, context);
  const date = checked.sendAt ?? context.now;
  const content = yield* compose(checked, { date, messageId, random: context.random, trace });
  // The header omits Bcc; the envelope has it, and may need SMTPUTF8 for it alone.
  const utf8 = content.flags.utf8 || checked.bcc.some(({ ascii }) => !ascii);
  return utf8 === content.flags.utf8 ? content : { ...content, flags: { ...content.flags, utf8 } };
}

/** Hashes the parsed submission, so that notation and media type make no difference. */
function* hashOf(checked: Checked, { relativeSendAt, givenSubject, asked }: ReadFields): Sliced<string> {
  const { from, to, cc, bcc, fields, tags, metadata, priority } = checked;
  const attachments: unknown[] = [];
  for (const { content, contentType, ...named } of checked.attachments)
    attachments.push([{ ...named, contentType: contentType ?? UNKNOWN_TYPE }, yield* digestOf(content)]);
  const headers = fields.headers.map(([name, value]) => [name.toLowerCase(), value] as const);
  return digestOfJson('fields', [
    [from, to, cc, bcc],
    ...(yield* contentCompared({ ...fields, ...asked }, givenSubject)),
    attachments,
    tags,
    // The time itself, however written; a past time still differs from none. What counts from now is another at each repeat.
    relativeSendAt ?? (fields.sendAt === null ? null : parseTimestamp(fields.sendAt)),
    priority,
    fields.capture,
    [sortedByName(headers), sortedByName(Object.entries(metadata))],
    ...(checked.stream === null ? [] : [[checked.stream, checked.unsubscribe]]),
    ...(checked.ignoresSuppression ? [true] : []),
    ...(checked.box === null ? [] : [{ box: checked.box }]),
    ...(fields.requireTls ? [{ requireTls: true }] : []),
  ]);
}

/** What a template says may change: repeats are compared by what was asked for. */
function* contentCompared(
  { subject, text, html, template, variables }: Fields,
  givenSubject = '',
): Sliced<readonly unknown[]> {
  if (template === null) return [subject, yield* digestible(text), yield* digestible(html)];
  const values = JSON.stringify(sortedValues(variables ?? {}));
  return [['template', template.toLowerCase(), yield* digestible(values), givenSubject]];
}

const NOTHING = new Uint8Array(0);
const UNSTATED = { filename: null, contentType: null, contentId: null };
const STATED = ['filename', 'contentType', 'contentId'] as const;

/** Checks the attachments. Reports faults; the result is then unfit to send. */
function checkAttachments(
  given: readonly AttachmentField[],
  maxAttachments: number,
  faults: Faults,
): Attachment[] {
  if (given.length > maxAttachments) {
    faults.add(tooMany(given.length, 'attachments', maxAttachments, 'api.max_attachments'), 'attachments');
    return [];
  }
  return given.map((field, place) => checkOne(field, place, faults));
}

function checkOne(field: AttachmentField, place: number, faults: Faults): Attachment {
  const refuse = (property: keyof AttachmentField, fault: Omit<FieldFault, 'pointer'>) =>
    faults.add(fault, 'attachments', place, property);
  const { filename, contentType, contentId } = field;
  if (filename === null)
    refuse('filename', { code: 'required', detail: 'A file name is needed, such as "report.pdf".' });
  if (filename === '.' || filename === '..') {
    const detail = 'This is a directory; give a file name, such as "report.pdf".';
    refuse('filename', { code: 'attachment_filename', detail });
  }
  // Each by itself, so that all faults are reported.
  for (const property of STATED) {
    const fault = checkAttachment({ ...UNSTATED, [property]: field[property] });
    if (fault !== null) refuse(property, fault);
  }
  const disposition = field.disposition ?? 'attachment';
  const known = disposition === 'attachment' || disposition === 'inline';
  if (!known) refuse('disposition', { code: 'disposition', detail: 'Must be "attachment" or "inline".' });
  const isRead = field.content instanceof Uint8Array;
  if (!isRead) refuse('content', { code: 'base64', detail: field.content.rule });
  return {
    filename,
    contentType,
    contentId,
    content: isRead ? field.content : NOTHING,
    disposition: known ? disposition : 'attachment',
  };
}
