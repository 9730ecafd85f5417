import type { LogPlace } from '../../domain/log-place.ts';
import {
  contentBytesOf,
  decodeFactsHeader,
  decodeHeader,
  decodeKeyHeader,
  decodeOwner,
  HEADER_BYTES,
  isIntact,
  type RecordHeader,
} from '../record.ts';
import type { RecordPlace, SegmentKey } from '../sealing.ts';
import { type LoggedFacts, SpoolError, type SpoolRecord } from '../spool.ts';
import type { Descriptors } from './descriptors.ts';
import { readFully, type SpoolFiles } from './files.ts';

/** Bytes read at once. */
const BLOCK_BYTES = 1024 * 1024;

type Reading = Pick<SpoolFiles, 'pread' | 'size'>;

/** A record of the batch that may be the last. */
interface Mark {
  readonly offset: number;
  readonly header: RecordHeader;
}

/** Facts of a flush after which nothing has been found yet. */
interface Held extends LoggedFacts {
  /** Contents written with them. */
  readonly contents: readonly Mark[];
}

/**
 * Reads facts back at a start after a crash. Everything flushed before the last flush began is whole, so only the last
 * batch may be torn: it counts as a whole, contents and facts, or not at all. Anything else that cannot be read is
 * damage, and the start is refused: acknowledged mail would be lost silently.
 */
export class FactsReader {
  readonly #files: Reading;
  readonly #descriptors: Descriptors;
  readonly #keys: ReadonlyMap<number, SegmentKey>;

  /** `keys` are those of the encrypted segments. */
  constructor(files: Reading, descriptors: Descriptors, keys: ReadonlyMap<number, SegmentKey>) {
    this.#files = files;
    this.#descriptors = descriptors;
    this.#keys = keys;
  }

