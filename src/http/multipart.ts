import { isAscii, isUtf8 as isUtf8Bytes } from 'node:buffer';
import { joinBody } from './body.ts';
import {
  isAsciiBelow,
  isUtf8,
  type MediaType,
  type ParameterizedValue,
  parseMediaType,
  parseParameterized,
} from './media-type.ts';
import { decodeUtf8, fieldProblem, Problem, pointerToken, quote } from './problem.ts';

/** One part of a form, its body as the pieces that arrived: views, not copies. */
export interface MultipartPart extends PartHeader {
  readonly chunks: readonly Buffer[];
  readonly sizeBytes: number;
}

/** Bounds on a form; its total size is bounded where the body is read. */
interface MultipartLimits {
  readonly maxParts: number;
  /** All header lines of one part together. */
  readonly maxHeaderBytes: number;
  readonly maxHeaderLines: number;
  /** Size of a part without a filename. */
  readonly maxFieldBytes: number;
}

/** RFC 2046 §5.1.1: 1 to 70 characters, the last not a space. */
const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/;
const CRLF = Buffer.from('\r\n');
const BLANK_LINE = Buffer.from('\r\n\r\n');
const CR = 13;
const NOTHING = Buffer.alloc(0);
/** White space that a gateway may add after a boundary (RFC 2046 §5.1.1). */
const MAX_PADDING_BYTES = 256;
const PADDING = /^[ \t]*$/;
const AFTER_BOUNDARY = 'there is text after a boundary on its line; end the line (CRLF) there';
const LAST_LINE = /^--[ \t]*$/;
/** Bytes allowed before the first and after the last boundary. */
const MAX_OUTSIDE_BYTES = 64 * 1024;

/** The boundary of a form's media type. Throws a problem 400. */
export function boundaryOf(mediaType: MediaType): string {
  const boundary = mediaType.params.get('boundary');
  if (boundary === undefined || !BOUNDARY.test(boundary))
    throw malformed('Content-Type has no valid boundary; let the HTTP library write that header');
  return boundary;
}

/** The text of a plain field. Throws a problem 400 if it is not UTF-8, or declares another charset. */
export function fieldText(part: MultipartPart): string {
  const type = mediaTypeOf(part);
  const bytes = joinBody(part.chunks);
  // Clients that declare another charset for every field mostly send text that is the same in both.
  const isSame = isAsciiBelow(type) && isAscii(bytes);
  if (!isUtf8(type) && !isSame)
    throw faultyField(
      400,
      part.name,
      'unsupported_charset',
      'must be UTF-8; encode it as UTF-8, and leave out its charset',
    );
  if (!isUtf8Bytes(bytes))
    throw faultyField(400, part.name, 'invalid_utf8', 'is not valid UTF-8; encode it as UTF-8');
  return bytes.toString('utf8');
}

/**
 * The state of the parser:
 * - `preamble`, `body`, `epilogue`: in bytes up to the next delimiter;
 * - `line`: after a delimiter, up to the end of its line, which says whether it was the last;
 * - `header`: at the line end before a part's header, up to the blank line.
 */
type State = 'preamble' | 'line' | 'header' | 'body' | 'epilogue';

/**
 * A parser of `multipart/form-data` (RFC 7578, RFC 2046) that takes the bytes as they arrive, in chunks of any size.
 * Strict: a form is either understood whole or refused, so that no part is ever lost. Throws problems (400; 413 for a
 * field over its limit); after one the parser is unusable.
 */
export class MultipartParser {
  readonly #limits: MultipartLimits;
  /** CRLF, two dashes and the boundary. */
  readonly #delimiter: Buffer;
  readonly #parts: MultipartPart[] = [];
  #state: State = 'preamble';
  /** Bytes not parsed yet. Starts with a line end, so that the first boundary may open the body. */
  #rest: Buffer = CRLF;
  #outsideBytes = 0;
  #part: OpenPart | null = null;

  constructor(boundary: string, limits: MultipartLimits) {
    this.#limits = limits;
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  }

