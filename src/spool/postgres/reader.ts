import { crc32 } from 'node:zlib';
import type { ContentRef } from '../../domain/message.ts';
import type { Database } from '../../postgres/database.ts';
import { decodeHeader, type RecordHeader } from '../record.ts';
import { type SpoolContent, SpoolError, WHOLE_READ_BYTES } from '../spool.ts';
import { asSpool } from './errors.ts';
import { PIECE_BYTES } from './pieces.ts';

interface PieceRow {
  readonly header: Buffer | null;
  readonly bytes: Buffer;
}

/**
 * Opens contents. Up to `WHOLE_READ_BYTES` they are read and checked at once; of larger ones each piece when it is asked
 * for, and only after the last can damage be known. Throws `SpoolError`.
 */
export async function readContents(database: Database, ref: ContentRef): Promise<SpoolContent> {
  if (ref.length > WHOLE_READ_BYTES) {
    const header = headerOf(ref, await asSpool(database.rows<PieceRow>(READ_HEADER, placeOf(ref))));
    return { sizeBytes: ref.length, chunks: () => stream(database, ref, header) };
  }
  const rows = await asSpool(database.rows<PieceRow>(READ_WHOLE, placeOf(ref)));
  const header = headerOf(ref, rows);
  const body = rows.map(({ bytes }) => bytes);
  const length = body.reduce((sum, bytes) => sum + bytes.byteLength, 0);
  const sum = body.reduce((sum, bytes) => crc32(bytes, sum), header.seed);
  if (length !== ref.length || sum !== header.checksum) throw damaged(ref);
  return { sizeBytes: ref.length, chunks: () => body };
}

async function* stream(
  database: Database,
  ref: ContentRef,
  { seed, checksum }: RecordHeader,
): AsyncIterable<Uint8Array> {
  let sum = seed;
  let length = 0;
  for (let piece = 0; piece * PIECE_BYTES < ref.length; piece++) {
    const [row] = await asSpool(database.rows<PieceRow>(READ_PIECE, [...placeOf(ref), piece]));
    if (row === undefined) throw missing(ref);
    sum = crc32(row.bytes, sum);
    length += row.bytes.byteLength;
    yield row.bytes;
  }
  if (length !== ref.length || sum !== checksum) throw damaged(ref);
}

function placeOf({ segment, offset }: ContentRef): [number, number] {
  return [segment, offset];
}

function headerOf(ref: ContentRef, [first]: readonly PieceRow[]): RecordHeader {
  if (first === undefined) throw missing(ref);
  const header = first.header === null ? null : decodeHeader(first.header);
  if (header === null || header.bodyBytes !== ref.length) throw damaged(ref);
  return header;
}

function missing(ref: ContentRef): SpoolError {
  return new SpoolError('content_missing', `no contents in segment ${ref.segment} at ${ref.offset}`);
}

function damaged(ref: ContentRef): SpoolError {
  const where = `segment ${ref.segment} at ${ref.offset}`;
  return new SpoolError('content_damaged', `the contents in ${where} are not what was written`);
}

const READ_HEADER = `SELECT header FROM contents WHERE segment = $1 AND "offset" = $2 AND piece = 0`;
const READ_WHOLE = `SELECT header, bytes FROM contents WHERE segment = $1 AND "offset" = $2 ORDER BY piece`;
const READ_PIECE = `SELECT bytes FROM contents WHERE segment = $1 AND "offset" = $2 AND piece = $3`;
