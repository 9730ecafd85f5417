/** Writes a content over a connection: by DATA or in chunks, at once or as fast as the peer takes it. */
import { bdatCommand, DataFramer } from '../../smtp/command.ts';
import { isInMemory, type TransportContent } from '../transport.ts';
import type { SmtpConnection } from './connection.ts';

/**
 * Up to this size, DATA does not wait for the gate, because little is wasted; only the content does, and leaves in one
 * write with the final dot. For larger contents DATA waits, so that the peer gets nothing of a refused message.
 */
export const WHOLE_WRITE_BYTES = 64 * 1024;
/** The unit of progress when a large content is written: the time-out applies to each block. */
const BLOCK_BYTES = 64 * 1024;
/** Bytes of one BDAT. The last chunk is in memory until the gate opens. */
const CHUNK_BYTES = 256 * 1024;

export interface ContentSender {
  /** The transaction is over: nothing more may be written. */
  readonly ended: boolean;
  /** A part of the content, without its end, is about to be written. */
  contentBegun(): void;
  /** A chunk that is not the last has been written. Resolves when the next may be. */
  chunkSent(): Promise<void>;
}

/** The part to write at the very end, at once. */
export interface ContentEnd {
  readonly pieces: readonly Uint8Array[];
  readonly end: string;
}

/**
 * Sends all of a content but the part that makes the peer accept it, which is returned: the final dot, with the content
 * if that is small; or the last chunk. Synchronous where nothing must be read or sent first. Throws, or rejects, when
 * the content cannot be read, or its length differs from the declared one.
 */
export function writeContent(
  content: TransportContent,
  chunking: boolean,
  connection: SmtpConnection,
  sender: ContentSender,
): ContentEnd | Promise<ContentEnd> {
  // Our own reading must not count against the peer.
  connection.calm();
  const isWhole = content.sizeBytes <= (chunking ? CHUNK_BYTES : WHOLE_WRITE_BYTES);
  if (!isWhole) {
    const write = chunking ? writeChunks : writeBlocks;
    return write(content, connection, sender);
  }
  const chunks = content.chunks();
  const finish = chunking ? lastChunkOf : dottedOf;
  return isInMemory(chunks)
    ? finish([...chunks], content)
    : gathered(chunks).then((pieces) => finish(pieces, content));
}

async function gathered(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  for await (const chunk of chunks) pieces.push(chunk);
  return pieces;
}

function dottedOf(pieces: readonly Uint8Array[], { flags }: TransportContent): ContentEnd {
  const framer = new DataFramer(flags.dotStuffing);
  return { pieces: pieces.map((piece) => framer.push(piece)), end: framer.end() };
}

/** The last chunk, which may be the only one, with its command. */
function lastChunkOf(
  pieces: readonly Uint8Array[],
  { sizeBytes }: Pick<TransportContent, 'sizeBytes'>,
): ContentEnd {
  let left = sizeBytes;
  for (const piece of pieces) left -= piece.length;
  if (left !== 0) throw new Error(`the content is ${left > 0 ? 'shorter' : 'longer'} than it said`);
  return { pieces: [Buffer.from(bdatCommand(sizeBytes, true)), ...pieces], end: '' };
}

async function writeBlocks(
  content: TransportContent,
  connection: SmtpConnection,
  sender: ContentSender,
): Promise<ContentEnd> {
  const framer = new DataFramer(content.flags.dotStuffing);
  const chunks = content.chunks();
  if (isInMemory(chunks)) {
    for (const chunk of chunks) if (!sender.ended) await writeAll(framer.push(chunk), connection, sender);
  } else {
    for await (const chunk of chunks) {
      await writeAll(framer.push(chunk), connection, sender);
      if (sender.ended) break;
    }
  }
  return { pieces: [], end: framer.end() };
}

/** Sends every chunk but the last, which is returned. */
async function writeChunks(
  content: TransportContent,
  connection: SmtpConnection,
  sender: ContentSender,
): Promise<ContentEnd> {
  let left = content.sizeBytes;
  let gathered: Uint8Array[] = [];
  let room = Math.min(left, CHUNK_BYTES);
  for await (const chunk of content.chunks()) {
    for (let at = 0; at < chunk.length && !sender.ended; ) {
      if (left === 0) throw new Error('the content is longer than it said');
      const piece = chunk.subarray(at, at + room);
      at += piece.length;
      room -= piece.length;
      left -= piece.length;
      gathered.push(piece);
      if (room > 0 || left === 0) continue;
      const bytes = Buffer.concat(gathered);
      connection.write(bdatCommand(bytes.length, false));
      await writeAll(bytes, connection, sender);
      if (sender.ended) break;
      await sender.chunkSent();
      gathered = [];
      room = Math.min(left, CHUNK_BYTES);
    }
    if (sender.ended) break;
  }
  if (left > 0 && !sender.ended) throw new Error('the content is shorter than it said');
  const sizeBytes = gathered.reduce((sum, piece) => sum + piece.length, 0);
  return lastChunkOf(gathered, { sizeBytes });
}

async function writeAll(bytes: Uint8Array, connection: SmtpConnection, sender: ContentSender): Promise<void> {
  if (bytes.length > 0) sender.contentBegun();
  for (let at = 0; at < bytes.length && !sender.ended; at += BLOCK_BYTES) {
    connection.expect('content');
    if (!connection.write(bytes.subarray(at, at + BLOCK_BYTES))) await connection.drained();
  }
  if (!sender.ended) connection.calm();
}