  /** The facts after a place in these ascending segments, one flush after another. */
  async *read(segments: readonly number[], place: LogPlace): AsyncIterable<LoggedFacts> {
    let held: Held | null = null;
    let torn: LogPlace | null = null;
    for (const segment of segments) {
      if (segment < place.segment) continue;
      const from = segment === place.segment ? place.offset : 0;
      const key = this.#keys.get(segment);
      const { fd, release } = await this.#descriptors.acquire(segment);
      const files = readAhead(this.#files);
      try {
        let contents: Mark[] = [];
        for await (const { kind, offset, end, bytes, header } of framesOf(files, fd, from)) {
          if (kind === 'key') continue;
          if (kind === 'content') {
            contents.push({ offset, header });
            continue;
          }
          const flushedFrom = kind === 'torn' ? offset : offset - contentBytesOf(bytes);
          const stored = kind === 'torn' ? null : await bodyOf(files, fd, { offset, header });
          if (stored !== null && torn !== null) throw damaged(torn);
          const body = stored === null ? null : factsIn(stored, bytes, header, { segment, offset }, key);
          if (body === null) {
            torn ??= { segment, offset };
            continue;
          }
          if (held !== null) yield held;
          held = {
            facts: body.toString('utf8').split('\n'),
            end: { segment, offset: end },
            contents: contents.filter((one) => one.offset >= flushedFrom),
          };
          contents = [];
        }
      } finally {
        release();
      }
    }
    if (held !== null && (await this.#isWhole(held))) yield held;
  }

  async #isWhole({ contents, end }: Held): Promise<boolean> {
    const { fd, release } = await this.#descriptors.acquire(end.segment);
    try {
      for (const content of contents) if ((await bodyOf(this.#files, fd, content)) === null) return false;
      return true;
    } finally {
      release();
    }
  }
}

/**
 * Facts as they were written; null if these are others. Without its key, which goes before the first flush of a segment,
 * that flush is torn. In a segment that has one, nothing in the clear is ours.
 */
function factsIn(
  stored: Buffer,
  bytes: Buffer,
  header: RecordHeader,
  place: RecordPlace,
  key: SegmentKey | undefined,
): Buffer | null {
  if (header.sealed) return key?.open(place, bytes, stored) ?? null;
  return key === undefined ? stored : null;
}

function damaged({ segment, offset }: LogPlace): SpoolError {
  return new SpoolError(
    'log_damaged',
    `segment ${segment} cannot be read at byte ${offset}, though what was written later can: the disk has changed what was on it. Restore a backup.`,
  );
}

/**
 * Reads a file that nobody writes to block by block, for a caller that reads small pieces in order: each of them alone
 * would take a turn through the thread pool. Reads larger than a block are direct.
 */
export function readAhead(files: Reading, blockBytes = BLOCK_BYTES): Reading {
  const block = Buffer.allocUnsafe(blockBytes);
  let from = 0;
  let filled = 0;
  return {
    size: (fd) => files.size(fd),
    pread: async (fd, target, position) => {
      if (target.byteLength > blockBytes) return await files.pread(fd, target, position);
      if (position < from || position + target.byteLength > from + filled) {
        from = position;
        filled = 0;
        filled = await readFully(files, fd, block, position);
      }
      return block.copy(target, 0, position - from, Math.min(filled, position - from + target.byteLength));
    },
  };
}

/** The file operations that scanning needs. */
type Files = Pick<SpoolFiles, 'pread' | 'size'>;

/** A record of a segment, by its header; `torn`: no record is here, and what follows is unknown. */
interface Frame {
  readonly kind: 'content' | 'facts' | 'key' | 'torn';
  /** Of the record's first byte. */
  readonly offset: number;
  readonly end: number;
  /** The header's bytes, overwritten by the next frame. */
  readonly bytes: Buffer;
  readonly header: RecordHeader;
}

const NO_HEADER: RecordHeader = { bodyBytes: 0, plainBytes: 0, sealed: false, checksum: 0, seed: 0 };

/**
 * What a segment holds, in order, by headers alone: whether a body is intact shows only on reading it. Ends at the end
 * of the file, or at what is no record, such as a torn tail. Throws the system's error.
 */
export async function* scanSegment(
  files: Files,
  descriptors: Descriptors,
  segment: number,
): AsyncIterable<SpoolRecord> {
  const { fd, release } = await descriptors.acquire(segment);
  try {
    for await (const { kind, offset, bytes, header } of framesOf(files, fd, 0)) {
      const owner = kind === 'content' ? decodeOwner(bytes) : null;
      if (kind === 'torn' || (kind === 'content' && owner === null)) return;
      if (owner !== null) yield { ...owner, content: { segment, offset, length: header.plainBytes } };
    }
  } finally {
    release();
  }
}

/** The records of an open segment from `offset` on, which must be the start of one. */
export async function* framesOf(files: Files, fd: number, offset: number): AsyncIterable<Frame> {
  const end = await files.size(fd);
  const bytes = Buffer.alloc(HEADER_BYTES);
  for (let at = offset; at < end; ) {
    const count = await readFully(files, fd, bytes, at);
    const frame = count < HEADER_BYTES ? null : decodeAny(bytes);
    const next = at + HEADER_BYTES + (frame?.header.bodyBytes ?? 0);
    if (frame === null || next > end)
      return yield { kind: 'torn', offset: at, end, bytes, header: NO_HEADER };
    yield { ...frame, offset: at, end: next, bytes };
    at = next;
  }
}

function decodeAny(bytes: Buffer): Pick<Frame, 'kind' | 'header'> | null {
  const content = decodeHeader(bytes);
  if (content !== null) return { kind: 'content', header: content };
  const facts = decodeFactsHeader(bytes);
  if (facts !== null) return { kind: 'facts', header: facts };
  const key = decodeKeyHeader(bytes);
  return key === null ? null : { kind: 'key', header: key };
}

/** The body of a record; null if it is damaged. */
async function bodyOf(
  files: Files,
  fd: number,
  frame: Pick<Frame, 'offset' | 'header'>,
): Promise<Buffer | null> {
  const body = Buffer.allocUnsafe(frame.header.bodyBytes);
  if ((await readFully(files, fd, body, frame.offset + HEADER_BYTES)) < body.byteLength) return null;
  return isIntact(frame.header, body) ? body : null;
}
