import { createIdSource } from '../../src/lib/id.ts';
import { seededRandom } from '../../src/lib/random.ts';
import type { SpoolContent, SpoolEntry } from '../../src/spool/spool.ts';

const nextId = createIdSource({ wall: () => 1_790_000_000_000 }, seededRandom(1));

/** Contents made of these chunks, under an id of their own. */
export function entryOf(...chunks: (string | Uint8Array)[]): SpoolEntry {
  const bytes = chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk));
  const sizeBytes = bytes.reduce((sum, chunk) => sum + chunk.byteLength, 0);
  const flags = { eightBit: false, utf8: false, dotStuffing: false };
  return { messageId: nextId(), content: { chunks: bytes, sizeBytes, flags } };
}

/** The bytes an entry was made of, whole. */
export function bytesOf(entry: SpoolEntry): Buffer {
  return Buffer.concat(entry.content.chunks);
}

/** All of contents read back. Throws what reading throws. */
export async function readAll(content: SpoolContent): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of content.chunks()) pieces.push(piece);
  return Buffer.concat(pieces);
}
