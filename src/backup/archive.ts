import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { checkEntry, compareSums, MANIFEST, MAX_ENTRIES, readSums, SUMS, sumsText } from './contents.ts';
import type { Steps } from './pace.ts';
import { ArchiveError, BLOCK_BYTES, paddingOf, readTarHeader, type TarEntry, tarHeader } from './tar.ts';

const PIECE_BYTES = 256 * 1024;
const TOO_SHORT = 'The archive ends too early: it is incomplete.';

/** The place of a file in the archive. */
export interface PlacedEntry extends TarEntry {
  readonly offset: number;
}

/** Takes the files of an archive as they are read. */
interface EntryTaker {
  /** A file begins. The returned sink takes its bytes. */
  begin(entry: PlacedEntry): Promise<EntrySink | null>;
}

/** Takes a file's bytes. */
export interface EntrySink {
  write(piece: Buffer): Promise<void>;
  end(): Promise<void>;
}

/**
 * Reads a whole archive, and checks that it is a backup: known names, each once, the manifest first, the checksums last
 * and correct, nothing after them. Throws `ArchiveError`.
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

const WRITTEN_BYTES = 256 * 1024;

/** Writes an archive, file by file, with a checksum of each; keeps only the checksums in memory. */
export class ArchiveWriter {
  readonly #file: FileHandle;
  readonly #mtime: number;
  readonly #sums = new Map<string, string>();

  private constructor(file: FileHandle, mtime: number) {
    this.#file = file;
    this.#mtime = mtime;
  }

  /** Creates the file, readable by its owner only; it must not exist. `createdAt` is wall ms. */
  static async create(path: string, createdAt: number): Promise<ArchiveWriter> {
    return new ArchiveWriter(await open(path, 'wx', 0o600), createdAt / 1000);
  }

  /** Adds a text. */
  async addText(name: string, text: string): Promise<void> {
    const bytes = Buffer.from(text);
    await this.#begin(name, bytes.length);
    await this.#write(bytes);
    await this.#end(name, bytes.length, createHash('sha256').update(bytes).digest('hex'));
  }

  /** Adds the first `size` bytes of a file, which may be growing. */
  async addFile(name: string, source: FileHandle, size: number, steps: Steps): Promise<void> {
    await this.#begin(name, size);
    const hash = createHash('sha256');
    const buffer = Buffer.allocUnsafeSlow(WRITTEN_BYTES);
    for (let at = 0; at < size; ) {
      const { bytesRead } = await source.read(buffer, 0, Math.min(WRITTEN_BYTES, size - at), at);
      if (bytesRead === 0) throw new ArchiveError(`${name} became shorter while it was read.`);
      const piece = buffer.subarray(0, bytesRead);
      hash.update(piece);
      await this.#write(piece);
      at += bytesRead;
      await steps.done(bytesRead);
    }
    await this.#end(name, size, hash.digest('hex'));
  }

  /** Writes the checksums and the end, and makes everything durable. */
  async finish(): Promise<void> {
    await this.addText(SUMS, sumsText(this.#sums));
    await this.#write(Buffer.alloc(2 * BLOCK_BYTES));
    await this.#file.sync();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #begin(name: string, size: number): Promise<void> {
    await this.#write(tarHeader({ name, size }, this.#mtime));
  }

  async #end(name: string, size: number, sum: string): Promise<void> {
    await this.#write(Buffer.alloc(paddingOf(size)));
    this.#sums.set(name, sum);
  }

  async #write(bytes: Buffer): Promise<void> {
    let rest = bytes;
    while (rest.length > 0) {
      const { bytesWritten } = await this.#file.write(rest);
      rest = rest.subarray(bytesWritten);
    }
  }
}
