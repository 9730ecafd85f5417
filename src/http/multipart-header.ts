import { type MediaType, parseMediaType } from './media-type.ts';
import { type ParameterizedValue, parseParameterized } from './parameters.ts';
import { Problem } from './problem.ts';
import { quote } from './quote.ts';
import { decodeUtf8 } from './utf8.ts';

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
 * about the part that we would have to drop is refused. Throws a problem 400.
 */
export function parsePartHeader(block: Buffer, maxLines: number): PartHeader {
  const headers = parseLines(decodeUtf8(block, 'The header of a form part'), maxLines);
  checkTransferEncoding(headers.get('content-transfer-encoding'));
  const disposition = parseDisposition(headers.get('content-disposition'));
  const name = disposition.params.get('name');
  if (name === undefined) throw malformed('a part has no name');
  const contentType = headers.get('content-type') ?? null;
  if (contentType !== null && parseMediaType(contentType) === null)
    throw malformed(`the part ${quote(name)} has a malformed Content-Type`);
  return { name, filename: filenameOf(disposition), contentType, headers };
}

/** The media type of a part; text/plain when it does not say (RFC 7578 §4.4). */
export function mediaTypeOf(part: Pick<PartHeader, 'contentType'>): MediaType {
  return parseMediaType(part.contentType ?? undefined) ?? { type: 'text/plain', params: new Map() };
}

/** A problem of the form itself. */
export function malformed(what: string): Problem {
  return new Problem(400, 'malformed_multipart', `The form is not well-formed multipart/form-data: ${what}.`);
}

function parseLines(text: string, maxLines: number): Map<string, string> {
  const headers = new Map<string, string>();
  if (text === '') return headers;
  const lines = text.split('\r\n');
  if (lines.length > maxLines)
    throw new Problem(400, 'too_many_part_headers', `A form part may have at most ${maxLines} header lines.`);
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0));
    if (!FIELD_NAME.test(name) || /[\r\n\0]/.test(line))
      throw malformed('a header line of a part is malformed');
    const key = name.toLowerCase();
    if (headers.has(key)) throw malformed(`a part has two ${quote(name)} headers`);
    headers.set(key, line.slice(colon + 1).trim());
  }
  return headers;
}

function checkTransferEncoding(encoding: string | undefined): void {
  if (encoding === undefined || IDENTITY_ENCODINGS.has(encoding.toLowerCase())) return;
  throw new Problem(
    400,
    'unsupported_part_encoding',
    `Content-Transfer-Encoding ${quote(encoding)} is not taken in a form; send the bytes as they are (binary).`,
  );
}

function parseDisposition(header: string | undefined): ParameterizedValue {
  if (header === undefined) throw malformed('a part has no Content-Disposition');
  const parsed = parseParameterized(header, unescapeQuoted);
  if (parsed === null) throw malformed('a Content-Disposition is malformed');
  if (parsed.value !== 'form-data') throw malformed('a Content-Disposition is not form-data');
  for (const name of parsed.params.keys())
    if (name.includes('*') && name !== 'filename*')
      throw malformed(`the parameter ${quote(name)} is not taken in a Content-Disposition`);
  return parsed;
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
function filenameOf(disposition: ParameterizedValue): string | null {
  const extended = disposition.params.get('filename*');
  if (extended === undefined) return disposition.params.get('filename') ?? null;
  const [, charset = '', encoded = ''] = EXTENDED.exec(extended) ?? [];
  if (charset.toLowerCase() !== 'utf-8') throw malformed("a filename* is not of the form UTF-8''…");
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw malformed('a filename* is not valid UTF-8');
  }
}
