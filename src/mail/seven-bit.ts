import { isAscii, isUtf8 } from 'node:buffer';
import type { Sliced } from '../lib/clock.ts';
import { HARD_LINE } from './field.ts';
import { type ContentType, parseContentType, withoutComments } from './field-values.ts';
import { type FieldSpan, type HeaderBlock, readLooseHeader } from './header-block.ts';
import { convertField } from './seven-bit-field.ts';
import { encodeLeaf, isEncoding, type LeafEncoding, splitMultipart } from './seven-bit-parts.ts';

/**
 * Converts a finished message to a form that an older server accepts (RFC 6152 §3): encodes 8-bit bodies, writes
 * headers in ASCII, folds long lines, and touches nothing else. The same message always becomes the same bytes.
 * Signatures over changed parts (DKIM) become invalid; a part that is signed by itself is not changed.
 */

/** What may stay unconverted. */
export interface Allowed {
  /** Headers may have bytes over 127. */
  readonly eightBitHeaders: boolean;
  /** Bodies may too, and then so may headers of messages inside them. */
  readonly eightBitBodies: boolean;
}

/**
 * Why a message cannot be converted.
 * - `signed`: signed content would have to be changed.
 * - `structure`: its parts are ambiguous, or a part must not be encoded (RFC 2046 §5.2).
 * - `depth`: parts are nested too deeply.
 * - `header`: a header field has 8-bit text that ASCII cannot express.
 * - `word`: a header field has a word longer than a line.
 */
export type Unconvertible = 'signed' | 'structure' | 'depth' | 'header' | 'word';

/** A converted message, or why there is none. */
export type SevenBit =
  | {
      readonly ok: true;
      readonly chunks: readonly Uint8Array[];
      /** Whether bytes over 127 remain, as allowed. */
      readonly eightBit: boolean;
    }
  | { readonly ok: false; readonly because: Unconvertible };

/** Levels of nested parts. */
const MAX_DEPTH = 20;
const MAX_HEADER_BYTES = 256 * 1024;
/** Fields to process before other work gets a turn. */
const FIELDS_IN_A_SLICE = 500;
const CRLF = Buffer.from('\r\n');
const BLANK_LINE = Buffer.from('\r\n\r\n');
/** Thrown anywhere below and caught in this file: one part stops the conversion of the whole message. */
class Refusal extends Error {
  readonly because: Unconvertible;

  constructor(because: Unconvertible) {
    super(because);
    this.because = because;
  }
}

/** Converts a message in its wire form: CRLF lines, no NUL. Linear in its size for each level of its parts. */
export function* toSevenBit(message: Buffer, allowed: Allowed): Sliced<SevenBit> {
  try {
    const chunks = yield* convertEntity(message, allowed, { depth: 0, isMessage: true, inDigest: false });
    return { ok: true, chunks, eightBit: !chunks.every((chunk) => isAscii(chunk)) };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, because: error.because };
    throw error;
  }
}

/** An entity's position. */
interface Place {
  readonly depth: number;
  /** A whole message, not a part. */
  readonly isMessage: boolean;
  /** A part of a multipart/digest: a message, unless it says otherwise (RFC 2046 §5.1.5). */
  readonly inDigest: boolean;
}

/** A message or a part: header, blank line, body. */
interface Entity {
  readonly bytes: Buffer;
  readonly header: HeaderBlock;
  readonly body: Buffer;
  /** The position's default if it has none; null if there is none, or it is unreadable. */
  readonly type: ContentType | null;
  readonly encoding: string;
}

function* convertEntity(bytes: Buffer, allowed: Allowed, place: Place): Sliced<Uint8Array[]> {
  if (isFine(bytes, allowed.eightBitBodies && allowed.eightBitHeaders)) return [bytes];
  if (place.depth > MAX_DEPTH) throw new Refusal('depth');
  yield;
  const entity = readEntity(bytes, place);
  const fields = yield* headerOf(entity, allowed);
  if (isUntouched(entity, allowed)) return [...written(fields), CRLF, entity.body];
  const kind = kindOf(entity);
  if (kind === 'signed') throw new Refusal('signed');
  if (kind === 'closed') throw new Refusal('structure');
  if (kind === 'leaf') return yield* convertLeaf(entity, fields, place);
  if (!allowed.eightBitBodies) relabel(fields, '7bit');
  const body =
    kind === 'message'
      ? yield* convertEntity(entity.body, withinMessage(allowed), {
          depth: place.depth + 1,
          isMessage: true,
          inDigest: false,
        })
      : yield* convertParts(entity, allowed, place);
  return [...written(fields), CRLF, ...body];
}

