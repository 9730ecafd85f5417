import { crc32 } from 'node:zlib';
import { type BodyFlags, isLarge } from '../domain/message.ts';
import { ownTurn } from '../lib/clock.ts';
import { isMessageId } from '../lib/id.ts';
import type { SpoolEntry } from './spool.ts';

/** Size of a record's header: format, flags, length of the body, message id, CRC-32 (`segments/README.md`). */
export const HEADER_BYTES = 36;

const FORMAT = 1;
/** A record of facts has the form of a record of contents, without a message id. */
const FACTS_FORMAT = 2;
/** The same two with a body that is encrypted (`sealing.ts`). */
const SEALED_FORMATS = new Map([
  [FORMAT, 3],
  [FACTS_FORMAT, 4],
]);
/** The wrapped key of a segment's records, the first record of a segment that is encrypted. */
const KEY_FORMAT = 5;
const LENGTH_AT = 2;
const ID_AT = 6;
const CHECKSUM_AT = 32;
const ID_PREFIX = 'msg_';
/** Bytes of the field that holds a flush's length. */
const FLUSH_BYTES = 6;
const MAX_BODY_BYTES = 0xffff_ffff;
/** Bytes summed in one turn of the event loop: about half a millisecond of work. */
const TURN_BYTES = 1024 * 1024;

/** What encryption adds to a body: the number that its nonces begin with, and a tag for each frame. */
const COUNTER_BYTES = 8;
const TAG_BYTES = 16;
/** Bytes that are encrypted, and so checked, together; the last frame of a body is shorter. */
export const FRAME_BYTES = 64 * 1024;
/** A whole frame, encrypted. */
export const SEALED_FRAME_BYTES = FRAME_BYTES + TAG_BYTES;

/** A record ready to be written. */
export interface EncodedRecord {
  readonly header: Buffer;
  /** The body as it came: nothing is copied. */
  readonly chunks: readonly Uint8Array[];
  readonly bodyBytes: number;
}

/** The fields of a record's header. */
export interface RecordHeader {
  /** Size of the body as stored. */
  readonly bodyBytes: number;
  /** Size of what was to be stored: smaller if it is encrypted. */
  readonly plainBytes: number;
  /** Whether the body is encrypted. */
  readonly sealed: boolean;
  /** CRC-32 of header and body, as stored. */
  readonly checksum: number;
  /** CRC-32 of the header alone: the starting value for the body's sum. */
  readonly seed: number;
}

/** Encodes a record. Throws `RangeError` for an invalid id, and for a size that does not match the chunks. */
export async function encodeRecord(entry: SpoolEntry): Promise<EncodedRecord> {
  if (isSmall(entry)) return encodeSmall(entry);
  const header = headerOf(entry);
  let sum = crc32(header.subarray(0, CHECKSUM_AT));
  let bytes = 0;
  let sinceTurn = 0;
  for (const piece of pieces(entry.content.chunks)) {
    if (sinceTurn >= TURN_BYTES) {
      await ownTurn();
      sinceTurn = 0;
    }
    sum = crc32(piece, sum);
    bytes += piece.byteLength;
    sinceTurn += piece.byteLength;
  }
  return recordOf(entry, header, sum, bytes);
}

/** Whether contents are encoded and written without a turn of their own. */
export function isSmall({ content }: SpoolEntry): boolean {
  return !isLarge(content.sizeBytes);
}

/** Encodes a small record. Throws like `encodeRecord`. */
export function encodeSmall(entry: SpoolEntry): EncodedRecord {
  const header = headerOf(entry);
  let sum = crc32(header.subarray(0, CHECKSUM_AT));
  let bytes = 0;
  for (const chunk of entry.content.chunks) {
    sum = crc32(chunk, sum);
    bytes += chunk.byteLength;
  }
  return recordOf(entry, header, sum, bytes);
}

/** Size of an encrypted body. */
export function sealedBytes(plainBytes: number): number {
  const frames = Math.max(1, Math.ceil(plainBytes / FRAME_BYTES));
  return COUNTER_BYTES + plainBytes + frames * TAG_BYTES;
}

/** The part of an encrypted body, before the frames, that holds the number of its nonces. */
export const FRAMES_AT = COUNTER_BYTES;

/** Null if no encrypted body has this size. */
function plainBytesOf(sealed: number): number | null {
  const plain = sealed - COUNTER_BYTES - Math.ceil((sealed - COUNTER_BYTES) / SEALED_FRAME_BYTES) * TAG_BYTES;
  return plain >= 0 && sealedBytes(plain) === sealed ? plain : null;
}

/** The header of the same record with an encrypted body, but for its sum. Throws `RangeError` for one too large. */
export function sealedHeader(header: Uint8Array, plainBytes: number): Buffer {
  const format = SEALED_FORMATS.get(header[0] ?? 0);
  const bodyBytes = sealedBytes(plainBytes);
  if (format === undefined || bodyBytes > MAX_BODY_BYTES) throw new RangeError('cannot be encrypted');
  const sealed = Buffer.from(header);
  sealed[0] = format;
  sealed.writeUInt32BE(bodyBytes, LENGTH_AT);
  return sealed;
}

/** Size of the body as stored, by a header that was decoded before. */
export function bodyBytesOf(header: Uint8Array): number {
  return Buffer.from(header.buffer, header.byteOffset).readUInt32BE(LENGTH_AT);
}

