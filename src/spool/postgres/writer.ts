import type { ContentRef } from '../../domain/message.ts';
import { yieldToLoop } from '../../lib/clock.ts';
import type { Database, Parameter, Queries } from '../../postgres/database.ts';
import type { EncodedRecord } from '../record.ts';
import { SpoolError } from '../spool.ts';
import { spoolErrorOf } from './errors.ts';
import type { OwnSegments } from './own-segments.ts';
import { type Piece, piecesOf } from './pieces.ts';

/** What a writer works with. */
export interface WriterOptions {
  readonly database: Database;
  readonly segments: OwnSegments;
}

/** One caller's records, which are kept or refused together. */
interface Waiting {
  readonly records: readonly EncodedRecord[];
  readonly bytes: number;
  readonly resolve: (refs: ContentRef[]) => void;
  readonly reject: (error: unknown) => void;
}

/** A record and where it goes. */
interface Placed {
  readonly record: EncodedRecord;
  readonly ref: ContentRef;
}

/** The most that one transaction gathers; a single larger append goes alone. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** Callers that may wait; more are refused. */
const MAX_WAITING = 1000;
/** What one statement carries: rows, and bytes unless a single row has more. */
const STATEMENT_ROWS = 64;
const STATEMENT_BYTES = 1024 * 1024;

/**
 * The one writer of a node. While a transaction runs, what is appended gathers; the next takes it all, up to
 * {@link BATCH_BYTES}, in the order it came.
 */
export class ContentsWriter {
  readonly #options: WriterOptions;
  #waiting: Waiting[] = [];
  #running: Promise<void> | null = null;
  #closed = false;
  /** Transactions that were committed. */
  commits = 0;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /** Writes records durably; one reference each, in order. All of them or none. Rejects with `SpoolError`. */
  append(records: readonly EncodedRecord[]): Promise<ContentRef[]> {
    if (this.#closed) return Promise.reject(new SpoolError('spool_closed', 'the spool is closed'));
    if (this.#waiting.length >= MAX_WAITING)
      return Promise.reject(new SpoolError('spool_unavailable', 'too much waits for the spool'));
    return new Promise((resolve, reject) => {
      const bytes = records.reduce((sum, record) => sum + record.bodyBytes, 0);
      this.#waiting.push({ records, bytes, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Writes what waits, and takes no more. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    // One turn, so that callers the same poll has woken share the first commit.
    await yieldToLoop();
    while (this.#waiting.length > 0) await this.#commit(this.#takeBatch());
    this.#running = null;
  }

  #takeBatch(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const waiting of this.#waiting) {
      bytes += waiting.bytes;
      if (count > 0 && bytes > BATCH_BYTES) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    const { database, segments } = this.#options;
    try {
      const bytes = batch.reduce((sum, waiting) => sum + waiting.bytes, 0);
      const segment = await segments.forBytes(bytes);
      const placed = batch.map(({ records }) => records.map((record) => placedIn(segments, segment, record)));
      await database.transact((db) => insert(db, placed.flat()));
      this.commits++;
      for (const [place, { resolve }] of batch.entries()) {
        const refs = (placed[place] ?? []).map(({ ref }) => ref);
        segments.hold(refs);
        resolve(refs);
      }
    } catch (error) {
      const refusal = spoolErrorOf(error);
      for (const { reject } of batch) reject(refusal);
    }
  }
}

function placedIn(segments: OwnSegments, segment: number, record: EncodedRecord): Placed {
  return { record, ref: segments.place(segment, record.bodyBytes) };
}

/** Writes records statement by statement, so that what is on its way to the server is never all of a large one. */
async function insert(db: Queries, placed: readonly Placed[]): Promise<void> {
  let rows: Piece[] = [];
  let bytes = 0;
  for (const { record, ref } of placed) {
    for (const row of piecesOf(record, ref.segment, ref.offset)) {
      const full = rows.length === STATEMENT_ROWS || bytes + row.bytes.byteLength > STATEMENT_BYTES;
      if (rows.length > 0 && full) {
        await insertRows(db, rows);
        rows = [];
        bytes = 0;
      }
      rows.push(row);
      bytes += row.bytes.byteLength;
    }
  }
  if (rows.length > 0) await insertRows(db, rows);
}

async function insertRows(db: Queries, rows: readonly Piece[]): Promise<void> {
  const parameters: Parameter[] = [];
  for (const { segment, offset, piece, header, bytes } of rows)
    parameters.push(segment, offset, piece, header, bytes);
  const size = 2 ** Math.ceil(Math.log2(rows.length));
  while (parameters.length < size * COLUMNS) parameters.push(null);
  await db.run(INSERTS.get(size) ?? insertOf(size), parameters);
}

const COLUMNS = 5;

/** By their number of rows, a power of two: few texts, so that each is planned once. Rows of nulls fill them up. */
const INSERTS: ReadonlyMap<number, string> = new Map(
  Array.from({ length: Math.log2(STATEMENT_ROWS) + 1 }, (_, power) => [2 ** power, insertOf(2 ** power)]),
);

function insertOf(rows: number): string {
  const row = (at: number) =>
    `($${at + 1}::bigint, $${at + 2}::bigint, $${at + 3}::integer, $${at + 4}::bytea, $${at + 5}::bytea)`;
  const values = Array.from({ length: rows }, (_, place) => row(place * COLUMNS)).join(', ');
  return `INSERT INTO contents (segment, "offset", piece, header, bytes)
    SELECT * FROM (VALUES ${values}) AS piece (segment, "offset", piece, header, bytes) WHERE segment IS NOT NULL`;
}
