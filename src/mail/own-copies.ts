import type { Sliced } from '../lib/clock.ts';
import { type Entity, readEntity } from './mime-entity.ts';
import { LineLength } from './seven-bit.ts';
import { decodeLeaf, encodeLeaf, isEncoding, splitMultipart } from './seven-bit-parts.ts';
import { encodeBase64 } from './transfer-encoding.ts';

/**
 * Makes a copy of a message for each recipient: with header fields of its own, and a placeholder in its texts replaced.
 * Nothing else differs. What is signed or encrypted by itself, attached, or ambiguous is not looked into.
 */

/** What a copy has that others have not. */
export interface Own {
  /** Whole fields with their CRLFs, put at the end of the header. */
  readonly fields: string;
  /** ASCII, in place of the placeholder. */
  readonly text: string;
}

/** A message, ready to be copied. */
export interface CopyTemplate {
  readonly message: Buffer;
  /** Size of the header, up to the blank line. */
  readonly headerBytes: number;
  /** The texts that have the placeholder, in order. */
  readonly texts: readonly TemplateText[];
}

/** A part of the message, or all of it. */
interface TemplateText {
  readonly start: number;
  readonly end: number;
  readonly entity: Entity;
  /** The decoded text around the placeholders. */
  readonly around: readonly Buffer[];
}

/** Levels of nested parts. */
const MAX_DEPTH = 20;
/** Copies up to this size become one chunk. */
const ONE_CHUNK_BYTES = 64 * 1024;
const CRLF = Buffer.from('\r\n');
const BLANK_LINE = Buffer.from('\r\n\r\n');
const TEXTS: ReadonlySet<string> = new Set(['text/plain', 'text/html']);
const SEALED: ReadonlySet<string> = new Set(['multipart/signed', 'multipart/encrypted']);

/** Looks for the placeholder (ASCII) in the texts of a message in its wire form. Linear in its size for each level. */
export function* readTemplate(message: Buffer, placeholder: string): Sliced<CopyTemplate> {
  const blank = message.indexOf(BLANK_LINE);
  const afterFields = blank < 0 ? message.length : blank + CRLF.length;
  const headerBytes = message.subarray(0, CRLF.length).equals(CRLF) ? 0 : afterFields;
  const texts: TemplateText[] = [];
  yield* find(message, message.byteOffset, Buffer.from(placeholder), texts, 0);
  return { message, headerBytes, texts };
}

function* find(
  bytes: Buffer,
  base: number,
  placeholder: Buffer,
  found: TemplateText[],
  depth: number,
): Sliced<void> {
  yield;
  const entity = depth > MAX_DEPTH ? null : readEntity(bytes);
  if (entity === null || SEALED.has(entity.type)) return;
  if (entity.type.startsWith('multipart/')) {
    const split = yield* splitMultipart(entity.body, entity.parameters.get('boundary') ?? '');
    for (const { part } of split?.parts ?? []) yield* find(part, base, placeholder, found, depth + 1);
    return;
  }
  if (!TEXTS.has(entity.type) || entity.disposition === 'attachment' || !isEncoding(entity.encoding)) return;
  const text = yield* decodeLeaf(entity.body, entity.encoding);
  const around = text === null ? [] : splitAt(text, placeholder);
  if (around.length < 2) return;
  const start = bytes.byteOffset - base;
  found.push({ start, end: start + bytes.length, entity, around });
}

function splitAt(text: Buffer, placeholder: Buffer): Buffer[] {
  const around: Buffer[] = [];
  let from = 0;
  for (let at = text.indexOf(placeholder); at >= 0; at = text.indexOf(placeholder, from)) {
    around.push(text.subarray(from, at));
    from = at + placeholder.length;
  }
  return [...around, text.subarray(from)];
}

/** A copy of the message. What copies have in common is shared between large ones. */
export function* copyOf({ message, headerBytes, texts }: CopyTemplate, own: Own): Sliced<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  let at = 0;
  if (texts[0]?.start !== 0) {
    pieces.push(message.subarray(0, headerBytes), Buffer.from(own.fields, 'latin1'));
    at = headerBytes;
  }
  for (const text of texts) {
    pieces.push(message.subarray(at, text.start), ...(yield* written(text, message, own)));
    at = text.end;
  }
  pieces.push(message.subarray(at));
  const chunks = pieces.filter(({ length }) => length > 0);
  const size = chunks.reduce((sum, { length }) => sum + length, 0);
  return size <= ONE_CHUNK_BYTES ? [Buffer.concat(chunks, size)] : chunks;
}

/** A text with its header. If it is the whole message, the copy's own fields are in the header, and it ends in CRLF. */
function* written(
  { start, end, entity, around }: TemplateText,
  message: Buffer,
  { fields, text }: Own,
): Sliced<Uint8Array[]> {
  const isWhole = start === 0;
  const filled = Buffer.concat(
    around.flatMap((piece, place) => (place === 0 ? [piece] : [Buffer.from(text, 'latin1'), piece])),
  );
  const { encoding, body } = yield* encoded(filled, entity.encoding);
  const header = headerWith(message.subarray(start, end), entity, encoding);
  const isEnded = !isWhole || body.at(-1)?.at(-1) === CRLF[1];
  return [
    Buffer.from(`${header}${isWhole ? fields : ''}\r\n`, 'latin1'),
    ...body,
    ...(isEnded ? [] : [CRLF]),
  ];
}

/** As it was encoded before, if that is still possible. */
function* encoded(
  text: Buffer,
  encoding: string,
): Sliced<{ readonly encoding: string; readonly body: readonly Uint8Array[] }> {
  if (encoding === 'base64') return { encoding, body: [encodeBase64(text)] };
  if (encoding !== 'quoted-printable') {
    const lines = new LineLength();
    lines.push(text);
    if (!lines.isTooLong) return { encoding, body: [text] };
  }
  const leaf = yield* encodeLeaf(text, true, 'binary');
  if (leaf === null) throw new Error('bytes that are not encoded could not be encoded');
  return leaf;
}

/** The header of a part, which states this encoding; one character for each byte, without the blank line. */
function headerWith(part: Buffer, { header, encoding: before }: Entity, encoding: string): string {
  const text = part.toString('latin1', 0, header.sizeBytes);
  if (encoding === before) return text;
  const stated = `Content-Transfer-Encoding: ${encoding}\r\n`;
  const field = header.fields.find(({ lowerName }) => lowerName === 'content-transfer-encoding');
  return field === undefined ? text + stated : text.slice(0, field.start) + stated + text.slice(field.end);
}
