import { Few } from '../../lib/few.ts';
import { decodeKeyHeader, HEADER_BYTES, isIntact } from '../record.ts';
import { type ContentKeys, type SegmentKey, WRAPPED_BYTES, wrappedUnder } from '../sealing.ts';
import { SpoolError } from '../spool.ts';
import { errorCode, readFully, type SpoolFiles, segmentPath } from './files.ts';

/** Size of the record with its wrapped key that an encrypted segment begins with. */
export const KEY_RECORD_BYTES = HEADER_BYTES + WRAPPED_BYTES;
/** Files read at once. */
const AT_ONCE = 8;
/** Segments that the refusal names. */
const NAMED = 3;

/**
 * The keys of those of these segments that are encrypted, by number. A segment whose key is damaged has none: what is
 * in it counts as damaged. Rejects with `SpoolError` `spool_other_key` if one was encrypted under another key than
 * ours, and with the system's error.
 */
export async function readKeys(
  files: Pick<SpoolFiles, 'openRead' | 'pread' | 'close'>,
  directory: string,
  segments: readonly number[],
  keys: ContentKeys | null,
): Promise<Map<number, SegmentKey>> {
  const found = new Map<number, SegmentKey>();
  const foreign = new Map<number, string>();
  const few = new Few(AT_ONCE);
  const readOne = async (segment: number) => {
    const wrapped = await readWrapped(files, segmentPath(directory, segment));
    if (wrapped === null) return;
    const under = wrappedUnder(wrapped);
    if (under !== keys?.keyId) return void foreign.set(segment, under);
    const key = keys.unwrap(wrapped);
    if (key !== null) found.set(segment, key);
  };
  await Promise.all(segments.map((segment) => few.run(() => readOne(segment))));
  if (foreign.size > 0) throw otherKey(directory, foreign, keys);
  return found;
}

/** The wrapped key at the beginning of a segment; null if there is none that can be read. */
async function readWrapped(
  files: Pick<SpoolFiles, 'openRead' | 'pread' | 'close'>,
  path: string,
): Promise<Buffer | null> {
  const bytes = Buffer.alloc(KEY_RECORD_BYTES);
  let fd: number | null = null;
  try {
    fd = await files.openRead(path);
    if ((await readFully(files, fd, bytes, 0)) < bytes.byteLength) return null;
  } catch (error) {
    // Damage to one segment, which shows when it is read.
    if (errorCode(error) === 'EIO' || errorCode(error) === 'ENOENT') return null;
    throw error;
  } finally {
    if (fd !== null) await files.close(fd);
  }
  return wrappedIn(bytes);
}

/** The wrapped key in the first `KEY_RECORD_BYTES` of a segment; null if there is none, or it is damaged. */
export function wrappedIn(bytes: Buffer): Buffer | null {
  const header = decodeKeyHeader(bytes);
  const wrapped = bytes.subarray(HEADER_BYTES);
  if (header === null || header.bodyBytes !== WRAPPED_BYTES || !isIntact(header, wrapped)) return null;
  return wrapped;
}

function otherKey(
  directory: string,
  foreign: ReadonlyMap<number, string>,
  keys: ContentKeys | null,
): SpoolError {
  const names = [...foreign.keys()]
    .toSorted((one, other) => one - other)
    .map((segment) => segmentPath('', segment));
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
  const theirs = [...new Set(foreign.values())].join(', ');
  const ours = keys === null ? 'there is no key' : `the present one is ${keys.keyId}`;
  return new SpoolError(
    'spool_other_key',
    `Contents in ${directory} are encrypted under another secret.key: ${ours}, theirs is ${theirs} (${names.slice(0, NAMED).join(', ')}${more}). Put back the secret.key that was there before. If it is lost, so are these contents: docs/encryption.md says how to go on without them.`,
  );
}
