import { isUtf8 } from 'node:buffer';
import { atOnce } from '../lib/clock.ts';
import { type ContentType, parseContentType, withoutComments } from './field-values.ts';
import { type FieldSpan, fieldValue, readLooseHeader } from './header-block.ts';
import { decodeLeaf, isEncoding, splitMultipart } from './seven-bit-parts.ts';

/**
 * What all reports that come in are read with (RFC 6522): the parts of a message, groups of fields, the header of the
 * returned message. Reports are written by thousands of programs, some of them hostile. Nothing is refused: what
 * cannot be read is left as it stands, what is above a limit is not read.
 */

/** Bytes of a message to read; the rest is ignored. As many as a bounce may have by default. */
export const MAX_REPORT_BYTES = 1024 * 1024;
/** Multiparts and messages inside one another. Forwarded reports have five levels. */
export const MAX_REPORT_DEPTH = 10;
/** Parts of one message, multiparts and the message itself included. */
export const MAX_REPORT_PARTS = 100;
/** Bytes of one header to read. Large services add some 30 KiB of traces. */
export const MAX_REPORT_HEADER = 128 * 1024;
/** Groups of fields in one part: one for each recipient, and the message's. */
export const MAX_REPORT_GROUPS = 1_001;
/** Fields of one group to keep. RFC 3464 and its extensions define fewer than 20. */
export const MAX_GROUP_FIELDS = 100;
/** Characters of a field's value to keep. */
export const MAX_FIELD_VALUE = 4096;

/** A part of a message, or the message itself. */
export interface ReportPart {
  /** `type/subtype` in lower case; `text/plain` where none is given or can be read. */
  readonly type: string;
  readonly parameters: ContentType['parameters'];
  readonly fields: readonly FieldSpan[];
  /** Decoded, lines ended by CRLF. Of a multipart, the whole, with its boundaries. */
  readonly body: Buffer;
  /** Decoded, byte for byte: an archive is no text. */
  readonly octets: Buffer;
  /** The number of messages that this part is inside of: 0 for the report's own parts. */
  readonly level: number;
}

/** A field of a group; its value is unfolded and trimmed. Hostile text, with control characters. */
export type ReportField = Pick<FieldSpan, 'lowerName' | 'value'>;

const CRLF = '\r\n';
const BLANK_LINE = Buffer.from('\r\n\r\n');
const LINE_END = /\r?\n/g;
const BARE_LF = /(?<!\r)\n/;
const MESSAGES: ReadonlySet<string> = new Set(['message/rfc822', 'message/global']);
/** Characters of a Content-Type to read. */
const MAX_CONTENT_TYPE = 4096;
const PLAIN_TEXT: ContentType = { type: 'text/plain', parameters: [] };
const LOOSE_TYPE = /^[ \t]*([\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100})/;
const LOOSE_PARAMETER = /;[ \t]*([\w*-]{1,100})[ \t]*=[ \t]*(?:"([^"]*)"|([^;]*))/g;

/**
 * The parts of a message in order, the message itself first; messages inside are opened, too. Lines may end in CRLF or
 * LF. Takes time linear in the bytes read, for each level.
 */
export function readReportParts(message: Uint8Array): readonly ReportPart[] {
  const parts: ReportPart[] = [];
  const start = message.subarray(0, MAX_REPORT_BYTES);
  walk(inCrlf(Buffer.from(start.buffer, start.byteOffset, start.byteLength)), 0, 0, parts);
  return parts;
}

function walk(bytes: Buffer, depth: number, level: number, parts: ReportPart[]): void {
  if (parts.length === MAX_REPORT_PARTS) return;
  const part = readPart(bytes, level);
  parts.push(part);
  if (depth === MAX_REPORT_DEPTH) return;
  if (MESSAGES.has(part.type)) walk(part.body, depth + 1, level + 1, parts);
  if (!isMultipart(part.type)) return;
  const split = atOnce(splitMultipart(part.body, parameterOf(part, 'boundary') ?? ''));
  for (const { part: inner } of split?.parts ?? []) walk(inner, depth + 1, level, parts);
}

function readPart(bytes: Buffer, level: number): ReportPart {
  const { fields, bodyStart } = readFields(bytes);
  const { type, parameters } = contentTypeOf(fields);
  const rest = bytes.subarray(bodyStart);
  const octets = isMultipart(type) ? rest : decoded(rest, fields);
  return { type, parameters, fields, body: octets === rest ? rest : inCrlf(octets), octets, level };
}

function isMultipart(type: string): boolean {
  return type.startsWith('multipart/');
}

/** The header at the beginning, and where the body begins. Of a header that is too long, the first fields. */
function readFields(bytes: Buffer): { readonly fields: readonly FieldSpan[]; readonly bodyStart: number } {
  const blank = bytes.subarray(0, CRLF.length).equals(BLANK_LINE.subarray(0, CRLF.length))
    ? -CRLF.length
    : bytes.indexOf(BLANK_LINE);
  const end = blank < -1 ? 0 : blank < 0 ? bytes.length : blank + CRLF.length;
  const size = Math.min(end, MAX_REPORT_HEADER);
  const text = bytes.toString('latin1', 0, size);
  const isCut = size < end;
  const lines = isCut ? text.slice(0, text.lastIndexOf(CRLF) + CRLF.length) : text;
  const ended = lines.endsWith(CRLF) ? lines : lines + CRLF;
  const header = readLooseHeader(ended, ended.length);
  if (header === null) return { fields: [], bodyStart: 0 };
  return {
    fields: header.fields,
    bodyStart: header.brokenOff ? header.sizeBytes : end + CRLF.length,
  };
}

