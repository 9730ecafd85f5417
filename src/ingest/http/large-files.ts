import type { Sliced } from '../../lib/clock.ts';
import { decodeBase64 } from '../../lib/decode.ts';
import type { AttachmentField, ReadFields } from './fields.ts';

/**
 * Large files in a body of JSON are decoded from its bytes, piece by piece. Parsed with the rest they would be in memory
 * as text twice, until garbage is collected, and others would wait for all of it.
 */

/** Strings from this length on, in bytes, are taken for files. */
const LEAST_BYTES = 256 * 1024;
/** Characters decoded in one turn of the event loop; whole groups of four. */
const PIECE_BYTES = 256 * 1024;
/** Bytes that stand for a file, with its place among the others. Written as base64 they are without padding. */
const MARK = 'waybill file ';
const MARK_BYTES = 18;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** A body without its large files. */
export interface Cut {
  /** The JSON, with a mark where each of them was. */
  readonly text: Buffer;
  readonly files: readonly Buffer[];
}

/** Takes the large files out of a text of JSON; null if it has none. The text itself stays as it is. */
export function* cutLargeFiles(body: Buffer): Sliced<Cut | null> {
  const kept: Buffer[] = [];
  const files: Buffer[] = [];
  let copied = 0;
  for (let open = body.indexOf(QUOTE); open >= 0; ) {
    const close = endOfString(body, open);
    if (close < 0) return null;
    if (close - open > LEAST_BYTES) {
      const file = yield* decoded(body, open + 1, close);
      if (file !== null) {
        kept.push(body.subarray(copied, open + 1), Buffer.from(markOf(files.length).toString('base64')));
        files.push(file);
        copied = close;
      }
    }
    open = body.indexOf(QUOTE, close + 1);
  }
  return files.length === 0 ? null : { text: Buffer.concat([...kept, body.subarray(copied)]), files };
}

/** Puts the files back, each where its mark is; null if marks are elsewhere, or come twice. */
export function withLargeFiles(read: ReadFields, { files }: Cut): ReadFields | null {
  const byMark = new Map(files.map((file, place) => [markOf(place).toString('latin1'), file]));
  let found = 0;
  const attachments = read.fields.attachments.map((field): AttachmentField => {
    if (!(field.content instanceof Uint8Array) || field.content.length !== MARK_BYTES) return field;
    const file = byMark.get(Buffer.from(field.content).toString('latin1'));
    if (file === undefined) return field;
    found += 1;
    return { ...field, content: file };
  });
  const given = new Set(attachments.map(({ content }) => content));
  const isWhole = found === files.length && files.every((file) => given.has(file));
  return isWhole ? { ...read, fields: { ...read.fields, attachments } } : null;
}

function markOf(place: number): Buffer {
  return Buffer.from(MARK + String(place).padStart(MARK_BYTES - MARK.length, '0'), 'latin1');
}

/** The place of the quote that ends the string begun at `open`; -1 if there is none. */
function endOfString(body: Buffer, open: number): number {
  for (let at = body.indexOf(QUOTE, open + 1); at >= 0; at = body.indexOf(QUOTE, at + 1)) {
    let escapes = 0;
    while (body[at - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return at;
  }
  return -1;
}

/** Decodes base64 between two places, as strictly as {@link decodeBase64}; null for anything else. */
function* decoded(body: Buffer, from: number, to: number): Sliced<Buffer | null> {
  if ((to - from) % 4 !== 0) return null;
  const file = Buffer.allocUnsafeSlow(((to - from) / 4) * 3);
  let length = 0;
  for (let at = from; at < to; at += PIECE_BYTES) {
    yield;
    const isLast = at + PIECE_BYTES >= to;
    const piece = decodeBase64(body.toString('latin1', at, Math.min(at + PIECE_BYTES, to)));
    // Only the end of the text may be padded.
    if (piece === null || (!isLast && piece.length !== (PIECE_BYTES / 4) * 3)) return null;
    length += piece.copy(file, length);
  }
  return length === file.length ? file : file.subarray(0, length);
}
