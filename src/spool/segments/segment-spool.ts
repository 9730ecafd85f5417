import path from 'node:path';
import { isUpTo, type LogPlace } from '../../domain/log-place.ts';
import type { ContentPart, ContentRef } from '../../domain/message.ts';
import { encodeRecord, encodeSmall, isSmall } from '../record.ts';
import type { ContentKeys, SegmentKey } from '../sealing.ts';
import {
  type Encryption,
  type FactLog,
  type LoggedFacts,
  type SearchableSpool,
  type Spool,
  type SpoolContent,
  type SpoolEntry,
  SpoolError,
  type SpoolRecord,
} from '../spool.ts';
import { Descriptors } from './descriptors.ts';
import { FactsReader, scanSegment } from './facts-reader.ts';
import { errorCode, realFiles, type SpoolFiles, segmentOfName, segmentPath } from './files.ts';
import { readKeys } from './keys.ts';
import { Ledger } from './ledger.ts';
import { Failure } from './open-segment.ts';
import { readError, SegmentReader } from './reader.ts';
import { containsAny } from './searching.ts';
import { type FactsOf, SegmentWriter } from './writer.ts';

/** Options of a spool on segments. Sizes are bytes. */
export interface SegmentSpoolOptions {
  /** Created if missing; its parent must exist. One process at a time: the caller holds the lock. */
  readonly directory: string;
  /** Called once, when nothing may be written any more (contract §15). */
  readonly onFailure: (error: SpoolError) => void;
  /** A segment is full at this size; a single larger batch still goes into one. Default 64 MiB. */
  readonly segmentBytes?: number;
  /**
   * Most bytes in one flush; a single larger append goes alone. Further appends are not refused but wait for a later
   * flush, in order, which slows down callers that await `append`. Default 16 MiB.
   */
  readonly maxPendingBytes?: number;
  /** Segments kept open for reading beyond those being read. Default 64. */
  readonly maxOpenSegments?: number;
  /** Encrypts new segments, if it is told to, and reads those that are. Default null: none is. */
  readonly keys?: ContentKeys | null;
  /** The file system; tests inject faults here. */
  readonly files?: SpoolFiles;
}

const MIB = 1024 * 1024;

/**
 * Opens a spool of append-only segment files (this folder's README says how they work). Existing segments are sealed;
 * the first append makes a new one. Rejects with the system's error if the directory cannot be used, and with `SpoolError`
 * `spool_other_key`.
 */
export async function openSegmentSpool(
  options: SegmentSpoolOptions,
): Promise<Spool & FactLog & SearchableSpool> {
  const { directory, files = realFiles, keys = null } = options;
  await makeDirectory(files, directory);
  const found = (await files.readdir(directory)).map(segmentOfName).filter((number) => number !== null);
  const segmentKeys = await readKeys(files, directory, found, keys);
  return new SegmentSpool(options, files, await files.openRead(directory), found, segmentKeys);
}

class SegmentSpool implements Spool, FactLog, SearchableSpool {
  readonly #directory: string;
  readonly #files: SpoolFiles;
  readonly #directoryFd: number;
  readonly #ledger: Ledger;
  readonly #failure: Failure;
  readonly #writer: SegmentWriter;
  readonly #descriptors: Descriptors;
  readonly #reader: SegmentReader;
  /** The keys of encrypted segments. */
  readonly #segmentKeys: Map<number, SegmentKey>;
  readonly #encrypting: boolean;
  readonly #keyId: string | null;
  /** Records of facts that are not applied, and of contents written before them, in the order of the log. */
  readonly #unapplied: { readonly records: readonly ContentRef[]; readonly end: LogPlace }[] = [];
  /** Segments that existed when it was opened; the facts in them may not be applied. */
  readonly #found: readonly number[];
  #closing: Promise<void> | null = null;

  constructor(
    options: SegmentSpoolOptions,
    files: SpoolFiles,
    directoryFd: number,
    found: readonly number[],
    segmentKeys: Map<number, SegmentKey>,
    ledger = new Ledger(found),
  ) {
    const { directory, segmentBytes = 64 * MIB, maxPendingBytes = 16 * MIB, maxOpenSegments = 64 } = options;
    const keys = options.keys?.encrypting === true ? options.keys : null;
    const failure = new Failure(options.onFailure);
    this.#directory = directory;
    this.#files = files;
    this.#directoryFd = directoryFd;
    this.#ledger = ledger;
    this.#failure = failure;
    const pathOf = (segment: number) => segmentPath(directory, segment);
    this.#segmentKeys = segmentKeys;
    this.#encrypting = keys !== null;
    this.#keyId = options.keys?.keyId ?? null;
    const sizes = { segmentBytes, maxPendingBytes };
    const sealing = { keys, segmentKeys };
    this.#descriptors = new Descriptors(files, maxOpenSegments, pathOf);
    this.#reader = new SegmentReader(files, this.#descriptors, segmentKeys);
    const takenBack = (segment: number) => this.#reader.forget(segment);
    const terms = { files, pathOf, directoryFd, ledger, failure, takenBack };
    this.#writer = new SegmentWriter({ ...terms, ...sizes, ...sealing });
    this.#found = found.toSorted((one, other) => one - other);
  }

