import { crc32 } from 'node:zlib';
import type { ContentPart, ContentRef } from '../../domain/message.ts';
import { Few } from '../../lib/few.ts';
import type { Database } from '../../postgres/database.ts';
import { decodeHeader, type RecordHeader } from '../record.ts';
import { openPart, type SealedBody } from '../sealing.ts';
import { type SpoolContent, SpoolError, WHOLE_READ_BYTES } from '../spool.ts';
import { asSpool, PIECE_BYTES, spoolErrorOf } from './insert.ts';
import type { KeysOfSegments } from './keys.ts';

interface PieceRow {
  readonly header: Buffer | null;
  readonly bytes: Buffer;
}

/** A caller that waits for contents. */
interface Waiting {
  readonly ref: ContentRef;
  readonly resolve: (content: SpoolContent) => void;
  readonly reject: (error: unknown) => void;
}

/** What one statement reads: this many contents, and this many bytes unless a single one has more. */
const BATCH_CONTENTS = 32;
const BATCH_BYTES = 2 * 1024 * 1024;
/** Most statements at once; others need connections, too. */
const MAX_RUNNING = 2;

/**
 * Reads contents back. While statements run, requests gather, and the next statement reads them. Errors are
 * `SpoolError`.
 */
export class ContentsReader {
  readonly #database: Database;
  readonly #keys: KeysOfSegments;
  readonly #waiting: Waiting[] = [];
  readonly #parts = new Few(MAX_RUNNING);
  #running = 0;

  constructor(database: Database, keys: KeysOfSegments) {
    this.#database = database;
    this.#keys = keys;
  }

  /**
   * Opens contents. Up to `WHOLE_READ_BYTES` they are read and checked at once. Larger ones are read piece by piece on
   * demand, and only after the last piece can damage be known.
   */
  async read(ref: ContentRef): Promise<SpoolContent> {
    if (ref.length <= WHOLE_READ_BYTES) return this.#whole(ref);
    const first = await this.#first(ref);
    const header = headerOf(ref, first);
    if (!header.sealed) return { sizeBytes: ref.length, chunks: () => this.#stream(ref, header) };
    const body = await this.#sealedBody(ref, first);
    return { sizeBytes: ref.length, chunks: () => openPart(body, 0, ref.length) };
  }

  /** The first row of contents, as far as its header. */
  async #first(ref: ContentRef): Promise<Pick<PieceRow, 'header'>> {
    const [first] = await asSpool(
      this.#database.rows<Pick<PieceRow, 'header'>>(READ_HEADER, [ref.segment, ref.offset]),
    );
    if (first === undefined) throw missing(ref);
    return first;
  }

  async #sealedBody(ref: ContentRef, { header }: Pick<PieceRow, 'header'>): Promise<SealedBody> {
    const key = await this.#keys.of(ref.segment);
    if (key === null || header === null) throw damaged(ref);
    const read = async (at: number, length: number) => {
      const pieces: Uint8Array[] = [];
      for await (const piece of this.#storedRange(ref, at, length)) pieces.push(piece);
      return Buffer.concat(pieces);
    };
    const damage = () => damaged(ref);
    return { key, place: ref, header, plainBytes: ref.length, read, damaged: damage };
  }

