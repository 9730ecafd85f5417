/** Writing a content over a connection: by DATA or in chunks, whole or as fast as the peer takes it. */
import { bdatCommand } from '../../smtp/command.ts';
import { DataFramer } from '../../smtp/data.ts';
import type { TransportContent } from '../transport.ts';
import type { SmtpConnection } from './connection.ts';

/**
 * Contents up to this size cost little in vain: DATA does not wait for the gate, only the content does, and leaves
 * in one write with the final dot. For larger ones DATA waits, so that the peer gets nothing of what is refused.
 */
export const WHOLE_WRITE_BYTES = 64 * 1024;
/** What counts as progress when a large content is written: the time-out is for each block. */
const BLOCK_BYTES = 64 * 1024;
/** Bytes of one BDAT. The last is in memory until the gate opens. */
const CHUNK_BYTES = 256 * 1024;

/** Whoever sends a content. */
export interface ContentSender {
  /** The transaction is over: nothing more may be written. */
  readonly ended: boolean;
  /** A part of the content, without its end, is about to be written. */
  contentBegun(): void;
  /** A chunk that is not the last has been written. Resolves when the next may be. */
  chunkSent(): Promise<void>;
}

/** What is written at the very end, in one go. */
export interface ContentEnd {
  readonly pieces: readonly Uint8Array[];
  readonly end: string;
}

/**
 * Sends all of a content but what makes the peer take it, which is given back: the final dot, with the content when
 * that is small; or the last chunk. Throws when the content cannot be read, or is not as long as it said.
 */
export async function writeContent(
  content: TransportContent,
  chunking: boolean,
  connection: SmtpConnection,
  sender: ContentSender,
): Promise<ContentEnd> {
  // Our own reading takes its time at no cost of the peer's.
  connection.calm();
  if (chunking) return writeChunks(content, connection, sender);
  const framer = new DataFramer(content.flags.dotStuffing);
  if (content.sizeBytes > WHOLE_WRITE_BYTES) {
    await writeBlocks(content, framer, connection, sender);
    return { pieces: [], end: framer.end() };
  }
  const pieces: Uint8Array[] = [];
  for await (const chunk of content.chunks()) pieces.push(framer.push(chunk));
  return { pieces, end: framer.end() };
}

async function writeBlocks(
  content: TransportContent,
  framer: DataFramer,
  connection: SmtpConnection,
  sender: ContentSender,
): Promise<void> {
  for await (const chunk of content.chunks()) {
    await writeAll(framer.push(chunk), connection, sender);
    if (sender.ended) return;
  }
}

/** Every chunk but the last; the last begins with its command. */
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
  return { pieces: [Buffer.from(bdatCommand(sizeBytes, true)), ...gathered], end: '' };
}

async function writeAll(bytes: Uint8Array, connection: SmtpConnection, sender: ContentSender): Promise<void> {
  if (bytes.length > 0) sender.contentBegun();
  for (let at = 0; at < bytes.length && !sender.ended; at += BLOCK_BYTES) {
    connection.expect('content');
    if (!connection.write(bytes.subarray(at, at + BLOCK_BYTES))) await connection.drained();
  }
  if (!sender.ended) connection.calm();
}
