import { declaredLength, joinBody, readBody, receiveBody } from '../../http/body.ts';
import type { Exchange } from '../../http/exchange.ts';
import { parseForm } from '../../http/form.ts';
import { parseJson } from '../../http/json.ts';
import { isUtf8, type MediaType, parseMediaType } from '../../http/media-type.ts';
import { boundaryOf, fieldText, MultipartParser, type MultipartPart } from '../../http/multipart.ts';
import { Problem } from '../../http/problem.ts';
import type { Semaphore } from '../../lib/semaphore.ts';
import type { ReadFields } from './fields.ts';
import { type FormEntry, fieldsFromForm } from './form-fields.ts';
import { fieldsFromJson } from './schema.ts';

/** Reads a request's body into the fields of a submission, by its `Content-Type`. */

/** Bounds on a body. */
export interface BodyLimits {
  readonly maxMessageBytes: number;
  readonly budget: Semaphore;
}

/** Reads the body of one media type. */
type FieldReader = (exchange: Exchange, mediaType: MediaType, limits: BodyLimits) => Promise<ReadFields>;

/** The readers an endpoint has, by media type. */
export type FieldReaders = ReadonlyMap<string, FieldReader>;

/** Generous beside what a submission can need, small beside what memory can hold. */
const JSON_LIMITS = { maxDepth: 16, maxValues: 50_000 };
const MAX_FORM_FIELDS = 5000;
const PART_LIMITS = { maxParts: MAX_FORM_FIELDS, maxHeaderBytes: 16 * 1024, maxHeaderLines: 32 };

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
  limits: BodyLimits,
): Promise<ReadFields> {
  const mediaType = parseMediaType(exchange.headers['content-type']);
  const read = mediaType === null ? undefined : readers.get(mediaType.type);
  if (mediaType === null || read === undefined || !isUtf8(mediaType)) throw unsupported([...readers.keys()]);
  return read(exchange, mediaType, limits);
}

async function readJson(exchange: Exchange, _: MediaType, limits: BodyLimits): Promise<ReadFields> {
  return fieldsFromJson(parseJson(await readWhole(exchange, limits), JSON_LIMITS));
}

async function readMultipart(
  exchange: Exchange,
  mediaType: MediaType,
  limits: BodyLimits,
): Promise<ReadFields> {
  const maxBytes = limits.maxMessageBytes;
  // A boundary that is missing is a 400, which comes after what the header alone says is 415 or 413.
  declaredLength(exchange, maxBytes);
  const parser = new MultipartParser(boundaryOf(mediaType), { ...PART_LIMITS, maxFieldBytes: maxBytes });
  await receiveBody(exchange, { maxBytes, budget: limits.budget }, (chunk) => parser.push(chunk));
  return fieldsFromForm(parser.finish().map(toEntry));
}

async function readUrlencoded(exchange: Exchange, _: MediaType, limits: BodyLimits): Promise<ReadFields> {
  const fields = parseForm(await readWhole(exchange, limits), { maxFields: MAX_FORM_FIELDS });
  return fieldsFromForm(fields.map(([name, value]) => ({ name, value })));
}

async function readWhole(exchange: Exchange, limits: BodyLimits): Promise<Buffer> {
  const { maxMessageBytes, budget } = limits;
  return joinBody(await readBody(exchange, { maxBytes: maxMessageBytes, budget }));
}

function toEntry(part: MultipartPart): FormEntry {
  const { name, filename, contentType, headers } = part;
  if (filename === null) return { name, value: fieldText(part) };
  const contentId = headers.get('content-id') ?? null;
  return { name, file: { filename, contentType, contentId, bytes: joinBody(part.chunks) } };
}

function unsupported(types: readonly string[]): Problem {
  const accepted = types.join(', ');
  return new Problem(415, 'unsupported_media_type', `Content-Type must be one of ${accepted}, in UTF-8.`, {
    headers: { Accept: accepted },
  });
}
