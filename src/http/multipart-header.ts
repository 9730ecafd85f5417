import { type MediaType, type ParameterizedValue, parseMediaType, parseParameterized } from './media-type.ts';
import { decodeUtf8, fieldProblem, Problem, pointerToken, quote } from './problem.ts';

/** What the header of a part says. */
export interface PartHeader {
  readonly name: string;
  /** Null for a plain field. Empty for a file input that was left empty. Not safe as a path. */
  readonly filename: string | null;
  /** As written; null when the part has none. */
  readonly contentType: string | null;
  /** Every header of the part by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
}

const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** RFC 8187 ext-value: charset, optional language, percent-encoded text. */
const EXTENDED = /^([A-Za-z0-9-]+)'[A-Za-z0-9-]*'((?:%[0-9A-Fa-f]{2}|[!#$&+\-.^_`|~0-9A-Za-z])*)$/;
const IDENTITY_ENCODINGS: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary']);

/**
 * Parses the header lines of a part, without the blank line (RFC 7578 §4). Strict: whatever says something
 * about the part that we would have to drop is refused. Throws a problem 400, which points to the part by its
 * name, or by `place`, counted from 0, as long as that is not known.
 */
export function parsePartHeader(block: Buffer, place: number, maxLines: number): PartHeader {
  const unnamed = unnamedPart(place);
  const headers = parseLines(decodeUtf8(block, 'The header of a form part'), unnamed, maxLines);
  const disposition = parseDisposition(headers.get('content-disposition'), unnamed);
  const name = disposition.params.get('name');
  if (name === undefined)
    throw faultyPart(unnamed, 'it has no name; give it one, as in form-data; name="subject"');
  const named = { token: name, called: `part ${quote(name)}` };
  for (const parameter of disposition.params.keys())
    if (parameter.includes('*') && parameter !== 'filename*')
      throw faultyPart(named, `the parameter ${quote(parameter)} is not taken; only filename* is (RFC 8187)`);
  checkTransferEncoding(headers.get('content-transfer-encoding'), named);
  const contentType = headers.get('content-type') ?? null;
  if (contentType !== null && parseMediaType(contentType) === null)
    throw faultyPart(named, 'its Content-Type is malformed; write one such as image/png, or leave it out');
  return { name, filename: filenameOf(disposition, named), contentType, headers };
}

/** The media type of a part; text/plain when it does not say (RFC 7578 §4.4). */
export function mediaTypeOf(part: Pick<PartHeader, 'contentType'>): MediaType {
  return parseMediaType(part.contentType ?? undefined) ?? { type: 'text/plain', params: new Map() };
}

const MALFORMED = 'malformed_multipart';

/** A problem of the form itself. */
export function malformed(what: string): Problem {
  return new Problem(400, MALFORMED, `The form is not well-formed multipart/form-data: ${what}.`);
}

/** Which part a refusal is about: by its name, or by its place as long as that is not known. */
interface PartPlace {
  /** The pointer's token. */
  readonly token: string;
  readonly called: string;
}

/** A problem of the part at `place`, counted from 0, whose header does not end in time. */
export function headerTooLarge(place: number, maxBytes: number): Problem {
  const what = `its header has more than ${maxBytes} bytes; shorten its names`;
  return faultyPart(unnamedPart(place), what, 'part_header_too_large');
}

/** A problem of the part at `place`, counted from 0, whose header a boundary breaks off. */
export function boundaryInHeader(place: number): Problem {
  return faultyPart(unnamedPart(place), 'a boundary stands in its header; end the header with an empty line');
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
      `its header has ${lines.length} lines; at most ${maxLines} are taken`,
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
  const what = `Content-Transfer-Encoding ${quote(encoding)} is not taken in a form; send the bytes as they are (binary)`;
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
 * Clients escape in two ways: `\"` and `\\` (RFC 2183), or `%22`, `%0D`, `%0A` (WHATWG HTML, browsers, newer
 * curl), which leaves other backslashes alone. Both are understood.
 */
function unescapeQuoted(quoted: string): string {
  return quoted.replace(
    /\\(["\\])|%(22|0D|0A)/gi,
    (_, escaped: string | undefined, hex: string | undefined) =>
      hex === undefined ? (escaped ?? '') : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** `filename*` (RFC 8187) wins over `filename`, which is then its ASCII stand-in (RFC 6266 §4.3). */
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