/** What a header says besides its sum: to be bound to an encrypted body. */
export function boundPart(header: Uint8Array): Uint8Array {
  return header.subarray(0, CHECKSUM_AT);
}

/** Puts the sum of header and body, which begins with that of the {@link boundPart}, into a header. */
export function withSum(header: Buffer, sum: number): Buffer {
  header.writeUInt32BE(sum, CHECKSUM_AT);
  return header;
}

/** Encodes the record of a segment's wrapped key. */
export function encodeKey(wrapped: Uint8Array): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header[0] = KEY_FORMAT;
  header.writeUInt32BE(wrapped.byteLength, LENGTH_AT);
  return Buffer.concat([withSum(header, crc32(wrapped, crc32(boundPart(header)))), wrapped]);
}

/** Encodes a record of facts as text, written after this many bytes of contents in one flush. */
export function encodeFacts(text: string, contentBytes: number): EncodedRecord {
  const bodyBytes = Buffer.byteLength(text);
  const record = Buffer.allocUnsafe(HEADER_BYTES + bodyBytes);
  record.fill(0, 0, HEADER_BYTES);
  record[0] = FACTS_FORMAT;
  record.writeUInt32BE(bodyBytes, LENGTH_AT);
  record.writeUIntBE(contentBytes, ID_AT, FLUSH_BYTES);
  record.write(text, HEADER_BYTES, 'utf8');
  const sum = crc32(record.subarray(HEADER_BYTES), crc32(record.subarray(0, CHECKSUM_AT)));
  record.writeUInt32BE(sum, CHECKSUM_AT);
  return { header: record.subarray(0, HEADER_BYTES), chunks: [record.subarray(HEADER_BYTES)], bodyBytes };
}

/** Reads the header of a record of contents; null if the bytes are none. */
export function decodeHeader(bytes: Buffer): RecordHeader | null {
  return decodeAs(FORMAT, bytes);
}

/** Reads the header of a record of facts; null if the bytes are none. */
export function decodeFactsHeader(bytes: Buffer): RecordHeader | null {
  return decodeAs(FACTS_FORMAT, bytes);
}

/** Reads the header of the record of a segment's wrapped key; null if the bytes are none. */
export function decodeKeyHeader(bytes: Buffer): RecordHeader | null {
  return decodeAs(KEY_FORMAT, bytes);
}

/** How many bytes of contents were written before the facts in the same flush, by their header. */
export function contentBytesOf(header: Buffer): number {
  return header.readUIntBE(ID_AT, FLUSH_BYTES);
}

/** Whether a body matches its header. */
export function isIntact({ seed, checksum }: RecordHeader, body: Uint8Array): boolean {
  return crc32(body, seed) === checksum;
}

function decodeAs(format: number, bytes: Buffer): RecordHeader | null {
  if (bytes.byteLength < HEADER_BYTES) return null;
  const sealed = bytes[0] === SEALED_FORMATS.get(format);
  if (!sealed && bytes[0] !== format) return null;
  const bodyBytes = bytes.readUInt32BE(LENGTH_AT);
  const plainBytes = sealed ? plainBytesOf(bodyBytes) : bodyBytes;
  if (plainBytes === null) return null;
  return {
    bodyBytes,
    plainBytes,
    sealed,
    checksum: bytes.readUInt32BE(CHECKSUM_AT),
    seed: crc32(bytes.subarray(0, CHECKSUM_AT)),
  };
}

/** The message of a record, and its flags, by its header; null if it names no message. */
export function decodeOwner(
  header: Buffer,
): { readonly messageId: string; readonly flags: BodyFlags } | null {
  const messageId = ID_PREFIX + header.toString('latin1', ID_AT, CHECKSUM_AT);
  const flags = header[1] ?? 0;
  if (!isMessageId(messageId)) return null;
  return {
    messageId,
    flags: { eightBit: (flags & 1) !== 0, utf8: (flags & 2) !== 0, dotStuffing: (flags & 4) !== 0 },
  };
}

function headerOf({ messageId, content }: SpoolEntry): Buffer {
  if (!isMessageId(messageId)) throw new RangeError('not a message id');
  if (content.sizeBytes > MAX_BODY_BYTES) throw new RangeError('too large for a record');
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header[0] = FORMAT;
  header[1] = encodeFlags(content.flags);
  header.writeUInt32BE(content.sizeBytes, LENGTH_AT);
  header.write(messageId.slice(ID_PREFIX.length), ID_AT, 'latin1');
  return header;
}

function recordOf({ content }: SpoolEntry, header: Buffer, sum: number, bytes: number): EncodedRecord {
  if (bytes !== content.sizeBytes) throw new RangeError('the chunks are not of the size they claim');
  header.writeUInt32BE(sum, CHECKSUM_AT);
  return { header, chunks: content.chunks, bodyBytes: bytes };
}

function* pieces(chunks: readonly Uint8Array[]): Iterable<Uint8Array> {
  for (const chunk of chunks) {
    if (chunk.byteLength <= TURN_BYTES) yield chunk;
    else for (let at = 0; at < chunk.byteLength; at += TURN_BYTES) yield chunk.subarray(at, at + TURN_BYTES);
  }
}

function encodeFlags(flags: BodyFlags): number {
  return (flags.eightBit ? 1 : 0) | (flags.utf8 ? 2 : 0) | (flags.dotStuffing ? 4 : 0);
}