  async append(contents: readonly SpoolEntry[]): Promise<ContentRef[]> {
    const records = await encodeAll(contents);
    const isSmallMail = contents.every(isSmall);
    return [...(await (isSmallMail ? this.#writer.append(records) : this.#writer.appendLarge(records)))];
  }

  log(contents: readonly SpoolEntry[], facts: FactsOf): Promise<boolean> {
    // Small records are encoded synchronously, which keeps the order of calls.
    if (contents.every(isSmall)) return this.#writer.log(contents.map(encodeSmall), facts);
    return encodeAll(contents).then((records) => this.#writer.logLarge(records, facts));
  }

  onLogged(told: (facts: readonly string[], end: LogPlace) => void): void {
    this.#writer.onLogged = ({ facts, record, before, end }) => {
      this.#unapplied.push({ records: [record, ...before], end });
      told(facts, end);
    };
  }

  applied(end: LogPlace): void {
    const left = this.#unapplied.findIndex((one) => !isUpTo(one.end, end));
    const gone = this.#unapplied.splice(0, left === -1 ? this.#unapplied.length : left);
    for (const { records } of gone) for (const record of records) this.#ledger.decided(record);
  }

  factsAfter(place: LogPlace): AsyncIterable<LoggedFacts> {
    return new FactsReader(this.#files, this.#descriptors, this.#segmentKeys).read(this.#found, place);
  }

  beginning(): LogPlace {
    return { segment: (this.#found.at(-1) ?? 0) + 1, offset: 0 };
  }

  decided(refs: readonly ContentRef[]): void {
    for (const ref of refs) this.#ledger.decided(ref);
  }

  async read(ref: ContentRef, part: ContentPart | null = null): Promise<SpoolContent> {
    this.#checkOpen();
    return part === null ? this.#reader.read(ref) : this.#reader.readPart(ref, part);
  }

  async idle(): Promise<number[]> {
    return this.#ledger.idle();
  }

  async sizes(segments: readonly number[]): Promise<Map<number, number>> {
    this.#checkOpen();
    const sizes = new Map<number, number>();
    for (const segment of segments) {
      const opened = await this.#descriptors.acquire(segment).catch(() => null);
      if (opened === null) continue;
      try {
        sizes.set(segment, await this.#files.size(opened.fd));
      } finally {
        opened.release();
      }
    }
    return sizes;
  }

  async *records(segment: number): AsyncIterable<SpoolRecord> {
    this.#checkOpen();
    try {
      yield* scanSegment(this.#files, this.#descriptors, segment);
    } catch (error) {
      throw error instanceof SpoolError ? error : readError({ segment, offset: 0, length: 0 }, error);
    }
  }

  async unlink(segments: readonly number[]): Promise<void> {
    this.#checkOpen();
    this.#failure.check();
    const busy = segments.find((segment) => !this.#ledger.isIdle(segment));
    if (busy !== undefined) throw new RangeError(`segment ${busy} is in use`);
    try {
      for (const segment of segments) await this.#remove(segment);
      await this.#files.fsync(this.#directoryFd);
    } catch (error) {
      throw this.#failure.trip(error);
    }
  }

  turn(): Promise<number> {
    return this.#writer.turn();
  }

  async existing(below: number): Promise<number[]> {
    return this.#ledger.existing().filter((segment) => segment < below);
  }

  async containing(texts: readonly string[], segments: readonly number[]): Promise<number[]> {
    const found: number[] = [];
    for (const segment of segments) {
      this.#checkOpen();
      if (await this.#contains(segment, texts)) found.push(segment);
    }
    return found;
  }

  async #contains(segment: number, texts: readonly string[]): Promise<boolean> {
    const key = this.#segmentKeys.get(segment);
    try {
      return await containsAny(this.#files, this.#descriptors, { segment, key }, texts);
    } catch (error) {
      // Only what was removed meanwhile holds nothing. Anything else may hold what cannot be read now.
      if (errorCode(error) === 'ENOENT' && !this.#ledger.has(segment)) return false;
      throw readError({ segment, offset: 0, length: 0 }, error);
    }
  }

  flushes(): number {
    return this.#writer.flushes;
  }

  async space(): Promise<{ freeBytes: number; totalBytes: number } | null> {
    try {
      const { bavail, blocks, bsize } = await this.#files.statfs(this.#directory);
      return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
    } catch {
      return null;
    }
  }

  async encryption(): Promise<Encryption> {
    const { size: segments } = this.#ledger;
    return {
      encrypting: this.#encrypting,
      keyId: this.#keyId,
      segments,
      encrypted: this.#segmentKeys.size,
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#writer.close();
    this.#descriptors.retireAll();
    await this.#files.close(this.#directoryFd);
  }

  async #remove(segment: number): Promise<void> {
    try {
      await this.#files.unlink(segmentPath(this.#directory, segment));
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
    // Not before: a late reader would reopen it, and a removed file that is open keeps its space.
    this.#descriptors.retire(segment);
    this.#reader.forget(segment);
    this.#ledger.remove(segment);
    this.#segmentKeys.delete(segment);
  }

  #checkOpen(): void {
    if (this.#closing !== null) throw new SpoolError('spool_closed', 'the spool is closed');
  }
}

function encodeAll(contents: readonly SpoolEntry[]) {
  return Promise.all(contents.map(encodeRecord));
}

/** Creates the directory, and makes its name durable. */
async function makeDirectory(files: SpoolFiles, directory: string): Promise<void> {
  try {
    await files.mkdir(directory);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
  const parent = await files.openRead(path.dirname(directory));
  try {
    await files.fsync(parent);
  } finally {
    await files.close(parent);
  }
}
