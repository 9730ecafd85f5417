import type { ContentPart, ContentRef } from '../../domain/message.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Database } from '../../postgres/database.ts';
import type { AcceptAnswer, AcceptRecord } from '../../store/accepting.ts';
import {
  type Contents,
  type Placed,
  SegmentLost,
  type TakesContents,
} from '../../store/postgres/contents.ts';
import type { Store } from '../../store/store.ts';
import { recordsAt, type Taken, type Taking, type TakingTerms, takingApart } from '../../store/taking.ts';
import { decodeHeader, decodeOwner, encodeRecord } from '../record.ts';
import type { ContentKeys } from '../sealing.ts';
import {
  type Encryption,
  type Spool,
  type SpoolContent,
  type SpoolEntry,
  SpoolError,
  type SpoolRecord,
  WHOLE_READ_BYTES,
} from '../spool.ts';
import { ActiveSegment, OwnSegments, refsOf } from './active-segment.ts';
import { AllSegments } from './all-segments.ts';
import { asSpool, insertContents } from './insert.ts';
import { KeysOfSegments } from './keys.ts';
import { ContentsReader } from './reader.ts';
import { ContentsWriter } from './writer.ts';

/** What a spool in a PostgreSQL database needs. */
interface PostgresSpoolOptions {
  readonly database: Database;
  /** This process's name, new at every start: only it writes to its segments. */
  readonly node: string;
  readonly clock: Clock;
  /** A segment is full at this size in bytes; a single larger batch still goes into one. Default 64 MiB. */
  readonly segmentBytes?: number;
  /** Encrypts new segments, if it is told to, and reads those that are. Default null: none is. */
  readonly keys?: ContentKeys | null;
}

const MIB = 1024 * 1024;
/** Records that one statement lists. */
const PAGE = 200;

/** The spool, with what only this one can do. */
export interface SharedSpool extends Spool {
  /** Takes messages into the same database as their records. */
  takingWith(store: FactsStore): Taking;
}

/** Opens the spool in the same database as the store (this folder's README says how it works). */
export async function openPostgresSpool(options: PostgresSpoolOptions): Promise<SharedSpool> {
  return new PostgresSpool(options);
}

class PostgresSpool implements SharedSpool {
  readonly #database: Database;
  readonly #own = new OwnSegments();
  readonly #all: AllSegments;
  readonly #letters: ContentsWriter;
  /** Large contents have a writer of their own, so that small messages do not wait for them. */
  readonly #large: ContentsWriter;
  /** For contents taken together with their records. */
  readonly #taken: ActiveSegment;
  readonly #reader: ContentsReader;
  readonly #keys: KeysOfSegments;
  #closing: Promise<void> | null = null;

