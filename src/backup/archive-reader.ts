import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { ArchiveError } from './archive-error.ts';
import { checkEntry, compareSums, MANIFEST, MAX_ENTRIES, readSums, SUMS } from './contents.ts';
import type { Steps } from './pace.ts';
import { BLOCK_BYTES, paddingOf, readTarHeader, type TarEntry } from './tar.ts';

const PIECE_BYTES = 256 * 1024;
const TOO_SHORT = 'The archive ends too early: it is incomplete.';

/** Where in the archive a file lies. */
export interface PlacedEntry extends TarEntry {
  readonly offset: number;
}

/** What is done with the files of an archive as they are read. */
export interface EntryTaker {
  /** A file begins. What it gives takes the bytes. */
  begin(entry: PlacedEntry): Promise<EntrySink | null>;
}

/** Takes a file's bytes. */
export interface EntrySink {
  write(piece: Buffer): Promise<void>;
  end(): Promise<void>;
}

/**
 * Reads an archive from its beginning to its end, and holds it to what a backup is: known names, each once, the
 * manifest first, the sums last and right, nothing behind them. Throws `ArchiveError`.
 */
export async function readArchive(file: FileHandle, taker: EntryTaker, steps: Steps): Promise<PlacedEntry[]> {
  const entries: PlacedEntry[] = [];
  const found = new Map<string, string>();
  let sums: string | null = null;
  let at = 0;
  for (;;) {
    const entry = readTarHeader(await readBlock(file, at));
    at += BLOCK_BYTES;
    if (entry === null) break;
    const placed = { ...entry, offset: at };
    checkPlace(placed, found, sums !== null);
    const kept: Buffer[] = [];
    const sink = entry.name === SUMS ? keeping(kept) : await taker.begin(placed);
    const sum = await readEntry(file, placed, sink, steps);
    entries.push(placed);
    if (entry.name === SUMS) sums = Buffer.concat(kept).toString('latin1');
    else found.set(entry.name, sum);
    at += entry.size + paddingOf(entry.size);
  }
  if (sums === null) throw new ArchiveError(TOO_SHORT);
  compareSums(readSums(sums), found);
  await checkEnd(file, at);
  return entries;
}

function checkPlace(entry: PlacedEntry, before: ReadonlyMap<string, string>, sumsRead: boolean): void {
  checkEntry(entry.name, entry.size);
  if ((entry.name === MANIFEST) !== (before.size === 0))
    throw new ArchiveError(`This is no backup: it does not begin with ${MANIFEST}, or has it twice.`);
  if (sumsRead) throw new ArchiveError(`${entry.name} lies behind the end of the backup.`);
  if (before.size >= MAX_ENTRIES) throw new ArchiveError('The archive has too many files.');
  if (before.has(entry.name)) throw new ArchiveError(`${entry.name} is twice in the archive.`);
}

async function readEntry(
  file: FileHandle,
  { offset, size }: PlacedEntry,
  sink: EntrySink | null,
  steps: Steps,
): Promise<string> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, Math.max(1, size)));
  try {
    for (let at = 0; at < size; ) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, size - at), offset + at);
      if (bytesRead === 0) throw new ArchiveError(TOO_SHORT);
      const piece = buffer.subarray(0, bytesRead);
      hash.update(piece);
      await sink?.write(piece);
      at += bytesRead;
      await steps.done(bytesRead);
    }
  } finally {
    await sink?.end();
  }
  return hash.digest('hex');
}

/** Keeps what is read; sizes were checked before. */
function keeping(kept: Buffer[]): EntrySink {
  return { write: async (piece) => void kept.push(Buffer.from(piece)), end: async () => {} };
}

async function readBlock(file: FileHandle, position: number): Promise<Buffer> {
  const block = Buffer.alloc(BLOCK_BYTES);
  for (let filled = 0; filled < BLOCK_BYTES; ) {
    const { bytesRead } = await file.read(block, filled, BLOCK_BYTES - filled, position + filled);
    if (bytesRead === 0) throw new ArchiveError(TOO_SHORT);
    filled += bytesRead;
  }
  return block;
}

/** A second block of zeros, and nothing else. */
async function checkEnd(file: FileHandle, at: number): Promise<void> {
  const { size } = await file.stat();
  const isEnd = size === at + BLOCK_BYTES && (await readBlock(file, at)).every((byte) => byte === 0);
  if (!isEnd) throw new ArchiveError('Something lies behind the end of the backup.');
}