function contentTypeOf(fields: readonly FieldSpan[]): ContentType {
  const value = (fieldValue(fields, 'content-type') ?? '').slice(0, MAX_CONTENT_TYPE);
  const plain = withoutComments(value);
  const strict = parseContentType(value, MAX_CONTENT_TYPE) ?? parseContentType(plain, MAX_CONTENT_TYPE);
  return strict ?? looseContentType(plain);
}

/** As many write it against RFC 2045: a boundary with `=` or `/` but no quotes, stray text between parameters. */
function looseContentType(value: string): ContentType {
  const type = LOOSE_TYPE.exec(value)?.[1];
  if (type === undefined) return PLAIN_TEXT;
  const parameters = Array.from(
    value.matchAll(LOOSE_PARAMETER),
    ([, name = '', quoted, plain = '']) => [name.toLowerCase(), quoted ?? plain.trim()] as const,
  );
  return { type: type.toLowerCase(), parameters };
}

/** The value of a parameter of a part's Content-Type (lower-case name), as written; null without one. */
export function parameterOf({ parameters }: ReportPart, name: string): string | null {
  return parameters.find(([given]) => given === name)?.[1] ?? null;
}

/** A body as it stands where it is not what its Content-Transfer-Encoding says. */
function decoded(body: Buffer, fields: readonly FieldSpan[]): Buffer {
  const value = fieldValue(fields, 'content-transfer-encoding') ?? '';
  const encoding = withoutComments(value).trim().toLowerCase();
  if (!isEncoding(encoding)) return body;
  return atOnce(decodeLeaf(body, encoding)) ?? body;
}

/** The bytes with CRLF for each bare LF. */
function inCrlf(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1');
  return BARE_LF.test(text) ? Buffer.from(text.replace(LINE_END, CRLF), 'latin1') : bytes;
}

// Groups of fields: the body of message/delivery-status (RFC 3464 §2.1) and message/feedback-report (RFC 5965 §3).

const BLANK = /^[ \t]*$/;
const FOLDED = /^[ \t]/;
const FIELD = /^([!-9;-~]{1,100})[ \t]*:(.*)$/s;

/**
 * The groups of fields in a part, in order; blank lines separate them. A line that is no field continues the one
 * before, since many programs put the lines of a reply there without folding them.
 */
export function readFieldGroups(body: Buffer): readonly (readonly ReportField[])[] {
  const text = isUtf8(body) ? body.toString('utf8') : body.toString('latin1');
  const groups: ReportField[][] = [];
  let group: ReportField[] | null = null;
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf(CRLF, start);
    const end = found < 0 ? text.length : found;
    const line = text.slice(start, end);
    start = end + CRLF.length;
    if (BLANK.test(line)) {
      group = null;
    } else {
      if (group === null) {
        if (groups.length === MAX_REPORT_GROUPS) break;
        group = [];
        groups.push(group);
      }
      addLine(group, line);
    }
  }
  return groups.filter(({ length }) => length > 0);
}

function addLine(group: ReportField[], line: string): void {
  const [, name, value = ''] = FOLDED.test(line) ? [] : (FIELD.exec(line) ?? []);
  const last = group.at(-1);
  if (name === undefined) {
    if (last !== undefined && last.value.length < MAX_FIELD_VALUE)
      group[group.length - 1] = { ...last, value: kept(`${last.value} ${line.trim()}`) };
  } else if (group.length < MAX_GROUP_FIELDS) {
    group.push({ lowerName: name.toLowerCase(), value: kept(value) });
  }
}

function kept(value: string): string {
  return value.trim().slice(0, MAX_FIELD_VALUE).toWellFormed();
}

// The message that a report returns, or its header (RFC 6522 §3, RFC 6533 §5).

const RETURNED: ReadonlySet<string> = new Set([
  'message/rfc822',
  'message/global',
  'text/rfc822-headers',
  // Early drafts of RFC 5965.
  'text/rfc822-header',
  'message/rfc822-headers',
  'message/global-headers',
]);
const MESSAGE_ID = /<[^<>\s]{1,996}>/;
const RETURN_PATH = /^<?([^<>\s]{0,320})>?$/;

/** What the header of the returned message says. */
export interface ReturnedHeader {
  /** With its angle brackets; null without one. */
  readonly messageId: string | null;
  /** Without angle brackets, '' for the null one; null without the field. */
  readonly returnPath: string | null;
}

/** The header of the returned message, among the parts of this level; null if nothing was returned. */
export function returnedHeader(parts: readonly ReportPart[], level: number): ReturnedHeader | null {
  const fields = returnedFields(parts, level);
  return fields === null ? null : identityOf(fields);
}

/** All fields of that header; null if nothing was returned. */
export function returnedFields(parts: readonly ReportPart[], level: number): readonly FieldSpan[] | null {
  const part = parts.find((each) => each.level === level && RETURNED.has(each.type));
  return part === undefined ? null : readFields(part.body).fields;
}

/** Reads a header with CRLF line ends, and whatever follows it. */
export function readReturnedHeader(bytes: Buffer): ReturnedHeader {
  return identityOf(readFields(bytes).fields);
}

function identityOf(fields: readonly FieldSpan[]): ReturnedHeader {
  return {
    messageId: MESSAGE_ID.exec(fieldValue(fields, 'message-id') ?? '')?.[0] ?? null,
    returnPath: RETURN_PATH.exec(fieldValue(fields, 'return-path') ?? ' ')?.[1] ?? null,
  };
}
