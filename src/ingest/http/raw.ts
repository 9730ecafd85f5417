import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { BOX_RULE } from '../../domain/box.ts';
import type { Mailbox } from '../../domain/mailbox.ts';
import { type Content, PRIORITIES, type Recipient, type Submission } from '../../domain/message.ts';
import { readWholeBody } from '../../http/body.ts';
import type { Exchange } from '../../http/exchange.ts';
import { type FieldFault, Problem, pointerToken } from '../../http/problem.ts';
import type { Share } from '../../lib/budget.ts';
import { inSlices, parseTimestamp, type Sliced, turnFor } from '../../lib/clock.ts';
import {
  BOX_FIELD,
  type FinishedMessage,
  isBlind,
  type MessageFault,
  missingFields,
  readFinished,
} from '../../mail/finished.ts';
import { changeHeader, fieldValue, readLooseHeader } from '../../mail/header-block.ts';
import { boxFault, SUPPRESSION_VALUES, streamOf, TWO_BOXES, tlsDemandOf } from '../message-rules.ts';
import type { Call } from './call.ts';
import {
  checkAddresses,
  checkBox,
  checkMetadata,
  checkPriority,
  checkSendAt,
  checkStream,
  checkSuppression,
  checkTags,
} from './checks.ts';
import {
  Faults,
  type Fields,
  NO_FIELDS,
  type PointTo,
  type ReadFields,
  refuseFaults,
  withSetting,
} from './fields.ts';
import { answer, type ReadRequest, type SubmitDeps, takeOne } from './hand-over.ts';
import { digestOf, digestOfJson, readIdempotencyKey, sortedByName } from './idempotency.ts';
import type { IngestLimits } from './options.ts';
import { asBoolean, type ParameterValues, readParameters, TIMESTAMP_RULE } from './query.ts';
import { messageBodyBounds, messageTooLarge, requireType } from './read-fields.ts';
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

/** The parameters of `POST /api/v1/messages/raw` (contract §2): envelope and options, which are outside the message. */

/** The table. Addresses, tags and times are checked as for any submission. */
// biome-ignore format: a table
export const RAW_PARAMETERS = {
  from: { schema: z.string().optional(), code: 'type', rule: 'one address', meaning: "The envelope's sender, where failure reports go. Required here or as the request's header field From.", example: 'jane@example.com' },
  to: { schema: z.array(z.string()), repeatable: true, code: 'type', rule: 'addresses', meaning: "The recipients: addresses, or lists of them. Required here or as the request's header field To. Recipients in the message itself are not used.", example: 'bob@example.org' },
  tag: { schema: z.array(z.string()), repeatable: true, code: 'tag', rule: 'a tag of 1 to 128 characters', meaning: 'Tags; at most `api.max_tags`.', example: 'newsletter' },
  sendAt: { schema: z.string().optional(), code: 'timestamp', rule: TIMESTAMP_RULE, meaning: 'When to send, at most 30 days ahead.', example: '2026-11-20T11:15:00Z' },
  priority: { schema: z.enum(PRIORITIES).optional(), code: 'priority', rule: 'high, normal or bulk', meaning: 'Which waiting mail goes first.', example: 'bulk' },
  stream: { schema: z.string().optional(), code: 'stream', rule: 'a stream of 1 to 255 characters', meaning: 'What the mail belongs to; without it, the List-ID header counts.', example: 'news' },
  unsubscribe: { schema: z.string().optional(), code: 'stream', rule: 'a stream of 1 to 64 characters', meaning: 'The stream from which recipients can unsubscribe with one click: each gets a copy of its own.', example: 'news' },
  suppression: { schema: z.enum(SUPPRESSION_VALUES).optional(), code: 'suppression', rule: 'ignore', meaning: 'Only complaints stop it. Needs the scope `suppressions:write`.', example: 'ignore' },
  box: { schema: z.string().optional(), code: 'box', rule: BOX_RULE, meaning: 'The box in which a captured message lies; the message’s header `X-Waybill-Box` says the same, and is removed.', example: 'worker-1' },
  requireTls: { schema: z.boolean().default(false), fromText: asBoolean, code: 'type', rule: 'true or false', meaning: 'REQUIRETLS (RFC 8689): only servers that prove who they are, encrypt, and promise the same for the rest of the way get it. The message’s header `TLS-Required: No` asks for the opposite.', example: 'true' },
  dryRun: { schema: z.boolean().default(false), fromText: asBoolean, code: 'type', rule: 'true or false', meaning: 'Check everything and store nothing.', example: 'true' },
};