  /** Takes the next bytes. The parts keep views of them, so they must not change any more. */
  push(chunk: Buffer): void {
    const data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at: number | null = 0;
    while (at !== null) at = this.#step(data, at);
  }

  /** Ends the form and returns its parts, in order. */
  finish(): readonly MultipartPart[] {
    const ended = this.#state === 'epilogue' || (this.#state === 'line' && isLastLine(this.#rest));
    if (!ended) throw malformed('it ends before its last boundary; end it in "--", the boundary and "--"');
    return this.#parts;
  }

  /** Continues at `at`; returns the position of the next step, or null when more bytes are needed. */
  #step(data: Buffer, at: number): number | null {
    switch (this.#state) {
      case 'line':
        return this.#readLine(data, at);
      case 'header':
        return this.#readHeader(data, at);
      default:
        return this.#readToDelimiter(data, at);
    }
  }

  #readToDelimiter(data: Buffer, at: number): number | null {
    const found = data.indexOf(this.#delimiter, at);
    const end = found < 0 ? this.#undecidedFrom(data, at) : found;
    this.#keep(data.subarray(at, end));
    if (found < 0) return this.#wait(data, end);
    if (this.#state === 'epilogue')
      throw malformed('parts follow its last boundary; only the very last one ends in "--"');
    this.#closePart();
    this.#state = 'line';
    return found + this.#delimiter.length;
  }

  #readLine(data: Buffer, at: number): number | null {
    const end = data.indexOf(CRLF, at);
    if (lengthTo(end, data, at, CRLF) > MAX_PADDING_BYTES) throw malformed(AFTER_BOUNDARY);
    if (end < 0) return this.#wait(data, at);
    const line = data.subarray(at, end);
    if (isLastLine(line)) this.#state = 'epilogue';
    else if (PADDING.test(line.toString('latin1'))) this.#state = 'header';
    else throw malformed(AFTER_BOUNDARY);
    return end;
  }

  #readHeader(data: Buffer, at: number): number | null {
    const { maxHeaderBytes, maxHeaderLines, maxParts } = this.#limits;
    const end = data.indexOf(BLANK_LINE, at);
    if (lengthTo(end, data, at, BLANK_LINE) > maxHeaderBytes)
      throw headerTooLarge(this.#parts.length, maxHeaderBytes);
    if (end < 0) return this.#wait(data, at);
    // Otherwise `--boundary--: x` would be a header line here, and the end of the form to every other reader.
    if (data.subarray(at, end).includes(this.#delimiter)) throw boundaryInHeader(this.#parts.length);
    if (this.#parts.length === maxParts)
      throw new Problem(400, 'too_many_parts', `A form may have at most ${maxParts} parts; leave some out.`);
    const block = end === at ? NOTHING : data.subarray(at + CRLF.length, end);
    const header = parsePartHeader(block, this.#parts.length, maxHeaderLines);
    this.#part = { header, chunks: [], sizeBytes: 0, skip: CRLF.length };
    this.#state = 'body';
    // The end of the blank line may already begin the delimiter: a part without a body (RFC 2046).
    return end + CRLF.length;
  }

  /** Where bytes begin that may be the beginning of a delimiter, whose only CR is in front. */
  #undecidedFrom(data: Buffer, at: number): number {
    const from = Math.max(at, data.length - this.#delimiter.length + 1);
    const last = data.subarray(from).lastIndexOf(CR);
    if (last < 0) return data.length;
    const tail = data.subarray(from + last);
    return tail.equals(this.#delimiter.subarray(0, tail.length)) ? from + last : data.length;
  }

  #wait(data: Buffer, from: number): null {
    this.#rest = data.subarray(from);
    return null;
  }

  #keep(bytes: Buffer): void {
    const part = this.#part;
    if (part === null) {
      this.#outsideBytes += bytes.length;
      if (this.#outsideBytes > MAX_OUTSIDE_BYTES)
        throw malformed('there is too much before its first or after its last boundary; leave it out');
      return;
    }
    const content = bytes.subarray(part.skip);
    part.skip -= Math.min(part.skip, bytes.length);
    if (content.length === 0) return;
    part.chunks.push(content);
    part.sizeBytes += content.length;
    const { maxFieldBytes } = this.#limits;
    if (part.header.filename === null && part.sizeBytes > maxFieldBytes)
      throw faultyField(
        413,
        part.header.name,
        'field_too_large',
        `may have at most ${maxFieldBytes} bytes; send long content as a file`,
      );
  }

  #closePart(): void {
    if (this.#part === null) return;
    const { header, chunks, sizeBytes } = this.#part;
    this.#parts.push({ ...header, chunks, sizeBytes });
    this.#part = null;
  }
}

function faultyField(status: number, name: string, code: string, rule: string): Problem {
  const detail = `The field ${quote(name)} ${rule}.`;
  return fieldProblem(status, { pointer: `/${pointerToken(name)}`, code, detail });
}

/** The part whose body is being read. */
interface OpenPart {
  readonly header: PartHeader;
  readonly chunks: Buffer[];
  sizeBytes: number;
  /** Bytes of the blank line's end that still precede the body. */
  skip: number;
}

/** The length before a terminator, or the minimal length if the terminator has not arrived. */
function lengthTo(end: number, data: Buffer, at: number, terminator: Buffer): number {
  return end < 0 ? data.length - at - terminator.length + 1 : end - at;
}

function isLastLine(line: Buffer): boolean {
  return line.length <= MAX_PADDING_BYTES && LAST_LINE.test(line.toString('latin1'));
}

/** The header of a part. */
interface PartHeader {
  readonly name: string;
  /** Null for a plain field. Empty for a file input left empty. Unsafe as a path. */
  readonly filename: string | null;
  /** As written; null if there is none. */
  readonly contentType: string | null;
  /** Every header of the part by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
}

const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** RFC 8187 ext-value: charset, optional language, percent-encoded text. */
const EXTENDED = /^([A-Za-z0-9-]+)'[A-Za-z0-9-]*'((?:%[0-9A-Fa-f]{2}|[!#$&+\-.^_`|~0-9A-Za-z])*)$/;
const IDENTITY_ENCODINGS: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary']);

/**
 * Parses the header lines of a part, without the blank line (RFC 7578 §4). Strict: anything about the part that we
 * would have to drop is refused. Throws a problem 400, which points to the part by its name or, until that is known, by
 * `place`, counted from 0.
 */
function parsePartHeader(block: Buffer, place: number, maxLines: number): PartHeader {
  const unnamed = unnamedPart(place);
  const headers = parseLines(decodeUtf8(block, 'The header of a form part'), unnamed, maxLines);
  const disposition = parseDisposition(headers.get('content-disposition'), unnamed);
  const name = disposition.params.get('name');
  if (name === undefined)
    throw faultyPart(unnamed, 'it has no name; give it one, as in form-data; name="subject"');
  const named = { token: name, called: `part ${quote(name)}` };
  for (const parameter of disposition.params.keys())
    if (parameter.includes('*') && parameter !== 'filename*')
      throw faultyPart(
        named,
        `the parameter ${quote(parameter)} is not accepted; only filename* is (RFC 8187)`,
      );
  checkTransferEncoding(headers.get('content-transfer-encoding'), named);
  const contentType = headers.get('content-type') ?? null;
  if (contentType !== null && parseMediaType(contentType) === null)
    throw faultyPart(named, 'its Content-Type is malformed; write one such as image/png, or leave it out');
  return { name, filename: filenameOf(disposition, named), contentType, headers };
}

/** The media type of a part; text/plain by default (RFC 7578 §4.4). */
export function mediaTypeOf(part: Pick<PartHeader, 'contentType'>): MediaType {
  return parseMediaType(part.contentType ?? undefined) ?? { type: 'text/plain', params: new Map() };
}

const MALFORMED = 'malformed_multipart';

/** A problem of the form itself. */
function malformed(what: string): Problem {
  return new Problem(400, MALFORMED, `The form is not well-formed multipart/form-data: ${what}.`);
}

/** Names the part in a refusal: by its name or, until that is known, its position. */
interface PartPlace {
  /** The pointer's token. */
  readonly token: string;
  readonly called: string;
}

/** The problem of the part at `place`, counted from 0, whose header is too long. */
function headerTooLarge(place: number, maxBytes: number): Problem {
  const what = `its header has more than ${maxBytes} bytes; shorten its names`;
  return faultyPart(unnamedPart(place), what, 'part_header_too_large');
}

/** The problem of the part at `place`, counted from 0, whose header is cut off by a boundary. */
function boundaryInHeader(place: number): Problem {
  return faultyPart(
    unnamedPart(place),
    'there is a boundary in its header; end the header with an empty line',
  );
}

function unnamedPart(place: number): PartPlace {
  return { token: String(place), called: `part ${place + 1}` };
}

function faultyPart(part: PartPlace, what: string, code = MALFORMED): Problem {
  const detail = `The form's ${part.called} is not well-formed: ${what}.`;
  return fieldProblem(400, { pointer: `/${pointerToken(part.token)}`, code, detail });
}

function parseLines(text: string, part: PartPlace, maxLines: number): Map<string, string> {
  const headers = new Map<string, string>();
  if (text === '') return headers;
  const lines = text.split('\r\n');
  if (lines.length > maxLines)
    throw faultyPart(
      part,
      `its header has ${lines.length} lines; at most ${maxLines} are accepted`,
      'too_many_part_headers',
    );
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0));
    if (!FIELD_NAME.test(name) || /[\r\n\0]/.test(line))
      throw faultyPart(
        part,
        `its header line ${quote(line)} must be of the form "Name: value", ended by CRLF and not folded`,
      );
    const key = name.toLowerCase();
    if (headers.has(key)) throw faultyPart(part, `it has two ${quote(name)} headers; send one`);
    headers.set(key, line.slice(colon + 1).trim());
  }
  return headers;
}

function checkTransferEncoding(encoding: string | undefined, part: PartPlace): void {
  if (encoding === undefined || IDENTITY_ENCODINGS.has(encoding.toLowerCase())) return;
  const what = `Content-Transfer-Encoding ${quote(encoding)} is not accepted in a form; send the bytes as they are (binary)`;
  throw faultyPart(part, what, 'unsupported_part_encoding');
}

function parseDisposition(header: string | undefined, part: PartPlace): ParameterizedValue {
  const parsed = header === undefined ? null : parseParameterized(header, unescapeQuoted);
  if (parsed?.value === 'form-data') return parsed;
  const found =
    header === undefined ? 'it has no Content-Disposition' : `its Content-Disposition is ${quote(header)}`;
  throw faultyPart(part, `${found}; write one such as form-data; name="subject"`);
}

/**
 * Clients escape in two ways: `\"` and `\\` (RFC 2183), or `%22`, `%0D`, `%0A` (WHATWG HTML, browsers, newer curl),
 * which leaves other backslashes alone. Both are understood.
 */
function unescapeQuoted(quoted: string): string {
  return quoted.replace(
    /\\(["\\])|%(22|0D|0A)/gi,
    (_, escaped: string | undefined, hex: string | undefined) =>
      hex === undefined ? (escaped ?? '') : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** `filename*` (RFC 8187) takes precedence over `filename`, which is then its ASCII substitute (RFC 6266 §4.3). */
function filenameOf(disposition: ParameterizedValue, part: PartPlace): string | null {
  const extended = disposition.params.get('filename*');
  if (extended === undefined) return disposition.params.get('filename') ?? null;
  const [, charset = '', encoded = ''] = EXTENDED.exec(extended) ?? [];
  if (charset.toLowerCase() !== 'utf-8')
    throw faultyPart(part, "its filename* must be of the form UTF-8''percent-encoded");
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw faultyPart(part, 'its filename* is not valid UTF-8; encode its UTF-8 bytes with "%"');
  }
}
