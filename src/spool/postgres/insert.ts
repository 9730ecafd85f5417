import type { Parameter, Queries } from '../../postgres/database.ts';
import { type Placed, SegmentLost } from '../../store/postgres/contents.ts';
import { type Piece, piecesOf } from './pieces.ts';

/** What one statement carries: rows, and bytes unless a single row has more. */
const STATEMENT_ROWS = 64;
const STATEMENT_BYTES = 1024 * 1024;

/**
 * Writes records of one segment, statement by statement, so that what is on its way to the server is never all of a large
 * one. Rejects with `SegmentLost`: the transaction must be undone then.
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

/** By their number of rows, a power of two: few texts, so that each is planned once. Rows of nulls fill them up. */
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
