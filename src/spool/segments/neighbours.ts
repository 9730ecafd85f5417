import type { ContentRef } from '../../domain/message.ts';
import { NewestMap } from '../../lib/newest-map.ts';
import type { Descriptors } from './descriptors.ts';
import { readFully, type SpoolFiles } from './files.ts';

/** What is read at once, in bytes. */
const BLOCK_BYTES = 128 * 1024;
/** Blocks that are kept, and segments whose last reads are remembered: as many as lanes are likely to drain at once. */
const BLOCKS = 8;

/** Bytes of a segment that lie together; while they are being read, their promise. */
interface Block {
  readonly segment: number;
  readonly from: number;
  bytes: Buffer | Promise<Buffer>;
}

/**
 * Reads what lies together at once. Mail that waited goes out in the order in which it came: whoever reads a record close
 * behind the last one will soon read the next. A single record is none of its business. What it gives may be older
 * than what lies there now, where a write was under way: the caller checks it, and else reads by itself.
 */
export class Neighbours {
  readonly #files: Pick<SpoolFiles, 'pread'>;
  readonly #descriptors: Descriptors;
  /** The newest last. */
  #blocks: Block[] = [];
  /** Where each segment was read last; the map's order is the order of use. */
  readonly #lasts = new NewestMap<number, number>(BLOCKS);

  constructor(files: Pick<SpoolFiles, 'pread'>, descriptors: Descriptors) {
    this.#files = files;
    this.#descriptors = descriptors;
  }

  /**
   * The first `length` bytes of a record, in memory of their own: at once, or once a block is read; null where they must be
   * read by themselves. Rejects with the system's error.
   */
  bytesOf({ segment, offset }: ContentRef, length: number): Buffer | Promise<Buffer | null> | null {
    const last = this.#lasts.get(segment);
    this.#lasts.set(segment, offset);
    if (length > BLOCK_BYTES) return null;
    const isNear = last !== undefined && offset > last && offset - last < BLOCK_BYTES;
    const block = this.#holding(segment, offset, length) ?? (isNear ? this.#read(segment, offset) : null);
    if (block === null) return null;
    const cut = (bytes: Buffer) => {
      const at = offset - block.from;
      if (at + length > bytes.byteLength) return null;
      const record = Buffer.allocUnsafeSlow(length);
      bytes.copy(record, 0, at, at + length);
      return record;
    };
    return block.bytes instanceof Promise ? block.bytes.then(cut) : cut(block.bytes);
  }

  /** What was read of a segment is not to be given any more. */
  forget(segment: number): void {
    this.#blocks = this.#blocks.filter((block) => block.segment !== segment);
  }

  #holding(segment: number, offset: number, length: number): Block | undefined {
    return this.#blocks.find(
      (block) =>
        block.segment === segment &&
        block.from <= offset &&
        offset + length <=
          block.from + (block.bytes instanceof Promise ? BLOCK_BYTES : block.bytes.byteLength),
    );
  }

  #read(segment: number, from: number): Block {
    const reading = this.#readBlock(segment, from);
    const block: Block = { segment, from, bytes: reading };
    this.#blocks.push(block);
    if (this.#blocks.length > BLOCKS) this.#blocks.shift();
    reading.then(
      (bytes) => {
        block.bytes = bytes;
      },
      () => this.forget(segment),
    );
    return block;
  }

  async #readBlock(segment: number, from: number): Promise<Buffer> {
    const { fd, release } = await this.#descriptors.acquire(segment);
    try {
      const block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      return block.subarray(0, await readFully(this.#files, fd, block, from));
    } finally {
      release();
    }
  }
}