/** A message inside a message is content, and may have what a body may have. */
function withinMessage({ eightBitBodies }: Allowed): Allowed {
  return { eightBitBodies, eightBitHeaders: eightBitBodies };
}

function* convertParts(entity: Entity, allowed: Allowed, place: Place): Sliced<Uint8Array[]> {
  const boundary = entity.type?.parameters.find(([name]) => name === 'boundary')?.[1] ?? '';
  const split = yield* splitMultipart(entity.body, boundary);
  if (split === null) throw new Refusal('structure');
  const fine = (bytes: Buffer) => isFine(bytes, allowed.eightBitBodies);
  const within: Place = {
    depth: place.depth + 1,
    isMessage: false,
    inDigest: entity.type?.type === 'multipart/digest',
  };
  const pieces: Uint8Array[] = [];
  // Nobody reads the text before and after the parts (RFC 2046 §5.1.1).
  if (fine(split.preamble)) pieces.push(split.preamble);
  for (const { delimiter, part } of split.parts) {
    pieces.push(
      pieces.length === 0 && delimiter[0] === CRLF[0] ? delimiter.subarray(CRLF.length) : delimiter,
    );
    pieces.push(...(yield* convertEntity(part, allowed, within)));
  }
  pieces.push(split.close);
  if (fine(split.epilogue)) pieces.push(split.epilogue);
  // Some readers would find a part there.
  else if (split.epilogue.includes(`--${boundary}`)) throw new Refusal('structure');
  return pieces;
}

function* convertLeaf(entity: Entity, fields: Field[], place: Place): Sliced<Uint8Array[]> {
  if (!isEncoding(entity.encoding)) throw new Refusal('structure');
  const mediaType = entity.type?.type ?? 'text/plain';
  const encoded = yield* encodeLeaf(entity.body, mediaType.startsWith('text/'), entity.encoding);
  if (encoded === null) throw new Refusal('structure');
  const { encoding, body } = encoded;
  relabel(fields, encoding);
  const has = (lowerName: string) => fields.some(({ span }) => span?.lowerName === lowerName);
  if (!has('content-transfer-encoding')) fields.push(added(`Content-Transfer-Encoding: ${encoding}\r\n`));
  if (entity.type === null && !has('content-type'))
    fields.push(added(`Content-Type: text/plain; charset=${charsetOf(entity.body)}\r\n`));
  if (place.isMessage && !has('mime-version')) fields.push(added('MIME-Version: 1.0\r\n'));
  // A message ends in CRLF; for a part, the boundary has it.
  const ends = place.isMessage && (body.at(-1)?.at(-1) ?? 0) !== CRLF[1] ? [CRLF] : [];
  return [...written(fields), CRLF, ...body, ...ends];
}

/** The charset of 8-bit text without a type (RFC 1428 §3). */
function charsetOf(body: Buffer): string {
  return isUtf8(body) ? 'utf-8' : 'unknown-8bit';
}

/** Whether no line is too long, and bytes over 127 occur only if allowed. */
function isFine(bytes: Buffer, eightBit: boolean): boolean {
  if (!eightBit && !isAscii(bytes)) return false;
  const lines = new LineLength();
  lines.push(bytes);
  return !lines.isTooLong;
}

/** Whether nothing below the header has to change. */
function isUntouched({ body, type }: Entity, allowed: Allowed): boolean {
  if (!isFine(body, allowed.eightBitBodies)) return false;
  // The headers of its parts count as headers of this message.
  const hasParts = type?.type.startsWith('multipart/') ?? false;
  return !hasParts || isFine(body, allowed.eightBitHeaders);
}

function kindOf({ type, encoding, header }: Entity): 'leaf' | 'parts' | 'message' | 'signed' | 'closed' {
  const name = type?.type ?? '';
  const isPlain = encoding === '7bit' || encoding === '8bit' || encoding === 'binary';
  if (name === 'multipart/signed') return 'signed';
  if (name.startsWith('multipart/')) return isPlain ? 'parts' : 'closed';
  if (name === 'message/rfc822') return isPlain ? 'message' : 'leaf';
  // Only those of RFC 6532 may be encoded.
  if (name.startsWith('message/') && !name.startsWith('message/global')) return 'closed';
  const isUnreadable = type === null && /^multipart\b/i.test(valueIn(header, 'content-type'));
  return isUnreadable ? 'closed' : 'leaf';
}

