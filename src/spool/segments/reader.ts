import { crc32 } from 'node:zlib';
import type { ContentPart, ContentRef } from '../../domain/message.ts';
import { Few } from '../../lib/few.ts';
import { NewestMap } from '../../lib/newest-map.ts';
import { decodeHeader, HEADER_BYTES, type RecordHeader, sealedBytes } from '../record.ts';
import { openPart, type SegmentKey } from '../sealing.ts';
import { type SpoolContent, SpoolError, WHOLE_READ_BYTES } from '../spool.ts';
import type { Descriptor, Descriptors } from './descriptors.ts';
import { errorCode, readFully, type SpoolFiles } from './files.ts';

/** Size of the pieces in which large contents are read. */
const PIECE_BYTES = 256 * 1024;
/** Pieces read at once, with Node.js's four threads: more would only take memory. */
const PIECES_AT_ONCE = 8;

/** Bytes of a record that are read piece by piece. */
interface Range {
  /** Bytes of the record before it. */
  readonly start: number;
  readonly length: number;
  /** The starting value of its CRC-32. */
  readonly seed: number;
  readonly checksum: number;
}

/** Reads records back. */
export class SegmentReader {
  readonly #files: Pick<SpoolFiles, 'pread'>;
  readonly #descriptors: Descriptors;
  readonly #pieces = new Few(PIECES_AT_ONCE);
  readonly #neighbours: Neighbours;
  readonly #keys: ReadonlyMap<number, SegmentKey>;

  /** `keys` are those of the encrypted segments. */
  constructor(
    files: Pick<SpoolFiles, 'pread'>,
    descriptors: Descriptors,
    keys: ReadonlyMap<number, SegmentKey>,
  ) {
    this.#files = files;
    this.#descriptors = descriptors;
    this.#keys = keys;
    this.#neighbours = new Neighbours(files, descriptors);
  }

  /** Forgets what was read of a segment, which may have changed. */
  forget(segment: number): void {
    this.#neighbours.forget(segment);
  }

