import { crc32 } from 'node:zlib';
import type { ContentRef } from '../../domain/message.ts';
import { NewestMap } from '../../lib/newest-map.ts';
import { decodeHeader, HEADER_BYTES, type RecordHeader } from '../record.ts';
import { type SpoolContent, SpoolError, WHOLE_READ_BYTES } from '../spool.ts';
import type { Descriptor, Descriptors } from './descriptors.ts';
import { errorCode, readFully, type SpoolFiles } from './files.ts';

/** Size of the pieces in which large contents are read. */
const PIECE_BYTES = 256 * 1024;
/** Pieces that are read at once, of four threads that Node.js has for it: more would only take memory. */
const PIECES_AT_ONCE = 8;

/** Reads records back. */
export class SegmentReader {
  readonly #files: Pick<SpoolFiles, 'pread'>;
  readonly #descriptors: Descriptors;
  readonly #pieces = new Few(PIECES_AT_ONCE);
  readonly #neighbours: Neighbours;

  constructor(files: Pick<SpoolFiles, 'pread'>, descriptors: Descriptors) {
    this.#files = files;
    this.#descriptors = descriptors;
    this.#neighbours = new Neighbours(files, descriptors);
  }

  /** What was read of a segment may not lie there any more. */
  forget(segment: number): void {
    this.#neighbours.forget(segment);
  }

  /**
   * Opens a record. Up to `WHOLE_READ_BYTES` it is read and checked at once. A larger one is read piece by
   * piece as its chunks are asked for, and only after the last piece can damage be known: whoever sends the
   * chunks must not send what ends the message (the final dot, the last chunk) before the iteration has
   * ended without a throw.
   */
  async read(ref: ContentRef): Promise<SpoolContent> {
    if (ref.length <= WHOLE_READ_BYTES) {
      const body = await this.#whole(ref);
      return { sizeBytes: ref.length, chunks: () => [body] };
    }
    const header = await this.#header(ref);
    return { sizeBytes: ref.length, chunks: () => this.#stream(ref, header) };
  }

  async #whole(ref: ContentRef): Promise<Buffer> {
    const length = HEADER_BYTES + ref.length;
    const near = this.#neighbours.bytesOf(ref, length);
    const record = near instanceof Promise ? await near.catch(() => null) : near;
    const body = record === null ? null : bodyIn(record, ref);
    if (body !== null) return body;
    if (record !== null) this.#neighbours.forget(ref.segment);
    const alone = bodyIn(await this.#start(ref, length), ref);
    if (alone === null) throw damaged(ref);
    return alone;
  }

  async #header(ref: ContentRef): Promise<RecordHeader> {
    return headerOf(ref, await this.#start(ref, HEADER_BYTES));
  }

  /** Holds the segment open to the end: it may be unlinked meanwhile. */
  async *#stream(ref: ContentRef, header: RecordHeader): AsyncIterable<Uint8Array> {
    const { fd, release } = await this.#open(ref);
    try {
      let sum = header.seed;
      for (let at = 0; at < ref.length; at += PIECE_BYTES) {
        const length = Math.min(PIECE_BYTES, ref.length - at);
        const piece = await this.#pieces.run(() => this.#bytes(fd, ref, HEADER_BYTES + at, length));
        sum = crc32(piece, sum);
        yield piece;
      }
      if (sum !== header.checksum) throw damaged(ref);
    } finally {
      release();
    }
  }

  /** The first `length` bytes of a record. */
  async #start(ref: ContentRef, length: number): Promise<Buffer> {
    const { fd, release } = await this.#open(ref);
    try {
      return await this.#bytes(fd, ref, 0, length);
    } finally {
      release();
    }
  }

  async #open(ref: ContentRef): Promise<Descriptor> {
    try {
      return await this.#descriptors.acquire(ref.segment);
    } catch (error) {
      throw readError(ref, error);
    }
  }

  /** `length` bytes of a record, from `start` bytes behind its beginning. */
  async #bytes(fd: number, ref: ContentRef, start: number, length: number): Promise<Buffer> {
    const target = Buffer.allocUnsafeSlow(length);
    let count: number;
    try {
      count = await readFully(this.#files, fd, target, ref.offset + start);
    } catch (error) {
      throw readError(ref, error);
    }
    if (count < length) throw missing(ref);
    return target;
  }
}

/** The body of a record that was read whole; null when it is not what was written. */
function bodyIn(record: Buffer, ref: ContentRef): Buffer | null {
  const header = decodeHeader(record);
  if (header === null || header.bodyBytes !== ref.length) return null;
  const body = record.subarray(HEADER_BYTES);
  return crc32(body, header.seed) === header.checksum ? body : null;
}

function headerOf(ref: ContentRef, bytes: Buffer): RecordHeader {
  const header = decodeHeader(bytes);
  if (header === null || header.bodyBytes !== ref.length) throw damaged(ref);
  return header;
}

/** A sector that cannot be read is damage to one record; anything else the system says is trouble of the spool's. */
export function readError(ref: ContentRef, error: unknown): SpoolError {
  if (errorCode(error) === 'ENOENT') return missing(ref, error);
  if (errorCode(error) === 'EIO') return damaged(ref, error);
  return new SpoolError('spool_failed', 'the spool could not be read', { cause: error });
}

function missing(ref: ContentRef, cause?: unknown): SpoolError {
  return new SpoolError('content_missing', `no record in segment ${ref.segment} at ${ref.offset}`, { cause });
}

function damaged(ref: ContentRef, cause?: unknown): SpoolError {
  const where = `segment ${ref.segment} at ${ref.offset}`;
  return new SpoolError('content_damaged', `the record in ${where} is not what was written`, { cause });
}

/** Lets a few works at a time; the others wait in line, and have no memory yet for what they will read. */
export class Few {
  readonly #atOnce: number;
  readonly #line: (() => void)[] = [];
  #inside = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Does the work when its turn comes; answers or rejects as the work does. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#inside < this.#atOnce) this.#inside++;
    // Whoever is done hands their place over.
    else await new Promise<void>((resolve) => this.#line.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#line.shift();
      if (next === undefined) this.#inside--;
      else next();
    }
  }
}

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
