import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { ContentRef } from '../domain/message.ts';
import { decodeHeader, decodeOwner, HEADER_BYTES } from '../spool/record.ts';
import { segmentPath } from '../spool/segments/files.ts';
import type { CopiedFacts } from '../store/sqlite/copy.ts';
import type { PlacedEntry } from './archive.ts';
import { segmentEntry } from './contents.ts';
import type { Steps } from './pace.ts';

const PIECE_BYTES = 256 * 1024;
const PAGE = 1000;

/** What was looked for. */
export interface References {
  readonly checked: number;
  /** Contents that are missing or not what was written. */
  readonly damaged: number;
}

/** Looks for the bytes of everything that a copied database refers to in the archive's segments. */
export async function checkReferences(
  facts: CopiedFacts,
  archive: FileHandle,
  entries: readonly PlacedEntry[],
  steps: Steps,
): Promise<References> {
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  let checked = 0;
  let damaged = 0;
  let after = -1;
  for (;;) {
    const page = facts.contents(after, PAGE);
    for (const { messageId, content } of page) {
      const entry = byName.get(segmentEntry(segmentPath('', content.segment)));
      if (entry === undefined || !(await isWhole(archive, entry, messageId, content))) damaged++;
      checked++;
      await steps.done(content.length);
    }
    const last = page.at(-1);
    if (last === undefined) return { checked, damaged };
    after = last.seq;
  }
}

async function isWhole(
  archive: FileHandle,
  entry: PlacedEntry,
  messageId: string,
  { offset, length }: ContentRef,
): Promise<boolean> {
  if (offset + HEADER_BYTES + length > entry.size) return false;
  const start = entry.offset + offset;
  const bytes = await readAt(archive, start, HEADER_BYTES);
  const header = decodeHeader(bytes);
  if (header === null || header.bodyBytes !== length) return false;
  if (decodeOwner(bytes)?.messageId !== messageId) return false;
  let sum = header.seed;
  for (let at = 0; at < length; at += PIECE_BYTES)
    sum = crc32(await readAt(archive, start + HEADER_BYTES + at, Math.min(PIECE_BYTES, length - at)), sum);
  return sum === header.checksum;
}

/** As many bytes as the archive has there, up to `length`. */
async function readAt(archive: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await archive.read(bytes, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}
