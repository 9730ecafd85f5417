import type { LogPlace } from '../../domain/log-place.ts';
import {
  contentBytesOf,
  decodeFactsHeader,
  decodeHeader,
  decodeOwner,
  HEADER_BYTES,
  isIntact,
  type RecordHeader,
} from '../record.ts';
import { type LoggedFacts, SpoolError, type SpoolRecord } from '../spool.ts';
import type { Descriptors } from './descriptors.ts';
import { readFully, type SpoolFiles } from './files.ts';

/** What is read at once, in bytes. */
const BLOCK_BYTES = 1024 * 1024;

type Reading = Pick<SpoolFiles, 'pread' | 'size'>;

/** A record of the batch that may be the last. */
interface Mark {
  readonly offset: number;
  readonly header: RecordHeader;
}

/** Facts of a flush behind which nothing has been found yet. */
interface Held extends LoggedFacts {
  /** Contents that were written with them. */
  readonly contents: readonly Mark[];
}

/**
 * Reads facts back, for a start after a death. Whatever was flushed before the last flush began is whole, so that only
 * the last batch may be torn: it counts whole, contents and facts, or not at all. Anything else that cannot be read is
 * damage, which is refused: what was acknowledged would be lost in silence.
 */
export class FactsReader {
  readonly #files: Reading;
  readonly #descriptors: Descriptors;

  constructor(files: Reading, descriptors: Descriptors) {
    this.#files = files;
    this.#descriptors = descriptors;
  }

  /** The facts behind a place in these segments, which ascend; one flush after the other. */
  async *read(segments: readonly number[], place: LogPlace): AsyncIterable<LoggedFacts> {
    let held: Held | null = null;
    let torn: LogPlace | null = null;
    for (const segment of segments) {
      if (segment < place.segment) continue;
      const from = segment === place.segment ? place.offset : 0;
      const { fd, release } = await this.#descriptors.acquire(segment);
      const files = readAhead(this.#files);
      try {
        let contents: Mark[] = [];
        for await (const { kind, offset, end, bytes, header } of framesOf(files, fd, from)) {
          if (kind === 'content') {
            contents.push({ offset, header });
            continue;
          }
          const flushedFrom = kind === 'torn' ? offset : offset - contentBytesOf(bytes);
          const body = kind === 'torn' ? null : await bodyOf(files, fd, { offset, header });
          if (body === null) {
            torn ??= { segment, offset };
            continue;
          }
          if (torn !== null) throw damaged(torn);
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

function damaged({ segment, offset }: LogPlace): SpoolError {
  return new SpoolError(
    'log_damaged',
    `segment ${segment} cannot be read at byte ${offset}, though what was written later can: the disk has changed what was on it. Restore a backup.`,
  );
}

/**
 * Reads one file that nobody writes to block by block, for whoever goes through it from the front by small pieces: each of
 * them would take a turn through the thread pool by itself. What is larger than a block is read directly.
 */
export function readAhead(files: Reading): Reading {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  let from = 0;
  let filled = 0;
  return {
    size: (fd) => files.size(fd),
    pread: async (fd, target, position) => {
      if (target.byteLength > BLOCK_BYTES) return await files.pread(fd, target, position);
      if (position < from || position + target.byteLength > from + filled) {
        from = position;
        filled = 0;
        filled = await readFully(files, fd, block, position);
      }
      return block.copy(target, 0, position - from, Math.min(filled, position - from + target.byteLength));
    },
  };
}

/** What scanning reads by. */
type Files = Pick<SpoolFiles, 'pread' | 'size'>;

/** A record of a segment, by its header; `torn`: what lies there is none, and nothing behind it can be told. */
interface Frame {
  readonly kind: 'content' | 'facts' | 'torn';
  /** Of the record's first byte. */
  readonly offset: number;
  readonly end: number;
  /** The header's bytes; those of the next frame take their place. */
  readonly bytes: Buffer;
  readonly header: RecordHeader;
}

const NO_HEADER: RecordHeader = { bodyBytes: 0, checksum: 0, seed: 0 };

/**
 * What lies in a segment, in order, by its headers alone: whether a body is whole only reading it tells. Ends at the
 * end of the file, or at what is no record, as a torn tail. Throws the system's error.
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
      if (owner !== null) yield { ...owner, content: { segment, offset, length: header.bodyBytes } };
    }
  } finally {
    release();
  }
}

/** The records of an open segment from `offset` on, which must be where one begins. */
async function* framesOf(files: Files, fd: number, offset: number): AsyncIterable<Frame> {
  const end = await files.size(fd);
  const bytes = Buffer.alloc(HEADER_BYTES);
  for (let at = offset; at < end; ) {
    const count = await readFully(files, fd, bytes, at);
    const content = count < HEADER_BYTES ? null : decodeHeader(bytes);
    const header = content ?? (count < HEADER_BYTES ? null : decodeFactsHeader(bytes));
    const next = at + HEADER_BYTES + (header?.bodyBytes ?? 0);
    if (header === null || next > end)
      return yield { kind: 'torn', offset: at, end, bytes, header: NO_HEADER };
    yield { kind: content === null ? 'facts' : 'content', offset: at, end: next, bytes, header };
    at = next;
  }
}

/** The body of a record; null when it is not what was written. */
async function bodyOf(
  files: Files,
  fd: number,
  frame: Pick<Frame, 'offset' | 'header'>,
): Promise<Buffer | null> {
  const body = Buffer.allocUnsafe(frame.header.bodyBytes);
  if ((await readFully(files, fd, body, frame.offset + HEADER_BYTES)) < body.byteLength) return null;
  return isIntact(frame.header, body) ? body : null;
}
