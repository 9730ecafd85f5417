import { isAscii, isUtf8 as isUtf8Bytes } from 'node:buffer';
import { joinBody } from './body.ts';
import { isAsciiBelow, isUtf8, type MediaType } from './media-type.ts';
import {
  boundaryInHeader,
  headerTooLarge,
  malformed,
  mediaTypeOf,
  type PartHeader,
  parsePartHeader,
} from './multipart-header.ts';
import { fieldProblem, Problem, pointerToken, quote } from './problem.ts';

/** One part of a form, its body as the pieces that arrived: views, not copies. */
export interface MultipartPart extends PartHeader {
  readonly chunks: readonly Buffer[];
  readonly sizeBytes: number;
}

/** Bounds on a form; its total size is bounded where the body is read. */
export interface MultipartLimits {
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
/** White space a gateway may add behind a boundary (RFC 2046 §5.1.1). */
const MAX_PADDING_BYTES = 256;
const PADDING = /^[ \t]*$/;
const AFTER_BOUNDARY = 'something follows a boundary on its line; end the line (CRLF) there';
const LAST_LINE = /^--[ \t]*$/;
/** What may stand before the first and after the last boundary. */
const MAX_OUTSIDE_BYTES = 64 * 1024;

/** The boundary of a form's media type. Throws a problem 400. */
export function boundaryOf(mediaType: MediaType): string {
  const boundary = mediaType.params.get('boundary');
  if (boundary === undefined || !BOUNDARY.test(boundary))
    throw malformed('Content-Type has no valid boundary; let the HTTP library write that header');
  return boundary;
}

/** The text of a plain field. Throws a problem 400 when it is not UTF-8, or says that it is something else. */
export function fieldText(part: MultipartPart): string {
  const type = mediaTypeOf(part);
  const bytes = joinBody(part.chunks);
  // Clients that write another charset beside every field mostly mean text that is the same in both.
  const isSame = isAsciiBelow(type) && isAscii(bytes);
  if (!isUtf8(type) && !isSame)
    throw faultyField(
      400,
      part.name,
      'unsupported_charset',
      'must be UTF-8; encode it so, and leave out its charset',
    );
  if (!isUtf8Bytes(bytes))
    throw faultyField(400, part.name, 'invalid_utf8', 'is not valid UTF-8; encode it as UTF-8');
  return bytes.toString('utf8');
}

/**
 * Where the parser stands:
 * - `preamble`, `body`, `epilogue`: bytes up to the next delimiter;
 * - `line`: behind a delimiter, up to the end of its line, which says whether it was the last;
 * - `header`: at the line end before a part's header, up to the blank line.
 */
type State = 'preamble' | 'line' | 'header' | 'body' | 'epilogue';

/**
 * A parser of `multipart/form-data` (RFC 7578, RFC 2046), fed as the bytes arrive; how they are cut makes no
 * difference. Strict: a form either is understood whole or refused, so that no part is ever lost. Throws
 * problems (400; 413 for a field over its limit); after one the parser is of no more use.
 */
export class MultipartParser {
  readonly #limits: MultipartLimits;
  /** CRLF, two dashes and the boundary. */
  readonly #delimiter: Buffer;
  readonly #parts: MultipartPart[] = [];
  #state: State = 'preamble';
  /** Bytes not decided on yet. A line end to begin with, so that the first boundary may open the body. */
  #rest: Buffer = CRLF;
  #outsideBytes = 0;
  #part: OpenPart | null = null;

  constructor(boundary: string, limits: MultipartLimits) {
    this.#limits = limits;
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  }

  /** Takes the next bytes. The parts keep views of them: they must not change any more. */
  push(chunk: Buffer): void {
    const data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at: number | null = 0;
    while (at !== null) at = this.#step(data, at);
  }

  /** Ends the form and gives its parts, in order. */
  finish(): readonly MultipartPart[] {
    const ended = this.#state === 'epilogue' || (this.#state === 'line' && isLastLine(this.#rest));
    if (!ended) throw malformed('it ends before its last boundary; end it in "--", the boundary and "--"');
    return this.#parts;
  }

  /** Goes on at `at`; returns where the next step begins, or null when that takes bytes still to come. */
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
    // Else `--boundary--: x` would be a header line here, and the end of the form to every other reader.
    if (data.subarray(at, end).includes(this.#delimiter)) throw boundaryInHeader(this.#parts.length);
    if (this.#parts.length === maxParts)
      throw new Problem(400, 'too_many_parts', `A form may have at most ${maxParts} parts; leave some out.`);
    const block = end === at ? NOTHING : data.subarray(at + CRLF.length, end);
    const header = parsePartHeader(block, this.#parts.length, maxHeaderLines);
    this.#part = { header, chunks: [], sizeBytes: 0, skip: CRLF.length };
    this.#state = 'body';
    // The blank line's end may already be the beginning of the delimiter: a part without a body (RFC 2046).
    return end + CRLF.length;
  }

  /** Where the bytes begin that may turn out to be the beginning of a delimiter; it has only one CR, in front. */
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
        throw malformed('too much stands before its first or after its last boundary; leave it out');
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
  /** Bytes of the blank line's end still in front of the body. */
  skip: number;
}

/** How long what lies before a terminator is, or at least will be when the terminator is not there yet. */
function lengthTo(end: number, data: Buffer, at: number, terminator: Buffer): number {
  return end < 0 ? data.length - at - terminator.length + 1 : end - at;
}

function isLastLine(line: Buffer): boolean {
  return line.length <= MAX_PADDING_BYTES && LAST_LINE.test(line.toString('latin1'));
}
