import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { ArchiveError } from './archive-error.ts';
import { SUMS, sumsText } from './contents.ts';
import type { Steps } from './pace.ts';
import { BLOCK_BYTES, paddingOf, tarHeader } from './tar.ts';

const PIECE_BYTES = 256 * 1024;

/** Writes an archive, file by file, with the sum of each; nothing is kept in memory but the sums. */
export class ArchiveWriter {
  readonly #file: FileHandle;
  readonly #mtime: number;
  readonly #sums = new Map<string, string>();

  private constructor(file: FileHandle, mtime: number) {
    this.#file = file;
    this.#mtime = mtime;
  }

  /** Makes the file, for its owner alone; it must not exist. `createdAt` is wall ms. */
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
    const buffer = Buffer.allocUnsafeSlow(PIECE_BYTES);
    for (let at = 0; at < size; ) {
      const { bytesRead } = await source.read(buffer, 0, Math.min(PIECE_BYTES, size - at), at);
      if (bytesRead === 0) throw new ArchiveError(`${name} became shorter while it was read.`);
      const piece = buffer.subarray(0, bytesRead);
      hash.update(piece);
      await this.#write(piece);
      at += bytesRead;
      await steps.done(bytesRead);
    }
    await this.#end(name, size, hash.digest('hex'));
  }

  /** Writes the sums and the end, and makes all of it durable. */
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