const MESSAGE: ContentType = { type: 'message/rfc822', parameters: [] };

function readEntity(bytes: Buffer, { inDigest }: Place): Entity {
  const blank = bytes.indexOf(BLANK_LINE);
  const end = blank < 0 ? bytes.length : blank + BLANK_LINE.length;
  const text = bytes.toString('latin1', 0, Math.min(end, MAX_HEADER_BYTES + CRLF.length));
  const header = readLooseHeader(text, MAX_HEADER_BYTES);
  if (header === null) throw new Refusal('structure');
  const type = typeOf(header, inDigest);
  const encoding =
    withoutComments(valueIn(header, 'content-transfer-encoding')).trim().toLowerCase() || '7bit';
  const body = bytes.subarray(header.sizeBytes + (header.brokenOff ? 0 : CRLF.length));
  return { bytes, header, body, type, encoding };
}

function typeOf(header: HeaderBlock, inDigest: boolean): ContentType | null {
  if (inDigest && !header.fields.some((field) => field.lowerName === 'content-type')) return MESSAGE;
  const value = valueIn(header, 'content-type');
  return parseContentType(value) ?? parseContentType(withoutComments(value));
}

function valueIn(header: HeaderBlock, lowerName: string): string {
  return header.fields.find((field) => field.lowerName === lowerName)?.value ?? '';
}

/** A field as it will be written. */
interface Field {
  /** Null for an added field. */
  readonly span: FieldSpan | null;
  bytes: Uint8Array;
}

function added(text: string): Field {
  return { span: null, bytes: Buffer.from(text) };
}

/** The header's fields, each in an allowed form. */
function* headerOf({ bytes, header }: Entity, { eightBitHeaders }: Allowed): Sliced<Field[]> {
  const fields: Field[] = [];
  for (const [index, span] of header.fields.entries()) {
    if (index % FIELDS_IN_A_SLICE === FIELDS_IN_A_SLICE - 1) yield;
    const raw = bytes.subarray(span.start, span.end);
    const converted = isFine(raw, eightBitHeaders) ? raw : convertField(span, raw, eightBitHeaders);
    if (typeof converted === 'string') throw new Refusal(converted);
    fields.push({ span, bytes: converted });
  }
  return fields;
}

/** States the body's encoding in the place where it was stated before. */
function relabel(fields: readonly Field[], encoding: LeafEncoding | '7bit'): void {
  for (const field of fields)
    if (field.span?.lowerName === 'content-transfer-encoding')
      field.bytes = Buffer.from(`${field.span.name}: ${encoding}\r\n`);
}

function written(fields: readonly Field[]): Uint8Array[] {
  return [Buffer.concat(fields.map(({ bytes }) => bytes))];
}

const LF = 0x0a;
/** A line with its CRLF (RFC 5321 §4.5.3.1.6). */
const MAX_OCTETS = HARD_LINE + 2;

/**
 * Finds lines longer than SMTP allows in a content that arrives in chunks of any size. Examines one position in a
 * thousand bytes, so that the test costs next to nothing.
 */
export class LineLength {
  #isTooLong = false;
  /** Bytes since the last line end. */
  #open = 0;

  /** Whether some line has more than 998 octets before its CRLF. */
  get isTooLong(): boolean {
    return this.#isTooLong || this.#open > HARD_LINE;
  }

  /** Takes the next bytes. */
  push(chunk: Uint8Array): void {
    if (this.#isTooLong) return;
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    let lineStart = -this.#open;
    // Each line ends within this many octets of its beginning: the last line end in that range begins the next range.
    for (let reach = lineStart + MAX_OCTETS - 1; reach < bytes.length; reach = lineStart + MAX_OCTETS - 1) {
      const end = reach < 0 ? -1 : bytes.lastIndexOf(LF, reach);
      if (end < 0 || end < lineStart) {
        this.#isTooLong = true;
        return;
      }
      lineStart = end + 1;
    }
    const last = bytes.lastIndexOf(LF);
    this.#open = bytes.length - (last < 0 || last < lineStart ? lineStart : last + 1);
  }
}
