import type { Sliced } from '../lib/clock.ts';
import {
  HARD_LINE,
  isPlainValue,
  legacyParameterWords,
  type Parameter,
  parameterWords,
  withParameters,
  writeField,
} from './field.ts';
import { type ContentType, parseContentType } from './field-values.ts';
import type { Fault } from './headers.ts';
import { encodeLongBase64 } from './transfer-encoding.ts';

/** A node of the MIME tree (RFC 2046). */
export type Part = Leaf | Multipart;

/** A part with a body. */
export interface Leaf {
  readonly kind: 'leaf';
  /** The MIME fields, each with its CRLF. */
  readonly fields: string;
  /** The encoded body, as ASCII: text, or pieces of bytes. */
  readonly body: string | readonly Uint8Array[];
  /** Whether some line of the body begins with a dot. */
  readonly dotStuffing: boolean;
}

/** A part made of parts. */
export interface Multipart {
  readonly kind: 'multipart';
  readonly fields: string;
  readonly boundary: string;
  readonly parts: readonly Part[];
}

/** Contents up to this size become one chunk: copying them costs less than many small writes. */
const ONE_CHUNK_BYTES = 64 * 1024;

/** Makes a multipart part (RFC 2046 §5.1). `parameters` are those other than the boundary. */
export function multipart(
  subtype: 'mixed' | 'alternative' | 'related' | 'report',
  parts: readonly Part[],
  boundary: string,
  parameters: readonly Parameter[] = [],
): Multipart {
  const all = [...parameters, ['boundary', boundary] as const];
  const fields = writeField('Content-Type', withParameters(`multipart/${subtype}`, all.map(parameterWords)));
  return { kind: 'multipart', fields, boundary, parts };
}

/** Whether some line of the part's bodies begins with a dot. Boundaries and header fields never do. */
export function needsDotStuffing(part: Part): boolean {
  return part.kind === 'leaf' ? part.dotStuffing : part.parts.some(needsDotStuffing);
}

/** Writes header fields and the tree below them, that is, a whole message, ending in CRLF. */
export function writeMessage(header: string, root: Part): Uint8Array[] {
  const writer = new ChunkWriter();
  writer.text(header);
  writePart(root, writer);
  if (!(root.kind === 'leaf' && endsLine(root.body))) writer.text('\r\n');
  return writer.finish();
}

function writePart(part: Part, writer: ChunkWriter): void {
  writer.text(`${part.fields}\r\n`);
  if (part.kind === 'leaf') {
    if (typeof part.body === 'string') writer.text(part.body);
    else for (const piece of part.body) writer.bytes(piece);
    return;
  }
  for (const [index, child] of part.parts.entries()) {
    // The CRLF before a boundary belongs to the boundary, so that bodies keep their exact end.
    writer.text(`${index === 0 ? '' : '\r\n'}--${part.boundary}\r\n`);
    writePart(child, writer);
  }
  writer.text(`\r\n--${part.boundary}--`);
}

/** An empty body ends in a line end too: that of the blank line before it. */
function endsLine(body: Leaf['body']): boolean {
  if (typeof body === 'string') return body === '' || body.endsWith('\r\n');
  const last = body.findLast((piece) => piece.length > 0);
  return last === undefined || last.at(-1) === 0x0a;
}

/** Gathers text and bytes in order; neighbouring texts become one chunk. */
class ChunkWriter {
  readonly #chunks: Uint8Array[] = [];
  #text = '';
  #sizeBytes = 0;

  text(text: string): void {
    this.#text += text;
  }

  bytes(bytes: Uint8Array): void {
    this.#flush();
    this.#push(bytes);
  }