  constructor({ database, node, clock, segmentBytes = 64 * MIB, keys = null }: PostgresSpoolOptions) {
    const segmentKeys = new KeysOfSegments(database, keys);
    const options = { database, node, clock, segmentBytes, own: this.#own, keys: segmentKeys };
    this.#database = database;
    this.#keys = segmentKeys;
    this.#all = new AllSegments({ database, node, clock });
    this.#letters = new ContentsWriter(options);
    this.#large = new ContentsWriter(options);
    this.#taken = new ActiveSegment(options);
    this.#reader = new ContentsReader(database, segmentKeys);
  }

  async append(contents: readonly SpoolEntry[]): Promise<ContentRef[]> {
    const bytes = contents.reduce((sum, { content }) => sum + content.sizeBytes, 0);
    const writer = bytes > WHOLE_READ_BYTES ? this.#large : this.#letters;
    return writer.append(await Promise.all(contents.map(encodeRecord)));
  }

  takingWith(store: FactsStore): Taking {
    const isClosed = () => this.#closing !== null;
    return takingTogether({ spool: this, store, segments: this.#taken, own: this.#own, isClosed });
  }

  decided(refs: readonly ContentRef[]): void {
    this.#own.decided(refs);
  }

  async read(ref: ContentRef, part: ContentPart | null = null): Promise<SpoolContent> {
    this.#checkOpen();
    return part === null ? this.#reader.read(ref) : this.#reader.readPart(ref, part);
  }

  async idle(): Promise<number[]> {
    this.#checkOpen();
    const writers = [this.#letters, this.#large, this.#taken];
    await asSpool(Promise.all(writers.map((writer) => writer.sealIfDone())));
    const others = await asSpool(this.#all.idle());
    // While this process counted as dead, others may have started to remove what is still ours.
    const idle = new Set([...this.#own.idle(), ...others.filter((segment) => !this.#own.isBusy(segment))]);
    return [...idle].sort((a, b) => a - b);
  }

  async sizes(segments: readonly number[]): Promise<Map<number, number>> {
    this.#checkOpen();
    return asSpool(this.#all.sizes(segments));
  }

  async *records(segment: number): AsyncIterable<SpoolRecord> {
    this.#checkOpen();
    type Row = { readonly offset: number; readonly header: Buffer };
    for (let after = -1; ; ) {
      const rows = await asSpool(this.#database.rows<Row>(RECORDS, [segment, after, PAGE]));
      for (const { offset, header } of rows) {
        after = offset;
        const length = decodeHeader(header)?.plainBytes;
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
    await asSpool(this.#all.unlink(segments));
    for (const segment of segments) this.#own.dropped(segment);
  }

  flushes(): number {
    return this.#letters.commits + this.#large.commits;
  }

  /** The free space on the server's disks is unknown. */
  async space(): Promise<null> {
    return null;
  }

  async encryption(): Promise<Encryption> {
    this.#checkOpen();
    const { encrypting, keyId } = this.#keys;
    return { encrypting, keyId, ...(await this.#keys.count()) };
  }

  close(): Promise<void> {
    // What cannot be sealed now will be when this process counts as dead.
    const sealing = () => this.#taken.seal().catch(() => {});
    this.#closing ??= Promise.all([this.#letters.close(), this.#large.close()]).then(sealing);
    return this.#closing;
  }

  #checkOpen(): void {
    if (this.#closing !== null) throw new SpoolError('spool_closed', 'the spool is closed');
  }
}

const RECORDS = `SELECT "offset", header FROM contents
  WHERE segment = $1 AND piece = 0 AND "offset" > $2 ORDER BY "offset" LIMIT $3`;

/** Takes records, alone and with their contents. */
type FactsStore = Pick<Store, 'accept'> & TakesContents;

/** What taking messages needs. */
interface TakingOptions {
  readonly spool: Pick<Spool, 'append' | 'decided'>;
  readonly store: FactsStore;
  /** For contents taken this way; nobody else writes there. */
  readonly segments: ActiveSegment;
  readonly own: OwnSegments;
  readonly isClosed: () => boolean;
}

/**
 * Takes messages, contents and records in one transaction: one commit, one flush, and no dangling reference if a
 * process dies in between. Large contents go before their records, in a transaction of their own, so that small
 * messages, whose records lock common rows, do not wait for them.
 */
function takingTogether(options: TakingOptions): Taking {
  const apart = takingApart(options.spool, options.store);
  return {
    take: (messages, terms) => {
      const bytes = messages.reduce((sum, { content }) => sum + content.sizeBytes, 0);
      return bytes > WHOLE_READ_BYTES ? apart.take(messages, terms) : takeLetters(messages, terms, options);
    },
  };
}

async function takeLetters(
  messages: readonly Taken[],
  { at, limits, together, counted }: TakingTerms,
  { store, segments, own, isClosed }: TakingOptions,
): Promise<AcceptAnswer[]> {
  if (isClosed()) throw new SpoolError('spool_closed', 'the spool is closed');
  const encoded = await Promise.all(messages.map(encodeRecord));
  const write = async <T>(accept: (placed: readonly Placed[]) => Promise<T>): Promise<T> => {
    const placed = await segments.place(encoded);
    try {
      return await accept(placed);
    } finally {
      own.decided(refsOf(placed));
      segments.written(placed);
    }
  };
  const contentsAt = (placed: readonly Placed[]): Contents => ({ placed, insert: insertContents });
  let records: AcceptRecord[] = [];
  try {
    return await write((placed) => {
      records = recordsAt(messages, refsOf(placed));
      counted();
      return store.acceptWith(contentsAt(placed), records, at(), limits, together);
    });
  } catch (error) {
    if (!(error instanceof SegmentLost)) throw error;
    // Once more, in another segment.
    segments.lose(error.segment);
    return await write((placed) => {
      const moved = records.map((record, place) => ({
        ...record,
        content: placed[place]?.ref ?? record.content,
      }));
      return store.acceptWith(contentsAt(placed), moved, at(), limits, together);
    });
  }
}
