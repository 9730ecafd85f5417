import { lowerAscii } from '../../domain/suppressed-address.ts';
import { decodeFactsHeader, decodeHeader, HEADER_BYTES } from '../record.ts';
import { openPart, type SegmentKey } from '../sealing.ts';
import type { Descriptors } from './descriptors.ts';
import { framesOf, readAhead } from './facts-reader.ts';
import { readFully, type SpoolFiles } from './files.ts';
import { KEY_RECORD_BYTES } from './keys.ts';

/** Bytes searched in one turn of the event loop: about a millisecond. */
const PIECE_BYTES = 256 * 1024;

/** A segment to be searched. */
interface Searched {
  readonly segment: number;
  /** Of a segment that is encrypted. */
  readonly key: SegmentKey | undefined;
}

/**
 * Whether a segment contains one of these texts, in lower case; ASCII case is ignored. What is encrypted is decrypted;
 * what cannot be decrypted may contain anything. Throws the system's error.
 */
export async function containsAny(
  files: Pick<SpoolFiles, 'pread' | 'size'>,
  descriptors: Descriptors,
  { segment, key }: Searched,
  texts: readonly string[],
): Promise<boolean> {
  const { fd, release } = await descriptors.acquire(segment);
  try {
    const search = new Search(texts);
    if (key !== undefined)
      return await findsSealed(search, readAhead(files, PIECE_BYTES), fd, { segment, key });
    return (await isSealed(files, fd)) || (await search.finds(stored(files, fd)));
  } finally {
    release();
  }
}

/** Whether a segment of which no key is known is encrypted all the same: then its key is damaged. */
async function isSealed(files: Pick<SpoolFiles, 'pread'>, fd: number): Promise<boolean> {
  const bytes = Buffer.alloc(HEADER_BYTES);
  await readFully(files, fd, bytes, KEY_RECORD_BYTES);
  const header = decodeHeader(bytes) ?? decodeFactsHeader(bytes);
  return header?.sealed === true;
}

/** All bytes of a file. */
async function* stored(files: Pick<SpoolFiles, 'pread'>, fd: number): AsyncIterable<Uint8Array> {
  for (let position = 0; ; position += PIECE_BYTES) {
    const piece = Buffer.alloc(PIECE_BYTES);
    const count = await readFully(files, fd, piece, position);
    yield piece.subarray(0, count);
    if (count < PIECE_BYTES) return;
  }
}

async function findsSealed(
  search: Search,
  files: Pick<SpoolFiles, 'pread' | 'size'>,
  fd: number,
  { segment, key }: { readonly segment: number; readonly key: SegmentKey },
): Promise<boolean> {
  for await (const { kind, offset, bytes, header } of framesOf(files, fd, 0)) {
    if (kind === 'key') continue;
    if (kind === 'torn' || !header.sealed) return true;
    const read = async (at: number, length: number) => {
      const piece = Buffer.alloc(length);
      const count = await readFully(files, fd, piece, offset + HEADER_BYTES + at);
      return piece.subarray(0, count);
    };
    const { plainBytes } = header;
    const damaged = () => new Undecryptable();
    const body = { key, place: { segment, offset }, header: bytes, plainBytes, read, damaged };
    try {
      if (await search.finds(openPart(body, 0, plainBytes))) return true;
    } catch (error) {
      if (error instanceof Undecryptable) return true;
      throw error;
    }
  }
  return false;
}

class Undecryptable extends Error {}

/** Looks for texts in bytes that come piece by piece. */
class Search {
  readonly #texts: readonly string[];
  readonly #overlap: number;

  constructor(texts: readonly string[]) {
    // As a text of bytes, so that no character is cut.
    this.#texts = texts.map((text) => Buffer.from(text).toString('latin1'));
    this.#overlap = Math.max(...this.#texts.map(({ length }) => length)) - 1;
  }

  async finds(pieces: AsyncIterable<Uint8Array>): Promise<boolean> {
    let tail = '';
    for await (const piece of pieces) {
      const { buffer, byteOffset, byteLength } = piece;
      const text = tail + lowerAscii(Buffer.from(buffer, byteOffset, byteLength).toString('latin1'));
      if (this.#texts.some((one) => text.includes(one))) return true;
      tail = text.slice(Math.max(0, text.length - this.#overlap));
    }
    return false;
  }
}
