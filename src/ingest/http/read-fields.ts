import { declaredLength, joinBody, readWholeBody, receiveBody } from '../../http/body.ts';
import type { Exchange } from '../../http/exchange.ts';
import { parseForm } from '../../http/form.ts';
import { parseJson } from '../../http/json.ts';
import { isUtf8, type MediaType, parseMediaType } from '../../http/media-type.ts';
import { boundaryOf, fieldText, MultipartParser, type MultipartPart } from '../../http/multipart.ts';
import { Problem } from '../../http/problem.ts';
import { giveBack, giveBackAllBut, type Share } from '../../lib/budget.ts';
import { inSlices, SLICE_BYTES, type Sliced } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import type { ReadFields } from './fields.ts';
import { type FormEntry, fieldsFromForm } from './form-fields.ts';
import { cutLargeFiles, fieldsWithFiles } from './large-files.ts';
import type { IngestLimits } from './options.ts';
import { fieldsFromJson } from './schema.ts';

/** Reads a request's body into the fields of a submission, by its `Content-Type`. */

/**
 * Memory that a message takes until it is on disk, in bytes for each byte of its body: the body, and what is composed
 * of it. Files come as base64 in JSON, and grow by 37 % when they come in a form.
 */
export const JSON_WEIGHT = 2;
const FORM_WEIGHT = 2.4;

/** What bounds a body. */
interface BodyBounds {
  readonly limits: IngestLimits;
  readonly budget: Share;
}

/** What bounds the body of a submission, and draws the marks of its large files. */
interface SubmissionBounds extends BodyBounds {
  readonly random: Random;
}

/** Reads the body of one media type. */
type Reader<T, B = BodyBounds> = (exchange: Exchange, mediaType: MediaType, bounds: B) => Promise<T>;

/** The readers of `POST /api/v1/messages`, by media type. */
const READERS: ReadonlyMap<string, Reader<ReadFields, SubmissionBounds>> = new Map([
  ['application/json', (exchange, _, bounds) => readJsonFields(exchange, bounds)],
  ['multipart/form-data', async (...given) => fieldsFromForm(await readMultipart(...given))],
]);

/** The readers of forms, by media type. */
const FORM_READERS: ReadonlyMap<string, Reader<FormEntry[]>> = new Map([
  ['multipart/form-data', readMultipart],
  ['application/x-www-form-urlencoded', readUrlencoded],
]);

/** Reads the fields of a submission. Throws 415, 413, 400, 503. */
export function readFields(exchange: Exchange, bounds: SubmissionBounds): Promise<ReadFields> {
  return readBy(READERS, exchange, bounds);
}

/** Reads a form, in either of its two types. Throws 415, 413, 400, 503. */
export function readForm(exchange: Exchange, bounds: BodyBounds): Promise<FormEntry[]> {
  return readBy(FORM_READERS, exchange, bounds);
}

function readBy<T, B>(readers: ReadonlyMap<string, Reader<T, B>>, exchange: Exchange, bounds: B): Promise<T> {
  const mediaType = requireType(exchange, [...readers.keys()]);
  const read = readers.get(mediaType.type);
  if (read === undefined) throw new Error('a media type without its reader was let through');
  return read(exchange, mediaType, bounds);
}

/** The request's media type: one of these and, if it names a charset, UTF-8. Throws 415. */
export function requireType(exchange: Exchange, types: readonly string[]): MediaType {
  const mediaType = parseMediaType(exchange.headers['content-type']);
  if (mediaType === null || !types.includes(mediaType.type) || !isUtf8(mediaType)) throw unsupported(types);
  return mediaType;
}

/** Makes another text of JSON of a body, before it is parsed. */
export type Rewrite = (body: Buffer) => Sliced<Buffer>;

/** Reads a body of JSON with one message. Throws 415, 413, 400, 503. */
export function readJsonBody(exchange: Exchange, bounds: BodyBounds, rewrite?: Rewrite): Promise<unknown> {
  requireType(exchange, ['application/json']);
  return parsedJson(exchange, bounds, rewrite);
}

async function parsedJson(exchange: Exchange, bounds: BodyBounds, rewrite?: Rewrite): Promise<unknown> {
  const { maxJsonDepth: maxDepth, maxJsonValues: maxValues } = bounds.limits;
  const body = await readWhole(exchange, bounds, JSON_WEIGHT);
  return await bounds.budget.inTurn(body.length, async (turn) => {
    const text = rewrite === undefined ? body : await inSlices(rewrite(body), turn);
    const value = parseJson(text, { maxDepth, maxValues });
    giveBack(body);
    return value;
  });
}

async function readJsonFields(exchange: Exchange, bounds: SubmissionBounds): Promise<ReadFields> {
  const { maxJsonDepth: maxDepth, maxJsonValues: maxValues } = bounds.limits;
  const body = await readWhole(exchange, bounds, JSON_WEIGHT);
  const fieldsOf = (text: Buffer) => fieldsFromJson(parseJson(text, { maxDepth, maxValues }));
  if (body.length <= SLICE_BYTES) return fieldsOf(body);
  return await bounds.budget.inTurn(body.length, async (turn) => {
    const cut = await inSlices(cutLargeFiles(body, bounds.random), turn);
    // What is faulty is told as it was sent.
    const read = (cut === null ? null : fieldsWithFiles(cut, fieldsOf)) ?? fieldsOf(body);
    giveBack(body);
    return read;
  });
}