  /**
   * Opens a record. Up to `WHOLE_READ_BYTES` it is read and checked at once. A larger one is read piece by piece on
   * demand, and only after the last piece can damage be known: a caller that sends the chunks must not send the end of
   * the message (the final dot, the last chunk) before the iteration has ended without an error.
   */
  async read(ref: ContentRef): Promise<SpoolContent> {
    const key = this.#keys.get(ref.segment);
    if (ref.length <= WHOLE_READ_BYTES) {
      const body = await this.#whole(ref, key);
      return { sizeBytes: ref.length, chunks: () => [body] };
    }
    if (key !== undefined) {
      await this.#header(ref, true);
      return { sizeBytes: ref.length, chunks: () => this.#streamSealed(ref, key, 0, ref.length) };
    }
    const { seed, checksum } = await this.#header(ref);
    const range = { start: HEADER_BYTES, length: ref.length, seed, checksum };
    return { sizeBytes: ref.length, chunks: () => this.#stream(ref, range) };
  }

  /** Opens a part of a record in the same way; it has a checksum of its own. */
  async readPart(ref: ContentRef, part: ContentPart): Promise<SpoolContent> {
    if (part.start + part.length > ref.length) throw damaged(ref);
    const key = this.#keys.get(ref.segment);
    if (key !== undefined) return await this.#readSealedPart(ref, part, key);
    const range = { start: HEADER_BYTES + part.start, length: part.length, seed: 0, checksum: part.checksum };
    if (part.length > WHOLE_READ_BYTES)
      return { sizeBytes: part.length, chunks: () => this.#stream(ref, range) };
    const { fd, release } = await this.#open(ref);
    try {
      const bytes = await this.#bytes(fd, ref, range.start, part.length);
      if (crc32(bytes) !== part.checksum) throw damaged(ref);
      return { sizeBytes: part.length, chunks: () => [bytes] };
    } finally {
      release();
    }
  }

  async #readSealedPart(ref: ContentRef, part: ContentPart, key: SegmentKey): Promise<SpoolContent> {
    const stream = async function* (this: SegmentReader): AsyncIterable<Uint8Array> {
      let sum = 0;
      for await (const piece of this.#streamSealed(ref, key, part.start, part.length)) {
        sum = crc32(piece, sum);
        yield piece;
      }
      if (sum !== part.checksum) throw damaged(ref);
    };
    const chunks = () => stream.call(this);
    if (part.length > WHOLE_READ_BYTES) return { sizeBytes: part.length, chunks };
    const pieces: Uint8Array[] = [];
    for await (const piece of chunks()) pieces.push(piece);
    return { sizeBytes: part.length, chunks: () => pieces };
  }

  async #whole(ref: ContentRef, key: SegmentKey | undefined): Promise<Buffer> {
    const length = HEADER_BYTES + (key === undefined ? ref.length : sealedBytes(ref.length));
    const near = this.#neighbours.bytesOf(ref, length);
    const record = near instanceof Promise ? await near.catch(() => null) : near;
    const body = record === null ? null : bodyIn(record, ref, key);
    if (body !== null) return body;
    if (record !== null) this.#neighbours.forget(ref.segment);
    const alone = bodyIn(await this.#start(ref, length), ref, key);
    if (alone === null) throw damaged(ref);
    return alone;
  }

  async #header(ref: ContentRef, sealed = false): Promise<RecordHeader> {
    return headerOf(ref, await this.#start(ref, HEADER_BYTES), sealed);
  }

  /** A part of an encrypted record; every piece is checked before it is given. */
  async *#streamSealed(
    ref: ContentRef,
    key: SegmentKey,
    start: number,
    length: number,
  ): AsyncIterable<Uint8Array> {
    const { fd, release } = await this.#open(ref);
    try {
      const header = await this.#bytes(fd, ref, 0, HEADER_BYTES);
      headerOf(ref, header, true);
      const read = (at: number, bytes: number) =>
        this.#pieces.run(() => this.#bytes(fd, ref, HEADER_BYTES + at, bytes));
      const body = { key, place: ref, header, plainBytes: ref.length, read };
      yield* openPart({ ...body, damaged: () => damaged(ref) }, start, length);
    } finally {
      release();
    }
  }

  /** Holds the segment open until the end: it may be unlinked meanwhile. */
  async *#stream(ref: ContentRef, { start, length, seed, checksum }: Range): AsyncIterable<Uint8Array> {
    const { fd, release } = await this.#open(ref);
    try {
      let sum = seed;
      for (let at = 0; at < length; at += PIECE_BYTES) {
        const size = Math.min(PIECE_BYTES, length - at);
        const piece = await this.#pieces.run(() => this.#bytes(fd, ref, start + at, size));
        sum = crc32(piece, sum);
        yield piece;
      }
      if (sum !== checksum) throw damaged(ref);
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

  /** `length` bytes of a record, from `start` bytes after its beginning. */
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

/** The body of a record that was read whole, with the key of an encrypted segment; null if it is damaged. */
function bodyIn(record: Buffer, ref: ContentRef, key: SegmentKey | undefined): Buffer | null {
  const header = decodeHeader(record);
  if (header === null || header.plainBytes !== ref.length || header.sealed !== (key !== undefined))
    return null;
  const body = record.subarray(HEADER_BYTES);
  if (key !== undefined) return key.open(ref, record.subarray(0, HEADER_BYTES), body);
  return crc32(body, header.seed) === header.checksum ? body : null;
}

function headerOf(ref: ContentRef, bytes: Buffer, sealed: boolean): RecordHeader {
  const header = decodeHeader(bytes);
  if (header === null || header.plainBytes !== ref.length || header.sealed !== sealed) throw damaged(ref);
  return header;
}

/** An unreadable sector is damage to one record; any other system error is the spool's. */
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

/** Bytes read at once. */
const BLOCK_BYTES = 128 * 1024;
/** Blocks kept, and segments whose last read is remembered: as many as lanes are likely to drain at once. */
const BLOCKS = 8;

/** Consecutive bytes of a segment; while they are being read, their promise. */
interface Block {
  readonly segment: number;
  readonly from: number;
  bytes: Buffer | Promise<Buffer>;
}

/**
 * Reads adjacent records at once. Waiting mail leaves in the order in which it arrived: after a read shortly behind the
 * last one, the next will soon follow. A single record is not read this way. If a write was under way, the result may
 * be older than the file: the caller checks it, and otherwise reads by itself.
 */
export class Neighbours {
  readonly #files: Pick<SpoolFiles, 'pread'>;
  readonly #descriptors: Descriptors;
  /** The newest last. */
  #blocks: Block[] = [];
  /** Where each segment was last read; the map's order is the order of use. */
  readonly #lasts = new NewestMap<number, number>(BLOCKS);

  constructor(files: Pick<SpoolFiles, 'pread'>, descriptors: Descriptors) {
    this.#files = files;
    this.#descriptors = descriptors;
  }

  /**
   * The first `length` bytes of a record, in memory of their own, at once or after a block is read; null if they must
   * be read directly. Rejects with the system's error.
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

  /** Forgets what was read of a segment. */
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
