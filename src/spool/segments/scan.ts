import { decodeHeader, decodeOwner, HEADER_BYTES } from '../record.ts';
import type { SpoolRecord } from '../spool.ts';
import type { Descriptors } from './descriptors.ts';
import { readFully, type SpoolFiles } from './files.ts';

/**
 * What lies in a segment, in order, by its headers alone: whether a body is whole only reading it tells. Ends at the
 * end of the file, or at what is no record, as a torn tail. Throws the system's error.
 */
export async function* scanSegment(
  files: Pick<SpoolFiles, 'pread' | 'size'>,
  descriptors: Descriptors,
  segment: number,
): AsyncIterable<SpoolRecord> {
  const { fd, release } = await descriptors.acquire(segment);
  try {
    const end = await files.size(fd);
    const header = Buffer.alloc(HEADER_BYTES);
    for (let offset = 0; offset + HEADER_BYTES <= end; ) {
      if ((await readFully(files, fd, header, offset)) < HEADER_BYTES) return;
      const length = decodeHeader(header)?.bodyBytes;
      const owner = decodeOwner(header);
      if (length === undefined || owner === null || offset + HEADER_BYTES + length > end) return;
      yield { ...owner, content: { segment, offset, length } };
      offset += HEADER_BYTES + length;
    }
  } finally {
    release();
  }
}
