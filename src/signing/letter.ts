import type { Sliced } from '../lib/clock.ts';
import { relaxedBodyHash, signedNames, signedText } from '../mail/dkim-canonical.ts';
import { type FieldSpan, readLooseHeader } from '../mail/header-block.ts';

/** Headers are smaller (`MAX_HANDED_IN_HEADER`), but for what was put on top of them. */
const MAX_HEADER_BYTES = 512 * 1024;
const BLANK_LINE = Buffer.from('\r\n\r\n');
const CRLF_LENGTH = 2;

/** A message in its wire form, as signing sees it. */
export interface Letter {
  readonly chunks: readonly Uint8Array[];
  /** The header, one character for each byte. */
  readonly text: string;
  readonly fields: readonly FieldSpan[];
}

/** What is signed of a letter, by any key. */
export interface Signable {
  readonly names: readonly string[];
  /** Base64. */
  readonly bodyHash: string;
  readonly signedText: string;
}

/** Reads a letter's header, which may lie in several chunks; null when it is none, or too long. */
export function readLetter(chunks: readonly Uint8Array[]): Letter | null {
  const start = beginning(chunks);
  const end = start.indexOf(BLANK_LINE);
  const text = start.toString('latin1', 0, end < 0 ? start.length : end + BLANK_LINE.length);
  const header = readLooseHeader(text, MAX_HEADER_BYTES);
  if (header === null || header.brokenOff) return null;
  return { chunks, text: text.slice(0, header.sizeBytes), fields: header.fields };
}

/** The first chunk where the header ends in it; else as much as a header may have. */
function beginning(chunks: readonly Uint8Array[]): Buffer {
  const first = viewOf(chunks[0] ?? new Uint8Array());
  if (chunks.length <= 1 || first.includes(BLANK_LINE)) return first;
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (const chunk of chunks) {
    pieces.push(chunk);
    length += chunk.length;
    if (length > MAX_HEADER_BYTES + CRLF_LENGTH) break;
  }
  return Buffer.concat(pieces, Math.min(length, MAX_HEADER_BYTES + CRLF_LENGTH));
}

/** The letter without some of its fields; the same where none is meant. */
export function withoutFields(letter: Letter, isMeant: (field: FieldSpan) => boolean): Letter {
  const stay = letter.fields.filter((field) => !isMeant(field));
  if (stay.length === letter.fields.length) return letter;
  const text = stay.map(({ start, end }) => letter.text.slice(start, end)).join('');
  const rest = skipped(letter.chunks, letter.text.length);
  const kept = readLooseHeader(text, MAX_HEADER_BYTES);
  return { chunks: [Buffer.from(text, 'latin1'), ...rest], text, fields: kept?.fields ?? [] };
}

/** What stands behind the first `count` bytes. */
function skipped(chunks: readonly Uint8Array[], count: number): Uint8Array[] {
  const rest: Uint8Array[] = [];
  let left = count;
  for (const chunk of chunks) {
    if (chunk.length > left) rest.push(chunk.subarray(left));
    left = Math.max(0, left - chunk.length);
  }
  return rest;
}

/** The names of all its fields that are to be signed. Throws for a letter with too many of them. */
export function allNames({ fields }: Letter): readonly string[] {
  const names = signedNames(fields);
  if (names === null) throw new Error('the header has too many fields to be signed');
  return names;
}

/** What is signed of a letter when these names are. */
export function signableOf(letter: Letter, names: readonly string[], bodyHash: string): Signable {
  return { names, bodyHash, signedText: signedText(letter.text, letter.fields, names) };
}

/** The sum of its body, base64. */
export function* bodyHashOf({ chunks, text }: Letter): Sliced<string> {
  const sum = yield* relaxedBodyHash(chunks, text.length + CRLF_LENGTH);
  return sum.toString('base64');
}

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
