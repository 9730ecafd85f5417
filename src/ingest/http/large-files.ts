import { Problem } from '../../http/problem.ts';
import { giveBack } from '../../lib/budget.ts';
import type { Sliced } from '../../lib/clock.ts';
import { decodeBase64 } from '../../lib/decode.ts';
import type { Random } from '../../lib/random.ts';
import type { AttachmentField, ReadFields } from './fields.ts';

/**
 * Large files in a body of JSON are decoded from its bytes, piece by piece. Parsed with the rest they would be in memory
 * as text twice, until garbage is collected, and others would wait for all of it.
 */

/** Strings from this length on, in bytes, are taken for files. */
const LEAST_BYTES = 256 * 1024;
/** Characters decoded in one turn of the event loop; whole groups of four. */
const PIECE_BYTES = 256 * 1024;
/**
 * Bytes that stand for a file. They are random: a client that could guess them could have what was cut from a text taken
 * for an attachment. Written as base64 they are without padding.
 */
const MARK_BYTES = 18;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const PADDING = 0x3d;

/** A body without its large files. */
export interface Cut {
  /** The JSON, with a mark where each of them was. */
  readonly text: Buffer;
  /** By mark, as base64. */
  readonly files: ReadonlyMap<string, Buffer>;
}

/** Takes the large files out of a text of JSON; null if it has none. The text itself stays as it is. */
export function* cutLargeFiles(body: Buffer, random: Random): Sliced<Cut | null> {
  const kept: Buffer[] = [];
  const files = new Map<string, Buffer>();
  let copied = 0;
  for (let open = body.indexOf(QUOTE); open >= 0; ) {
    const close = endOfString(body, open);
    if (close < 0) {
      giveBackFiles(files);
      return null;
    }
    if (close - open > LEAST_BYTES) {
      const file = yield* decoded(body, open + 1, close);
      if (file !== null) {
        const mark = newMark(random);
        kept.push(body.subarray(copied, open + 1), Buffer.from(mark));
        files.set(mark, file);
        copied = close;
      }
    }
    open = body.indexOf(QUOTE, close + 1);
  }
  return files.size === 0 ? null : { text: Buffer.concat([...kept, body.subarray(copied)]), files };
}

/**
 * The fields that a cut body has with its files, each where its mark is. Null if the body must be read whole: it is
 * faulty, or something was cut elsewhere than from an attachment. The memory of the files is then given back.
 */
export function fieldsWithFiles(cut: Cut, fieldsOf: (text: Buffer) => ReadFields): ReadFields | null {
  let whole: ReadFields | null = null;
  try {
    const read = fieldsOf(cut.text);
    if (read.faults.length === 0) whole = withFiles(read, cut);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  } finally {
    if (whole === null) giveBackFiles(cut.files);
  }
  return whole;
}

function withFiles(read: ReadFields, { files }: Cut): ReadFields | null {
  let found = 0;
  const attachments = read.fields.attachments.map((field): AttachmentField => {
    if (!(field.content instanceof Uint8Array) || field.content.length !== MARK_BYTES) return field;
    const file = files.get(Buffer.from(field.content).toString('base64'));
    if (file === undefined) return field;
    found += 1;
    return { ...field, content: file };
  });
  return found === files.size ? { ...read, fields: { ...read.fields, attachments } } : null;
}

function giveBackFiles(files: Cut['files']): void {
  for (const file of files.values()) giveBack(file);
}

function newMark(random: Random): string {
  return Buffer.from(random.fill(new Uint8Array(MARK_BYTES))).toString('base64');
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

/**
 * Decodes base64 between two places, as strictly as {@link decodeBase64}; null for anything else. Its memory is its own,
 * and is not allocated before the first piece is found to be base64.
 */
function* decoded(body: Buffer, from: number, to: number): Sliced<Buffer | null> {
  if ((to - from) % 4 !== 0) return null;
  const padding = body[to - 1] !== PADDING ? 0 : body[to - 2] !== PADDING ? 1 : 2;
  let file: Buffer | null = null;
  let length = 0;
  for (let at = from; at < to; at += PIECE_BYTES) {
    yield;
    const isLast = at + PIECE_BYTES >= to;
    const piece = decodeBase64(body.toString('latin1', at, Math.min(at + PIECE_BYTES, to)));
    // Only the end of the text may be padded.
    if (piece === null || (!isLast && piece.length !== (PIECE_BYTES / 4) * 3)) {
      if (file !== null) giveBack(file);
      return null;
    }
    file ??= Buffer.allocUnsafeSlow(((to - from) / 4) * 3 - padding);
    length += piece.copy(file, length);
  }
  return file;
}