// `POST /api/v1/messages/raw` (contract §2): a finished message, delivered as it is. Only Bcc is removed, and Received,
// a missing Date and a missing Message-ID are added.

/** Separates the message's faults from the parameters': `/message/From`. */
export const MESSAGE_POINTER = '/message';

/** Takes the message, and answers. */
export async function answerRaw(call: Call, deps: SubmitDeps): Promise<void> {
  answer(call, await takeOne(call, deps, (budget) => readRaw(call, deps, budget)));
}

/** Reads it. Throws a `Problem`: 415, 413, 400, 403, in this order. */
export async function readRaw(call: Call, deps: SubmitDeps, budget: Share): Promise<ReadRequest> {
  const { exchange } = call;
  const { limits } = deps.options;
  requireType(exchange, ['message/rfc822']);
  const body = await readWholeBody(exchange, { ...messageBodyBounds(limits), budget });
  const given = readIdempotencyKey(exchange);
  const envelope = readRawEnvelope(exchange, given.faults);
  const work = buildRaw(envelope, body, submissionContext(call, given.key, deps), limits);
  const submission = await budget.inTurn(body.length, (turn) => inSlices(work, turn));
  return { submission, dryRun: envelope.fields.dryRun, body };
}

/** An envelope and options that are given otherwise than in a query; what they lack is as in {@link NO_FIELDS}. */
export interface GivenEnvelope extends Pick<ReadFields, 'pointTo'>, Partial<Pick<ReadFields, 'faulty'>> {
  readonly fields: Partial<Fields>;
}

/** A finished message with such an envelope. Throws as {@link buildRaw}. */
export function rawSubmission(
  { fields, pointTo, faulty = new Set<never>() }: GivenEnvelope,
  body: Buffer,
  context: SubmissionContext,
  limits: IngestLimits,
  others: readonly FieldFault[],
): Promise<Submission> {
  const read = { fields: { ...NO_FIELDS, ...fields }, faulty, faults: others, pointTo };
  const raw = buildRaw({ ...read, queryProblem: null, lacksPlus: false }, body, context, limits);
  return inSlices(raw, turnFor(body.length));
}

/** What these fields of a finished message say, as far as its header can be read; names in lower case. */
export function headerValues(body: Buffer, names: readonly string[], maxHeaderBytes: number): string[] {
  // Lines may end in LF, as Python's SDKs write them.
  const header = body.toString('latin1', 0, maxHeaderBytes + 2).replaceAll(/(?<!\r)\n/g, '\r\n');
  const written = readLooseHeader(header, maxHeaderBytes)?.fields ?? [];
  return written
    .filter(({ lowerName, value }) => names.includes(lowerName) && value !== '')
    .map(({ value }) => Buffer.from(value, 'latin1').toString('utf8'));
}

/** Throws a `Problem`: 413 too large, 400, 403 for a sender or author that the key may not use. */
function* buildRaw(
  envelope: RawEnvelope,
  body: Buffer,
  context: SubmissionContext,
  limits: IngestLimits,
): Sliced<Submission> {
  const checked = yield* check(envelope, body, context.now, limits);
  const { message, recipients, from, tags, sendAt, priority, stream, unsubscribe } = checked;
  const messageId = message.messageId ?? `<${context.token}@${context.hostname}>`;
  const content = contentOf(checked, messageId, context);
  refuseTooLarge(content.sizeBytes, limits.maxMessageBytes);
  refuseSender(context.key, from.domain);
  refuseAuthors(context.key, () => message.header.fields);
  refuseIgnoring(context.key, checked.ignoresSuppression);
  const hash = context.idempotencyKey === null ? null : yield* hashOf(checked, body);
  const submission: Submission = {
    ...originOf(context, { hash, capture: envelope.fields.capture }),
    envelope: envelopeOf(from.address, recipients),
    content,
    header: { from: message.from, subject: message.subject, messageId },
    tags,
    metadata: checked.metadata,
    sendAt,
    priority,
    stream: streamOf(stream, fieldValue(message.header.fields, 'list-id')),
    ignoresSuppression: checked.ignoresSuppression,
    ...(checked.box !== null && { box: checked.box }),
    ...tlsDemandOf(envelope.fields.requireTls, message.header.fields),
  };
  return yield* individually(submission, unsubscribe, context, limits.maxMessageBytes, {
    unsubscribe: envelope.pointTo('unsubscribe'),
    header: (name) => `${MESSAGE_POINTER}/${pointerToken(name)}`,
  });
}