  finish(): Uint8Array[] {
    this.#flush();
    const isSmall = this.#chunks.length > 1 && this.#sizeBytes <= ONE_CHUNK_BYTES;
    return isSmall ? [Buffer.concat(this.#chunks, this.#sizeBytes)] : this.#chunks;
  }

  #flush(): void {
    if (this.#text !== '') this.#push(Buffer.from(this.#text));
    this.#text = '';
  }

  #push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#sizeBytes += chunk.length;
  }
}

/** A file that goes with a message. */
export interface Attachment {
  /** Without a path; null when it has none. */
  readonly filename: string | null;
  /** A media type with parameters; null means unknown. */
  readonly contentType: string | null;
  readonly content: Uint8Array;
  /** The id that `cid:` in the HTML refers to, with or without angle brackets; null if nothing refers to it. */
  readonly contentId: string | null;
  readonly disposition: 'attachment' | 'inline';
}

/** The media type of an attachment without one. */
export const UNKNOWN_TYPE = 'application/octet-stream';
const UNKNOWN: ContentType = { type: UNKNOWN_TYPE, parameters: [] };
const MAX_FILENAME = 1024;
const MAX_CONTENT_ID = 900;
const NOT_IN_FILENAME = /[\p{Cc}/\\]/u;
/** Invisible characters, or those that change text direction: both can hide the extension, and so the file's type. */
const HIDDEN_IN_FILENAME = /[\p{Bidi_Control}\p{Zl}\p{Zp}\u00ad\u200b\u2060-\u2064\ufeff]/u;
const CONTENT_ID = /^<?([\x21-\x3b\x3d\x3f-\x7e]+)>?$/;
const CR = 0x0d;
const LF = 0x0a;
const DOT = 0x2e;
const LINE_THEN_DOT = '\r\n.';

/** Checks a client's attachment. Null if it may be sent. */
export function checkAttachment(
  attachment: Pick<Attachment, 'filename' | 'contentType' | 'contentId'>,
): Fault | null {
  const { filename, contentType, contentId } = attachment;
  if (filename !== null && (filename.length > MAX_FILENAME || NOT_IN_FILENAME.test(filename)))
    return {
      code: 'attachment_filename',
      detail: `Must be a plain file name such as "report.pdf": at most ${MAX_FILENAME} characters, none of them "/", "\\" or a control.`,
    };
  if (filename !== null && HIDDEN_IN_FILENAME.test(filename))
    return {
      code: 'attachment_filename',
      detail:
        'Must not contain invisible characters or marks that turn the direction of text, such as U+202E and U+200B: they hide what kind of file it is. Remove them.',
    };
  if (contentType !== null && parseContentType(contentType) === null)
    return {
      code: 'attachment_content_type',
      detail: 'Must be a media type such as "image/png", or be left out.',
    };
  if (contentId !== null && bareContentId(contentId) === null)
    return {
      code: 'attachment_content_id',
      detail: `Must be 1 to ${MAX_CONTENT_ID} visible ASCII characters without blanks, "<" and ">", such as "logo" for cid:logo.`,
    };
  return null;
}

/** The MIME part of an attachment accepted by `checkAttachment`; throws a RangeError on any other. */
export function* attachmentPart(attachment: Attachment): Sliced<Leaf> {
  const fault = checkAttachment(attachment);
  if (fault !== null) throw new RangeError(fault.detail);
  const given =
    attachment.contentType === null ? UNKNOWN : (parseContentType(attachment.contentType) ?? UNKNOWN);
  const isVerbatim = isMessageType(given.type) && isSevenBitLines(attachment.content);
  const mustNotEncode = given.type.startsWith('multipart/') || isMessageType(given.type);
  const type = mustNotEncode && !isVerbatim ? UNKNOWN : given;
  return {
    kind: 'leaf',
    fields: partFields(attachment, type, isVerbatim ? '7bit' : 'base64'),
    body: isVerbatim ? [attachment.content] : yield* encodeLongBase64(attachment.content),
    dotStuffing: isVerbatim && hasLeadingDot(attachment.content),
  };
}

function partFields(attachment: Attachment, type: ContentType, encoding: string): string {
  const { filename, contentId, disposition } = attachment;
  const own = type.parameters.filter(([name]) => name !== 'name');
  const typeParameters = own.map(parameterWords);
  const dispositionParameters: string[][] = [];
  if (filename) {
    const parameter: Parameter = ['filename', filename];
    dispositionParameters.push(parameterWords(parameter));
    if (!isPlainValue(filename)) typeParameters.push(legacyParameterWords(['name', filename]));
  }
  return (
    writeField('Content-Type', withParameters(type.type, typeParameters)) +
    writeField('Content-Transfer-Encoding', [encoding]) +
    writeField('Content-Disposition', withParameters(disposition, dispositionParameters)) +
    (contentId === null ? '' : writeField('Content-ID', [`<${bareContentId(contentId)}>`]))
  );
}

/** The Content-ID of an inline file that the HTML refers to by name; escaped as in a URL where necessary. */
export function contentIdOf(filename: string): string | null {
  return bareContentId(filename) ?? bareContentId(encodeURIComponent(filename.toWellFormed()));
}

function bareContentId(text: string): string | null {
  return text.length <= MAX_CONTENT_ID ? (CONTENT_ID.exec(text)?.[1] ?? null) : null;
}

/** Types that may not be encoded (RFC 2046 §5.2). `message/global` (RFC 6532 §3.7) is exempt. */
function isMessageType(type: string): boolean {
  return type.startsWith('message/') && type !== 'message/global';
}

/** Whether bytes may be sent as 7bit (RFC 2045 §2.7): ASCII without NUL, in CRLF lines of at most 998. */
export function isSevenBitLines(bytes: Uint8Array): boolean {
  let column = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === 0 || byte > 0x7f || byte === LF) return false;
    if (byte === CR) {
      if (bytes[at + 1] !== LF) return false;
      at++;
      column = 0;
    } else if (++column > HARD_LINE) {
      return false;
    }
  }
  return true;
}

/** Whether some line begins with a dot. For CRLF lines only. */
export function hasLeadingDot(bytes: Uint8Array): boolean {
  const { buffer, byteOffset, byteLength } = bytes;
  return bytes[0] === DOT || Buffer.from(buffer, byteOffset, byteLength).includes(LINE_THEN_DOT);
}
