import type { ContentRef } from '../../domain/message.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Database } from '../../postgres/database.ts';
import { decodeHeader, decodeOwner, encodeRecord } from '../record.ts';
import { type Spool, type SpoolContent, type SpoolEntry, SpoolError, type SpoolRecord } from '../spool.ts';
import { asSpool } from './errors.ts';
import { OwnSegments } from './own-segments.ts';
import { readContents } from './reader.ts';
import { ContentsWriter } from './writer.ts';

/** What a spool within a PostgreSQL needs. */
export interface PostgresSpoolOptions {
  readonly database: Database;
  /** This process's name, another at every start: it alone writes to its segments. */
  readonly node: string;
  readonly clock: Clock;
  /** A segment is full at this size in bytes; a single larger batch still goes into one. Default 64 MiB. */
  readonly segmentBytes?: number;
}

const MIB = 1024 * 1024;
const SEGMENT_MS = 10 * 60_000;
/** Records that are looked at in one statement. */
const PAGE = 200;

/** Opens the spool that lies in the same database as the facts. */
export async function openPostgresSpool(options: PostgresSpoolOptions): Promise<Spool> {
  return new PostgresSpool(options);
}

class PostgresSpool implements Spool {
  readonly #database: Database;
  readonly #own: OwnSegments;
  readonly #writer: ContentsWriter;
  #closing: Promise<void> | null = null;

  constructor({ segmentBytes = 64 * MIB, ...options }: PostgresSpoolOptions) {
    this.#database = options.database;
    this.#own = new OwnSegments({ ...options, segmentBytes, segmentMs: SEGMENT_MS });
    this.#writer = new ContentsWriter({ database: options.database, segments: this.#own });
  }

  async append(contents: readonly SpoolEntry[]): Promise<ContentRef[]> {
    return this.#writer.append(await Promise.all(contents.map(encodeRecord)));
  }

  decided(refs: readonly ContentRef[]): void {
    this.#own.decided(refs);
  }

  async read(ref: ContentRef): Promise<SpoolContent> {
    this.#checkOpen();
    return readContents(this.#database, ref);
  }

  async idle(): Promise<number[]> {
    this.#checkOpen();
    await asSpool(this.#own.sealIfOld());
    return this.#own.idle();
  }

  async sizes(segments: readonly number[]): Promise<Map<number, number>> {
    this.#checkOpen();
    const rows = await asSpool(this.#database.rows<{ segment: number; bytes: number }>(SIZES, [segments]));
    return new Map(rows.map(({ segment, bytes }) => [segment, bytes]));
  }

  async *records(segment: number): AsyncIterable<SpoolRecord> {
    this.#checkOpen();
    for (let after = -1; ; ) {
      const rows = await asSpool(
        this.#database.rows<{ offset: number; header: Buffer }>(RECORDS, [segment, after, PAGE]),
      );
      for (const { offset, header } of rows) {
        after = offset;
        const length = decodeHeader(header)?.bodyBytes;
        const owner = decodeOwner(header);
        if (length !== undefined && owner !== null) yield { ...owner, content: { segment, offset, length } };
      }
      if (rows.length < PAGE) return;
    }
  }

  async unlink(segments: readonly number[]): Promise<void> {
    this.#checkOpen();
    const busy = segments.find((segment) => this.#own.isBusy(segment));
    if (busy !== undefined) throw new RangeError(`segment ${busy} is in use`);
    for (const segment of segments) {
      await asSpool(
        this.#database.transact(async (db) => {
          await db.run('DELETE FROM contents WHERE segment = $1', [segment]);
          await db.run('DELETE FROM spool_segments WHERE segment = $1', [segment]);
        }),
      );
      this.#own.remove(segment);
    }
  }

  flushes(): number {
    return this.#writer.commits;
  }

  async space(): Promise<null> {
    return null;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#writer.close();
    // What cannot be sealed now is so when this node is forgotten.
    await this.#own.seal().catch(() => {});
  }

  #checkOpen(): void {
    if (this.#closing !== null) throw new SpoolError('spool_closed', 'the spool is closed');
  }
}

const SIZES = `SELECT segment, coalesce(bytes, 0) AS bytes FROM spool_segments WHERE segment = ANY($1::bigint[])`;
const RECORDS = `SELECT "offset", header FROM contents
  WHERE segment = $1 AND piece = 0 AND "offset" > $2 ORDER BY "offset" LIMIT $3`;