  /** Opens a part of contents; it is read piece by piece if it is large, and has a checksum of its own. */
  async readPart(ref: ContentRef, part: ContentPart): Promise<SpoolContent> {
    const sizeBytes = part.length;
    if (sizeBytes > WHOLE_READ_BYTES) return { sizeBytes, chunks: () => this.#streamPart(ref, part) };
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.#streamPart(ref, part)) chunks.push(chunk);
    return { sizeBytes, chunks: () => chunks };
  }

  async *#streamPart(ref: ContentRef, { start, length, checksum }: ContentPart): AsyncIterable<Uint8Array> {
    const isSealed = (await this.#keys.of(ref.segment)) !== null;
    const pieces = isSealed
      ? openPart(await this.#sealedBody(ref, await this.#first(ref)), start, length)
      : this.#storedRange(ref, start, length);
    let sum = 0;
    for await (const piece of pieces) {
      sum = crc32(piece, sum);
      yield piece;
    }
    if (sum !== checksum) throw damaged(ref);
  }

  /** A part of a body as stored. Each row is cut by the database: what is not asked for is not transferred. */
  async *#storedRange(ref: ContentRef, start: number, length: number): AsyncIterable<Uint8Array> {
    for (let at = start; at < start + length; ) {
      const piece = Math.floor(at / PIECE_BYTES);
      const from = at - piece * PIECE_BYTES;
      const wanted = Math.min(start + length - at, PIECE_BYTES - from);
      const place = [ref.segment, ref.offset, piece, from + 1, wanted];
      const [row] = await this.#parts.run(() =>
        asSpool(this.#database.rows<Pick<PieceRow, 'bytes'>>(READ_RANGE, place)),
      );
      if (row === undefined) throw missing(ref);
      if (row.bytes.byteLength !== wanted) throw damaged(ref);
      yield row.bytes;
      at += wanted;
    }
  }

  #whole(ref: ContentRef): Promise<SpoolContent> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ref, resolve, reject });
      this.#startSome();
    });
  }

  #startSome(): void {
    while (this.#running < MAX_RUNNING && this.#waiting.length > 0) {
      this.#running++;
      this.#readBatch(this.#takeBatch()).then(
        () => this.#ended(),
        () => this.#ended(),
      );
    }
  }

  #ended(): void {
    this.#running--;
    this.#startSome();
  }

  #takeBatch(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const { ref } of this.#waiting) {
      bytes += ref.length;
      if (count > 0 && (bytes > BATCH_BYTES || count === BATCH_CONTENTS)) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  /** Never rejects: each request gets its contents or its error. */
  async #readBatch(batch: readonly Waiting[]): Promise<void> {
    const segments = batch.map(({ ref }) => ref.segment);
    const offsets = batch.map(({ ref }) => ref.offset);
    const found = new Map<number, PieceRow[]>();
    try {
      type Row = PieceRow & { readonly place: number };
      for (const row of await this.#database.rows<Row>(READ_WHOLE, [segments, offsets])) {
        const pieces = found.get(row.place);
        if (pieces === undefined) found.set(row.place, [row]);
        else pieces.push(row);
      }
    } catch (error) {
      for (const { reject } of batch) reject(spoolErrorOf(error));
      return;
    }
    for (const [place, { ref, resolve, reject }] of batch.entries()) {
      try {
        resolve(await this.#contentOf(ref, found.get(place + 1) ?? []));
      } catch (error) {
        reject(error);
      }
    }
  }

  /** Contents whose rows were read whole. */
  async #contentOf(ref: ContentRef, rows: readonly PieceRow[]): Promise<SpoolContent> {
    const [first] = rows;
    if (first === undefined) throw missing(ref);
    const header = headerOf(ref, first);
    const chunks = rows.map(({ bytes }) => bytes);
    if (!header.sealed) {
      const length = chunks.reduce((sum, bytes) => sum + bytes.byteLength, 0);
      const sum = chunks.reduce((sum, bytes) => crc32(bytes, sum), header.seed);
      if (length !== ref.length || sum !== header.checksum) throw damaged(ref);
      return { sizeBytes: ref.length, chunks: () => chunks };
    }
    const key = await this.#keys.of(ref.segment);
    const opened =
      first.header === null ? null : (key?.open(ref, first.header, Buffer.concat(chunks)) ?? null);
    if (opened === null) throw damaged(ref);
    return { sizeBytes: ref.length, chunks: () => [opened] };
  }

  async *#stream(ref: ContentRef, { seed, checksum }: RecordHeader): AsyncIterable<Uint8Array> {
    let sum = seed;
    let length = 0;
    for (let piece = 0; piece * PIECE_BYTES < ref.length; piece++) {
      const rows = this.#database.rows<PieceRow>(READ_PIECE, [ref.segment, ref.offset, piece]);
      const [row] = await asSpool(rows);
      if (row === undefined) throw missing(ref);
      sum = crc32(row.bytes, sum);
      length += row.bytes.byteLength;
      yield row.bytes;
    }
    if (length !== ref.length || sum !== checksum) throw damaged(ref);
  }
}

function headerOf(ref: ContentRef, first: Pick<PieceRow, 'header'>): RecordHeader {
  const header = first.header === null ? null : decodeHeader(first.header);
  if (header === null || header.plainBytes !== ref.length) throw damaged(ref);
  return header;
}

function missing(ref: ContentRef): SpoolError {
  return new SpoolError('content_missing', `no contents in segment ${ref.segment} at ${ref.offset}`);
}

function damaged(ref: ContentRef): SpoolError {
  const where = `segment ${ref.segment} at ${ref.offset}`;
  return new SpoolError('content_damaged', `the contents in ${where} are not what was written`);
}

const READ_HEADER = `SELECT header FROM contents WHERE segment = $1 AND "offset" = $2 AND piece = 0`;
const READ_WHOLE = `SELECT place, header, bytes
  FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS wanted (segment, "offset", place)
  CROSS JOIN LATERAL (SELECT piece, header, bytes FROM contents
    WHERE contents.segment = wanted.segment AND contents."offset" = wanted."offset" ORDER BY piece) AS found
  ORDER BY place, piece`;
const READ_RANGE = `SELECT substring(bytes FROM $4::integer FOR $5::integer) AS bytes FROM contents
  WHERE segment = $1 AND "offset" = $2 AND piece = $3`;
const READ_PIECE = `SELECT bytes FROM contents WHERE segment = $1 AND "offset" = $2 AND piece = $3`;
