import {
  decodeFactsHeader,
  decodeHeader,
  decodeOwner,
  HEADER_BYTES,
  isIntact,
  type RecordHeader,
} from '../record.ts';
import type { SpoolRecord } from '../spool.ts';
import type { Descriptors } from './descriptors.ts';
import { readFully, type SpoolFiles } from './files.ts';

/** What scanning reads by. */
type Files = Pick<SpoolFiles, 'pread' | 'size'>;

/** A record of a segment, by its header; `torn`: what lies there is none, and nothing behind it can be told. */
export interface Frame {
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
export async function* framesOf(files: Files, fd: number, offset: number): AsyncIterable<Frame> {
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
export async function bodyOf(
  files: Files,
  fd: number,
  frame: Pick<Frame, 'offset' | 'header'>,
): Promise<Buffer | null> {
  const body = Buffer.allocUnsafe(frame.header.bodyBytes);
  if ((await readFully(files, fd, body, frame.offset + HEADER_BYTES)) < body.byteLength) return null;
  return isIntact(frame.header, body) ? body : null;
}
