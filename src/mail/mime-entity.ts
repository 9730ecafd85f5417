import { isAscii } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { SLICE_BYTES, type Sliced } from '../lib/clock.ts';
import type { Parameter } from './field.ts';
import { type ContentType, decodeWords, parseContentType, withoutComments } from './field-values.ts';
import { type FieldSpan, fieldValue, type HeaderBlock, readLooseHeader } from './header-block.ts';
import { decodeLeaf, isEncoding } from './seven-bit-parts.ts';

/**
 * A message or a part, as its own header describes it (RFC 2045, 2183): type, disposition, encoding, decoded body; and
 * the reasons why a message cannot be rebuilt.
 */

/** An entity: header, blank line, body. */
export interface Entity {
  readonly header: HeaderBlock;
  /** As in the message, undecoded. */
  readonly body: Buffer;
  /** `text/plain` without a type (RFC 2045 §5.2). */
  readonly type: string;
  /** By name in lower case, decoded by RFC 2231, without `name`. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly disposition: 'attachment' | 'inline' | null;
  /** From Content-Disposition, otherwise the `name` of Content-Type; null without either. */
  readonly filename: string | null;
  /** Without its angle brackets. */
  readonly contentId: string | null;
  /** Lower case; `7bit` without one. */
  readonly encoding: string;
}

