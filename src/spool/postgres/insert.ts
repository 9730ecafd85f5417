import type { Parameter, Queries } from '../../postgres/database.ts';
import { type Placed, SegmentLost } from '../../store/postgres/contents.ts';
import { StoreError, type StoreErrorCode } from '../../store/store.ts';
import { SpoolError, type SpoolErrorCode } from '../spool.ts';

/** What one statement carries: this many rows, and this many bytes unless a single row has more. */
const STATEMENT_ROWS = 64;
const STATEMENT_BYTES = 1024 * 1024;

/**
 * Writes records of one segment, statement by statement, so that a large one is never all in transit. Rejects with
 * `SegmentLost`: then the transaction must be rolled back.
 */
export async function insertContents(db: Queries, placed: readonly Placed[]): Promise<void> {
  const [first] = placed;
  if (first === undefined) return;
  const { segment } = first.ref;
  for (const rows of statements(placed))
    if (!(await insertRows(db, segment, rows))) throw new SegmentLost(segment);
}

function* statements(placed: readonly Placed[]): Iterable<Piece[]> {
  let rows: Piece[] = [];
  let bytes = 0;
  for (const one of placed) {
    for (const row of piecesOf(one)) {
      const isFull = rows.length === STATEMENT_ROWS || bytes + row.bytes.byteLength > STATEMENT_BYTES;
      if (rows.length > 0 && isFull) {
        yield rows;
        rows = [];
        bytes = 0;
      }
      rows.push(row);
      bytes += row.bytes.byteLength;
    }
  }
  if (rows.length > 0) yield rows;
}

async function insertRows(db: Queries, segment: number, rows: readonly Piece[]): Promise<boolean> {
  const parameters: Parameter[] = [segment];
  for (const { offset, piece, header, bytes } of rows) parameters.push(offset, piece, header, bytes);
  const size = 2 ** Math.ceil(Math.log2(rows.length));
  while (parameters.length < 1 + size * COLUMNS) parameters.push(null);
  return (await db.run(INSERTS.get(size) ?? insertOf(size), parameters)) === rows.length;
}

const COLUMNS = 4;

/** By their number of rows, a power of two: few statements, so that each is planned once. Rows of nulls pad them. */
const INSERTS: ReadonlyMap<number, string> = new Map(
  Array.from({ length: Math.log2(STATEMENT_ROWS) + 1 }, (_, power) => [2 ** power, insertOf(2 ** power)]),
);

function insertOf(rows: number): string {
  const row = (at: number) => `($${at}::bigint, $${at + 1}::integer, $${at + 2}::bytea, $${at + 3}::bytea)`;
  const values = Array.from({ length: rows }, (_, place) => row(2 + place * COLUMNS)).join(', ');
  return `INSERT INTO contents (segment, "offset", piece, header, bytes)
    SELECT $1::bigint, piece.* FROM (VALUES ${values}) AS piece ("offset", piece, header, bytes)
    WHERE "offset" IS NOT NULL
      AND EXISTS (SELECT 1 FROM spool_segments WHERE segment = $1::bigint AND bytes IS NULL)`;
}

/** The most that one row holds, in bytes. */
export const PIECE_BYTES = 256 * 1024;

/** One row of the table `contents`, without its segment. */
interface Piece {
  readonly offset: number;
  readonly piece: number;
  /** Of the first piece alone. */
  readonly header: Uint8Array | null;
  readonly bytes: Uint8Array;
}

/** A record at its place, as rows. Bytes are copied only if a row spans several chunks, one row at a time. */
function* piecesOf({ record, ref: { offset } }: Placed): Iterable<Piece> {
  let piece = 0;
  for (const bytes of slices(record.chunks)) {
    yield { offset, piece, header: piece === 0 ? record.header : null, bytes };
    piece++;
  }
}

/** The chunks cut and joined into pieces of {@link PIECE_BYTES}, the last one shorter; one empty piece for no bytes. */
function* slices(chunks: readonly Uint8Array[]): Iterable<Uint8Array> {
  let gathered: Uint8Array[] = [];
  let size = 0;
  let any = false;
  for (const chunk of chunks) {
    for (let at = 0; at < chunk.byteLength; ) {
      const part = chunk.subarray(at, at + PIECE_BYTES - size);
      gathered.push(part);
      size += part.byteLength;
      at += part.byteLength;
      if (size < PIECE_BYTES) continue;
      yield joined(gathered);
      any = true;
      gathered = [];
      size = 0;
    }
  }
  if (size > 0 || !any) yield joined(gathered);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
}

/** The spool's codes for the database's errors. No error of the server ends this process. */
const CODES: Readonly<Partial<Record<StoreErrorCode, SpoolErrorCode>>> = {
  store_full: 'spool_full',
  store_closed: 'spool_closed',
};

/** The spool's error for a failed transaction; an error that is not the database's stays as it is. */
export function spoolErrorOf(error: unknown): unknown {
  if (!(error instanceof StoreError)) return error;
  return new SpoolError(CODES[error.code] ?? 'spool_unavailable', error.message, { cause: error });
}

/** The result of a query, with its failure as the spool's. */
export async function asSpool<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw spoolErrorOf(error);
  }
}
