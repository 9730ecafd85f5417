import { declaredLength, joinBody, readWholeBody, receiveBody } from '../../http/body.ts';
import type { Exchange } from '../../http/exchange.ts';
import { parseForm } from '../../http/form.ts';
import { parseJson } from '../../http/json.ts';
import { isUtf8, type MediaType, parseMediaType } from '../../http/media-type.ts';
import { boundaryOf, fieldText, MultipartParser, type MultipartPart } from '../../http/multipart.ts';
import { Problem } from '../../http/problem.ts';
import type { Share } from '../../lib/budget.ts';
import { giveBack, giveBackAllBut } from '../../lib/budget.ts';
import type { ReadFields } from './fields.ts';
import { type FormEntry, fieldsFromForm } from './form-fields.ts';
import type { IngestLimits } from './limits.ts';
import { fieldsFromJson } from './schema.ts';
import { messageSizeAdvice } from './too-large.ts';

/** Reads a request's body into the fields of a submission, by its `Content-Type`. */

/** What bounds a body. */
export interface BodyBounds {
  readonly limits: IngestLimits;
  readonly budget: Share;
}

/** Reads the body of one media type. */
type FieldReader = (exchange: Exchange, mediaType: MediaType, limits: BodyBounds) => Promise<ReadFields>;

/** The readers an endpoint has, by media type. */
export type FieldReaders = ReadonlyMap<string, FieldReader>;

/** What `POST /api/v1/messages` takes. */
export const SUBMIT_READERS: FieldReaders = new Map([
  ['application/json', readJson],
  ['multipart/form-data', readMultipart],
]);

/** What clients written for Mailgun send. */
export const MAILGUN_READERS: FieldReaders = new Map([
  ['multipart/form-data', readMultipart],
  ['application/x-www-form-urlencoded', readUrlencoded],
]);

/** Reads the fields with the reader for the request's type. Throws 415 when there is none; 413, 400, 503. */
export function readFields(
  exchange: Exchange,
  readers: FieldReaders,
  limits: BodyBounds,
): Promise<ReadFields> {
  const mediaType = requireType(exchange, [...readers.keys()]);
  const read = readers.get(mediaType.type);
  if (read === undefined) throw new Error('a media type without its reader was let through');
  return read(exchange, mediaType, limits);
}

/** The request's media type, which must be one of these and, if it says so, in UTF-8. Throws 415. */
export function requireType(exchange: Exchange, types: readonly string[]): MediaType {
  const mediaType = parseMediaType(exchange.headers['content-type']);
  if (mediaType === null || !types.includes(mediaType.type) || !isUtf8(mediaType)) throw unsupported(types);
  return mediaType;
}

async function readJson(exchange: Exchange, _: MediaType, bounds: BodyBounds): Promise<ReadFields> {
  const { maxJsonDepth: maxDepth, maxJsonValues: maxValues } = bounds.limits;
  const body = await readWhole(exchange, bounds);
  const value = parseJson(body, { maxDepth, maxValues });
  giveBack(body);
  return fieldsFromJson(value);
}

async function readMultipart(
  exchange: Exchange,
  mediaType: MediaType,
  { limits, budget }: BodyBounds,
): Promise<ReadFields> {
  const maxBytes = limits.maxMessageBytes;
  const bodyBounds = messageBodyBounds(limits);
  // A boundary that is missing is a 400, which comes after what the header alone says is 415 or 413.
  declaredLength(exchange, bodyBounds);
  const parser = new MultipartParser(boundaryOf(mediaType), {
    maxParts: limits.maxFormParts,
    maxHeaderBytes: limits.maxPartHeaderBytes,
    maxHeaderLines: limits.maxPartHeaders,
    maxFieldBytes: maxBytes,
  });
  const chunks: Buffer[] = [];
  await receiveBody(exchange, { ...bodyBounds, budget }, (chunk) => {
    chunks.push(chunk);
    parser.push(chunk);
  });
  const entries = parser.finish().map(toEntry);
  giveBackAllBut(
    entries.flatMap((entry) => ('file' in entry ? [entry.file.bytes] : [])),
    chunks,
  );
  return fieldsFromForm(entries);
}

async function readUrlencoded(exchange: Exchange, _: MediaType, bounds: BodyBounds): Promise<ReadFields> {
  const fields = parseForm(await readWhole(exchange, bounds), { maxFields: bounds.limits.maxFormParts });
  return fieldsFromForm(fields.map(([name, value]) => ({ name, value })));
}

function readWhole(exchange: Exchange, { limits, budget }: BodyBounds): Promise<Buffer> {
  return readWholeBody(exchange, { ...messageBodyBounds(limits), budget });
}

/** How large the body of one message may be, and what to do when it is larger. */
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
