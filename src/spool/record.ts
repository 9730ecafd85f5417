import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { BodyFlags } from '../domain/message.ts';
import { isMessageId } from '../lib/id.ts';
import type { SpoolEntry } from './spool.ts';

/** Size of a record's header: format, flags, length of the body, message id, CRC-32 (`segments/README.md`). */
export const HEADER_BYTES = 36;

const FORMAT = 1;
/** A record of facts has the form of a record of contents, without a message id. */
const FACTS_FORMAT = 2;
const LENGTH_AT = 2;
const ID_AT = 6;
const CHECKSUM_AT = 32;
const ID_PREFIX = 'msg_';
/** Bytes of the field that holds a flush's length. */
const FLUSH_BYTES = 6;
const MAX_BODY_BYTES = 0xffff_ffff;
/** Bytes summed in one turn of the event loop: about half a millisecond of work. */
const TURN_BYTES = 1024 * 1024;

/** A record ready to be written. */
export interface EncodedRecord {
  readonly header: Buffer;
  /** The body as it came: nothing is copied. */
  readonly chunks: readonly Uint8Array[];
  readonly bodyBytes: number;
}

/** The fields of a record's header. */
export interface RecordHeader {
  readonly bodyBytes: number;
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
      await nextTurn();
      sinceTurn = 0;
    }
    sum = crc32(piece, sum);
    bytes += piece.byteLength;
    sinceTurn += piece.byteLength;
  }
  return recordOf(entry, header, sum, bytes);
}

/** Whether encoding a record takes so little time that nobody need wait. */
export function isSmall({ content }: SpoolEntry): boolean {
  return content.sizeBytes <= TURN_BYTES;
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

/** Encodes a record of facts as text, written after this many bytes of contents in one flush. */
export function encodeFacts(text: string, contentBytes: number): Buffer {
  const bodyBytes = Buffer.byteLength(text);
  const record = Buffer.allocUnsafe(HEADER_BYTES + bodyBytes);
  record.fill(0, 0, HEADER_BYTES);
  record[0] = FACTS_FORMAT;
  record.writeUInt32BE(bodyBytes, LENGTH_AT);
  record.writeUIntBE(contentBytes, ID_AT, FLUSH_BYTES);
  record.write(text, HEADER_BYTES, 'utf8');
  const sum = crc32(record.subarray(HEADER_BYTES), crc32(record.subarray(0, CHECKSUM_AT)));
  record.writeUInt32BE(sum, CHECKSUM_AT);
  return record;
}

/** Reads the header of a record of contents; null if the bytes are none. */
export function decodeHeader(bytes: Buffer): RecordHeader | null {
  return decodeAs(FORMAT, bytes);
}

/** Reads the header of a record of facts; null if the bytes are none. */
export function decodeFactsHeader(bytes: Buffer): RecordHeader | null {
  return decodeAs(FACTS_FORMAT, bytes);
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
  if (bytes.byteLength < HEADER_BYTES || bytes[0] !== format) return null;
  return {
    bodyBytes: bytes.readUInt32BE(LENGTH_AT),
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