/** A fully checked raw submission. */
interface Checked {
  readonly message: FinishedMessage;
  readonly from: Mailbox;
  readonly to: readonly Mailbox[];
  readonly recipients: readonly Recipient[];
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly sendAt: number | null;
  readonly priority: Submission['priority'];
  readonly stream: string | null;
  readonly unsubscribe: string | null;
  readonly ignoresSuppression: boolean;
  readonly box: string | null;
  /** As given, for comparing repeats. */
  readonly given: Pick<Fields, 'sendAt' | 'capture' | 'box' | 'requireTls'>;
}

function* check(envelope: RawEnvelope, body: Buffer, now: number, limits: IngestLimits): Sliced<Checked> {
  const { fields } = envelope;
  const faults = new Faults(envelope);
  const { from, to, recipients } = checkAddresses(fields, limits.maxRecipients, faults);
  const tags = checkTags(fields.tags, limits.maxTags, faults);
  const metadata = checkMetadata(fields.metadata, limits.maxMetadata, faults);
  const sendAt = checkSendAt(fields.sendAt, now, faults);
  const priority = checkPriority(fields.priority, faults);
  const streams = checkStream(fields, faults);
  const ignoresSuppression = checkSuppression(fields, faults);
  const box = checkBox(fields, faults);
  const finished = yield* readFinished(body, limits);
  if (finished.kind === 'too_large') throw messageTooLarge(finished.sizeBytes, limits.maxMessageBytes);
  const named = finished.kind === 'read' ? boxIn(finished.message) : null;
  refuseRaw(envelope, [
    ...faults.found.map((fault) => withPlus(fault, envelope)),
    ...(finished.kind === 'faulty' ? finished.faults.map(toFieldFault) : []),
    ...boxFaults(box, named),
  ]);
  if (from === null || finished.kind !== 'read') throw new Error('a fault was not reported');
  return {
    from,
    to,
    recipients,
    message: finished.message,
    tags,
    metadata,
    sendAt,
    priority,
    ...streams,
    ignoresSuppression,
    box: box ?? named,
    given: fields,
  };
}

/** The box that the message's header names; null for none. */
function boxIn({ header }: FinishedMessage): string | null {
  return fieldValue(header.fields, BOX_FIELD) || null;
}

/** The faults of a box that the message's header names, beside the one of the envelope. */
function boxFaults(box: string | null, named: string | null): FieldFault[] {
  if (named === null) return [];
  const found = boxFault(named) ?? (box !== null && box !== named ? TWO_BOXES : null);
  return found === null ? [] : [{ pointer: `${MESSAGE_POINTER}/X-Waybill-Box`, ...found }];
}

/** Throws the problem 400 if there are faults; the query's own problem if all are in the query. */
function refuseRaw({ queryProblem }: RawEnvelope, faults: readonly FieldFault[]): void {
  if (queryProblem !== null && faults.length === queryProblem.errors.length) throw queryProblem;
  refuseFaults(faults);
}

/** Adds the likeliest cause of a blank in an address. */
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

/** Hashes the message byte by byte, and the parsed envelope. */
function* hashOf(checked: Checked, body: Buffer): Sliced<string> {
  const { from, recipients, tags, metadata, given, priority, stream, unsubscribe } = checked;
  const addresses = [from.address, recipients.map(({ address }) => address)];
  const sendAt = given.sendAt === null ? null : parseTimestamp(given.sendAt);
  const streams = stream === null ? [] : [[stream, unsubscribe]];
  const ignoring = checked.ignoresSuppression ? [true] : [];
  const named = sortedByName(Object.entries(metadata));
  return digestOfJson('raw', [
    addresses,
    tags,
    sendAt,
    priority,
    yield* digestOf(body),
    ...streams,
    ...ignoring,
    ...(named.length === 0 ? [] : [{ metadata: named }]),
    ...(given.capture ? [{ capture: true }] : []),
    ...(given.box === null ? [] : [{ box: given.box }]),
    ...(given.requireTls ? [{ requireTls: true }] : []),
  ]);
}