async function readMultipart(
  exchange: Exchange,
  mediaType: MediaType,
  { limits, budget }: BodyBounds,
): Promise<FormEntry[]> {
  const maxBytes = limits.maxMessageBytes;
  const bodyBounds = messageBodyBounds(limits);
  // A missing boundary is a 400. It comes after the 415 and 413 that the header alone decides.
  declaredLength(exchange, bodyBounds);
  const parser = new MultipartParser(boundaryOf(mediaType), {
    maxParts: limits.maxFormParts,
    maxHeaderBytes: limits.maxPartHeaderBytes,
    maxHeaderLines: limits.maxPartHeaders,
    maxFieldBytes: maxBytes,
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  await receiveBody(exchange, { ...bodyBounds, budget, weight: FORM_WEIGHT }, (chunk) => {
    chunks.push(chunk);
    bytes += chunk.length;
    parser.push(chunk);
  });
  return await budget.inTurn(bytes, async () => {
    const entries = parser.finish().map(toEntry);
    giveBackAllBut(
      entries.flatMap((entry) => ('file' in entry ? [entry.file.bytes] : [])),
      chunks,
    );
    return entries;
  });
}

async function readUrlencoded(exchange: Exchange, _: MediaType, bounds: BodyBounds): Promise<FormEntry[]> {
  const fields = parseForm(await readWhole(exchange, bounds, FORM_WEIGHT), {
    maxFields: bounds.limits.maxFormParts,
  });
  return fields.map(([name, value]) => ({ name, value }));
}

function readWhole(exchange: Exchange, { limits, budget }: BodyBounds, weight: number): Promise<Buffer> {
  return readWholeBody(exchange, { ...messageBodyBounds(limits), budget, weight });
}

/** The largest body for one message, and advice when it is larger. */
export function messageBodyBounds({ maxMessageBytes }: Pick<IngestLimits, 'maxMessageBytes'>) {
  return { maxBytes: maxMessageBytes, advice: messageSizeAdvice(maxMessageBytes) };
}

function toEntry(part: MultipartPart): FormEntry {
  const { name, filename, contentType, headers } = part;
  if (filename === null) return { name, value: fieldText(part) };
  const contentId = headers.get('content-id') ?? null;
  return { name, file: { filename, contentType, contentId, bytes: joinBody(part.chunks) } };
}

function unsupported(types: readonly string[]): Problem {
  const accepted = types.join(', ');
  const rule = types.length === 1 ? accepted : `one of ${accepted}`;
  return new Problem(415, 'unsupported_media_type', `Content-Type must be ${rule}, in UTF-8.`, {
    headers: { Accept: accepted },
  });
}

// Requests whose path says everything. Many clients send `{}` with every POST, so that is accepted too.

/** `{}` needs two. */
const MAX_BYTES = 1024;
const JSON_LIMITS = { maxDepth: 4, maxValues: 100 };
const ADVICE = 'Send no body, or {}: the path says everything.';

/** Reads a body that must be empty or `{}`. Throws 415, 413, 400, 503. */
export async function readNoBody(exchange: Exchange, budget: Share): Promise<void> {
  const bounds = { maxBytes: MAX_BYTES, advice: ADVICE, budget };
  if (hasBody(exchange)) refuseOtherTypes(exchange);
  if (declaredLength(exchange, bounds) === 0) return;
  const body = await readWholeBody(exchange, bounds);
  if (body.length === 0) return;
  const value = parseJson(body, JSON_LIMITS);
  const isEmpty = value !== null && typeof value === 'object' && !Array.isArray(value);
  if (isEmpty && Object.keys(value).length === 0) return;
  throw new Problem(400, 'body_not_empty', `This takes no fields. ${ADVICE}`);
}

function hasBody({ headers }: Exchange): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function refuseOtherTypes({ headers }: Exchange): void {
  const mediaType = parseMediaType(headers['content-type']);
  if (mediaType === null || mediaType.type === 'application/json') return;
  throw new Problem(415, 'unsupported_media_type', `Content-Type must be application/json. ${ADVICE}`, {
    headers: { Accept: 'application/json' },
  });
}

// Texts for messages and bodies that are too large (contract §5: 413).

/** Base64 in lines of 76 characters: four characters for three bytes, and CRLF after each line. */
const BASE64_GROWTH = 1.37;

/** The advice when a body with one message is too large. */
function messageSizeAdvice(maxMessageBytes: number): string {
  const attached = Math.floor(maxMessageBytes / BASE64_GROWTH);
  return `Attachments grow by 37 % in transit (base64): together they may have about ${attached} bytes. Send a link instead, or raise api.max_message_bytes.`;
}

/** The advice when the body of a batch is too large. */
export const BATCH_SIZE_ADVICE =
  'Attachments grow by 37 % in transit (base64). Send several smaller batches, or raise api.max_batch_bytes.';

/** The problem 413 for one message of a batch, whose text may be as large as a body of its own. */
export function textTooLarge(textBytes: number, maxMessageBytes: number): Problem {
  const figures = `The message may have at most ${maxMessageBytes} bytes of JSON, but this one has ${textBytes}.`;
  return new Problem(413, 'content_too_large', `${figures} ${messageSizeAdvice(maxMessageBytes)}`);
}

/** The problem 413 for a message as it would be sent. */
export function messageTooLarge(sizeBytes: number, maxMessageBytes: number): Problem {
  const figures = `The message may have at most ${maxMessageBytes} bytes as it would be sent, but this one has ${sizeBytes}.`;
  return new Problem(413, 'message_too_large', `${figures} ${messageSizeAdvice(maxMessageBytes)}`);
}