/** Most bytes of a header to read. */
const MAX_HEADER_BYTES = 256 * 1024;
/** Characters of a field with parameters: RFC 2231 makes file names long. */
const MAX_FIELD = 16 * 1024;
const BLANK_LINE = Buffer.from('\r\n\r\n');
const CRLF_LENGTH = 2;
const SECTION = /^([^*]+)(?:\*(\d{1,3}))?(\*)?$/;
const CHARSET = /^([^']*)'[^']*'/;
const CONTENT_ID = /^<([^<>]+)>$/;
/** May be taken for an encoded word, or replaces unreadable bytes. */
const DOUBTFUL = /=\?|\ufffd/;
/** Fields allowed once in any header (RFC 2045, RFC 2183). */
const ONCE = [
  'content-type',
  'content-transfer-encoding',
  'content-disposition',
  'content-id',
  'content-description',
];

/** Reads an entity; null if its header is ambiguous or unreadable. */
export function readEntity(bytes: Buffer): Entity | null {
  const blank = bytes.indexOf(BLANK_LINE);
  const end = blank < 0 ? bytes.length : blank + BLANK_LINE.length;
  const text = bytes.toString('latin1', 0, Math.min(end, MAX_HEADER_BYTES + CRLF_LENGTH));
  const header = readLooseHeader(text, MAX_HEADER_BYTES);
  if (header === null || header.brokenOff) return null;
  if (ONCE.some((name) => header.fields.filter(({ lowerName }) => lowerName === name).length > 1))
    return null;
  const type = typeOf(header.fields);
  const placed = dispositionOf(header.fields);
  if (type === null || placed === null) return null;
  const encoding = withoutComments(fieldValue(header.fields, 'content-transfer-encoding') ?? '7bit');
  const id = fieldValue(header.fields, 'content-id');
  const contentId = id === null ? null : (CONTENT_ID.exec(id)?.[1] ?? '');
  if (contentId === '') return null;
  const { name, ...parameters } = Object.fromEntries(type.parameters);
  return {
    header,
    body: bytes.subarray(header.sizeBytes + CRLF_LENGTH),
    type: type.type,
    parameters: new Map(Object.entries(parameters)),
    disposition: placed.disposition,
    filename: placed.filename ?? name ?? null,
    contentId,
    encoding: encoding.trim().toLowerCase(),
  };
}

/**
 * Text with its encoded words decoded; null if some of it is unreadable, or the result looks like an encoded word
 * itself: a writer might take it for one.
 */
export function decodedText(text: string): string | null {
  const decoded = decodeWords(text);
  return DOUBTFUL.test(decoded) ? null : decoded;
}

interface Typed {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const PLAIN_TEXT: Typed = { type: 'text/plain', parameters: new Map() };

function typeOf(fields: readonly FieldSpan[]): Typed | null {
  const value = fieldValue(fields, 'content-type');
  return value === null ? PLAIN_TEXT : withSections(parsed(value));
}

interface Placed {
  readonly disposition: Entity['disposition'];
  readonly filename: string | null;
}

function dispositionOf(fields: readonly FieldSpan[]): Placed | null {
  const value = fieldValue(fields, 'content-disposition');
  if (value === null) return { disposition: null, filename: null };
  // Apart from the slash, it has the syntax of a type.
  const read = withSections(parsed(`x/${value.trimStart()}`));
  if (read === null) return null;
  return {
    // An unknown one means an attachment (RFC 2183 §2.8).
    disposition: read.type === 'x/inline' ? 'inline' : 'attachment',
    filename: read.parameters.get('filename') ?? null,
  };
}

function parsed(value: string): ContentType | null {
  return parseContentType(value, MAX_FIELD) ?? parseContentType(withoutComments(value), MAX_FIELD);
}

/** Joins and decodes parameters (RFC 2231 §3, §4); null if two of them contradict each other, or one is unreadable. */
function withSections(read: ContentType | null): Typed | null {
  if (read === null) return null;
  const plain = new Map<string, string>();
  const sections = new Map<string, Section[]>();
  for (const parameter of read.parameters) {
    const section = sectionOf(parameter);
    if (section === null) return null;
    const { name, value } = section;
    if (section.index === 0 && !section.isCounted && !section.isEncoded) {
      if (plain.has(name)) return null;
      const decoded = decodedText(value);
      if (decoded === null) return null;
      plain.set(name, decoded);
    } else {
      sections.set(name, [...(sections.get(name) ?? []), section]);
    }
  }
  for (const [name, parts] of sections) {
    const value = joined(parts);
    if (value === null || DOUBTFUL.test(value)) return null;
    // The other one is for readers without RFC 2231.
    plain.set(name, value);
  }
  return { type: read.type, parameters: plain };
}

interface Section {
  readonly name: string;
  readonly value: string;
  readonly index: number;
  readonly isCounted: boolean;
  readonly isEncoded: boolean;
}

function sectionOf([name, value]: Parameter): Section | null {
  const [, base, index, star] = SECTION.exec(name) ?? [];
  if (base === undefined || base === '__proto__') return null;
  return {
    name: base,
    value,
    index: Number(index ?? 0),
    isCounted: index !== undefined,
    isEncoded: star !== undefined,
  };
}

function joined(sections: readonly Section[]): string | null {
  const inOrder = sections.toSorted((a, b) => a.index - b.index);
  const [first] = inOrder;
  if (first === undefined || inOrder.some(({ index }, at) => index !== at)) return null;
  const prefix = first.isEncoded ? CHARSET.exec(first.value) : null;
  if (first.isEncoded && prefix === null) return null;
  const charset = prefix?.[1] || 'us-ascii';
  const texts = inOrder.map(({ value, isEncoded }, at) => {
    const text = at === 0 ? value.slice(prefix?.[0].length ?? 0) : value;
    return isEncoded ? percentDecoded(text) : Buffer.from(text);
  });
  try {
    return new TextDecoder(charset, { fatal: true }).decode(Buffer.concat(texts));
  } catch {
    return null;
  }
}

function percentDecoded(text: string): Buffer {
  const latin1 = text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(latin1, 'latin1');
}

// The decoded body of a part: bytes, or text (RFC 2045 §6, RFC 2046 §4.1).

/** Names of ASCII, the default charset (RFC 2046 §4.1.2). */
const ASCII_NAMES: ReadonlySet<string> = new Set(['us-ascii', 'ascii', 'ansi_x3.4-1968', 'iso646-us']);
/** Parameters of a text that mean nothing once it is decoded, or are the default. */
const IDLE_PARAMETERS: readonly (readonly [name: string, value: string])[] = [
  ['format', 'fixed'],
  ['delsp', 'no'],
];

/** The bytes of a part. Throws {@link Refused}. */
export function* decodeBytes({ body, encoding }: Entity): Sliced<Buffer> {
  const bytes = isEncoding(encoding) ? yield* decodeLeaf(body, encoding) : null;
  if (bytes === null) throw new Refused('body_encoding');
  return bytes;
}

/** The text of a part, its line ends unchanged. Throws {@link Refused}. */
export function* decodeText(entity: Entity): Sliced<string> {
  for (const [name, value] of entity.parameters)
    if (name !== 'charset' && !name.startsWith('x-') && !isIdle(name, value))
      throw new Refused('text_format');
  const bytes = yield* decodeBytes(entity);
  const charset = (entity.parameters.get('charset') ?? 'us-ascii').trim().toLowerCase();
  if (ASCII_NAMES.has(charset) && !isAscii(bytes)) throw new Refused('charset');
  const text = yield* decoded(bytes, ASCII_NAMES.has(charset) ? 'utf-8' : charset);
  // An API may take it for the end of the string.
  if (text.includes('\0')) throw new Refused('charset');
  return text;
}

function isIdle(name: string, value: string): boolean {
  return IDLE_PARAMETERS.some(([idle, only]) => name === idle && value.toLowerCase() === only);
}

function* decoded(bytes: Buffer, charset: string): Sliced<string> {
  try {
    const decoder = new TextDecoder(charset, { fatal: true, ignoreBOM: true });
    let text = '';
    for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
      if (from > 0) yield;
      text += decoder.decode(bytes.subarray(from, from + SLICE_BYTES), { stream: true });
    }
    return text + decoder.decode();
  } catch (error) {
    // An unknown charset, or a byte that is invalid in it.
    if (error instanceof TypeError || error instanceof RangeError) throw new Refused('charset');
    throw error;
  }
}

// Why a message cannot be rebuilt from its parts with the same meaning. It can if only its encoding would change:
// transfer encodings, charsets that become UTF-8, boundaries, folding, the order of header fields.

/** A reason; {@link UNREBUILDABLE} has its words. */
export type Unrebuildable = keyof typeof UNREBUILDABLE;

/** Each reason as the end of a sentence that begins with "it cannot be rebuilt from its parts:". */
export const UNREBUILDABLE = {
  address_form: 'From, To, Cc, Reply-To or Sender has a group, a comment or an address that cannot be read',
  address_repeated: 'an address appears more than once in To and Cc',
  alternatives:
    'it has alternatives other than one plain text followed by one HTML text, such as an invitation',
  attachment_name: 'an attachment has no file name',
  authors: 'From does not name exactly one author',
  body_encoding: 'a part cannot be decoded by its Content-Transfer-Encoding',
  charset: 'a text is in an unknown charset, or has bytes that are not valid in it',
  content_fields:
    'a part has fields or parameters that would be lost, or its file name, a parameter or its Content-ID has control characters',
  header: 'its header can be read in more than one way',
  header_eight_bit: 'a header field has bytes over 127 outside of addresses and Subject',
  header_repeated: 'a header field that may appear only once appears more often',
  header_words: 'a header field has encoded words that cannot be read, or text that looks like one',
  message_part: 'it contains a message that is not attached as a file, or a report',
  place: 'it has a part that would move to another place, such as a second text',
  resent: 'it was resent (Resent-From and the like)',
  sender: 'its Sender is not its author',
  signed: 'it is signed or encrypted (S/MIME, OpenPGP)',
  structure: 'its parts can be separated in more than one way, or cannot be rebuilt',
  text_format: 'its text has format=flowed, or another parameter that would be lost',
  too_many_parts: 'it has too many parts',
} as const;

/** Thrown anywhere below and caught at the top: one part stops the reading of the whole message. */
export class Refused extends Error {
  readonly because: Unrebuildable;

  constructor(because: Unrebuildable) {
    super(because);
    this.because = because;
  }
}