/** The envelope and options of a finished message, as the fields of a submission. */
interface RawEnvelope extends ReadFields {
  /** The query's refusal. Its faults are among the others, and its values are treated as absent. */
  readonly queryProblem: Problem | null;
  /** An address in the query has a blank where a plus was meant. */
  readonly lacksPlus: boolean;
}

/** A bare + in a query means a blank: a common mistake with plus addresses. */
const BLANK_FOR_PLUS = /(?:^|[,<]) *[^\s"<>,@]+ [^\s"<>,@]*@/;
const EMPTY_PATH = /^\s*<\s*>\s*$/;

const NO_EMPTY_PATH =
  'An empty sender is only for failure reports, which servers write; give the address that they go to.';

/** Fields that cannot be judged when the query is unreadable. */
const IN_QUERY = [
  'from',
  'to',
  'tags',
  'sendAt',
  'priority',
  'stream',
  'suppression',
  'unsubscribe',
  'box',
  'requireTls',
  'dryRun',
] as const;

/**
 * Reads the query and the request's own From and To. Faults are reported with the rest of the request's, `others`
 * first.
 */
function readRawEnvelope(exchange: Exchange, others: readonly FieldFault[]): RawEnvelope {
  const query = readQuery(exchange);
  const queryProblem = query instanceof Problem ? query : null;
  const values = query instanceof Problem ? NO_VALUES : query;
  const faulty = new Set<'from' | 'to'>();
  const header = (name: 'from' | 'to') => requestHeader(exchange, name, faulty);
  const from = [...(values.from === undefined ? [] : [values.from]), ...header('from')];
  const to = [...values.to, ...header('to')].filter((text) => text !== '');
  const faults = [...faulty].map((name) =>
    fault(name, 'header_encoding', 'The header field must be ASCII or UTF-8.'),
  );
  if (from.length > 1)
    faults.push(fault('from', 'repeated', 'May be given only once, as a parameter or as the header From.'));
  if (EMPTY_PATH.test(from[0] ?? '')) {
    faulty.add('from');
    faults.push(fault('from', 'address_missing', NO_EMPTY_PATH));
  }
  const sender = faulty.has('from') ? null : from[0] || null;
  const fields = { ...NO_FIELDS, ...optionsOf(values), from: sender };
  return {
    fields: { ...fields, to: { texts: to, lists: true } },
    faulty: new Set(queryProblem === null ? faulty : IN_QUERY),
    faults: [...others, ...(queryProblem?.errors ?? []), ...faults],
    pointTo,
    queryProblem,
    lacksPlus: [values.from ?? '', ...values.to].some((text) => BLANK_FOR_PLUS.test(text)),
  };
}

const NO_VALUES: ParameterValues<typeof RAW_PARAMETERS> = {
  from: undefined,
  to: [],
  tag: [],
  sendAt: undefined,
  priority: undefined,
  stream: undefined,
  suppression: undefined,
  unsubscribe: undefined,
  box: undefined,
  requireTls: false,
  dryRun: false,
};

function readQuery(exchange: Exchange): ParameterValues<typeof RAW_PARAMETERS> | Problem {
  try {
    return readParameters(exchange.query, RAW_PARAMETERS);
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid_query') return error;
    throw error;
  }
}

function optionsOf(values: ParameterValues<typeof RAW_PARAMETERS>) {
  const { tag, sendAt, priority, stream, suppression, unsubscribe, box, requireTls, dryRun } = values;
  return {
    tags: tag.filter((text) => text !== ''),
    sendAt: sendAt || null,
    priority: priority ?? null,
    stream: stream || null,
    suppression: suppression ?? null,
    // An empty stream is a fault, as in JSON.
    unsubscribe: unsubscribe ?? null,
    box: box || null,
    requireTls,
    dryRun,
  };
}

/** Values of a header field of the request, in which Node reads each byte as a character. */
function requestHeader({ request }: Exchange, name: 'from' | 'to', faulty: Set<'from' | 'to'>): string[] {
  const values = (request.headersDistinct[name] ?? []).map((value) => Buffer.from(value, 'latin1'));
  if (!values.every((value) => isUtf8(value))) faulty.add(name);
  return faulty.has(name) ? [] : values.map((value) => value.toString('utf8'));
}

function fault(name: string, code: string, detail: string): FieldFault {
  return { pointer: `/${name}`, code, detail };
}

const pointTo: PointTo = (field, place) => {
  const name = field === 'tags' ? 'tag' : field;
  return place === undefined ? `/${name}` : `/${name}/${place}`;
};
