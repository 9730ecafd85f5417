import { statfs } from 'node:fs/promises';
import { ArchiveError } from './tar.ts';

/** Free space to leave, so that a backup does not take the room that mail needs. */
const MARGIN_BYTES = 256 * 1024 * 1024;

/**
 * Throws `ArchiveError` if a directory has less room. A volume that does not tell its free space is assumed to have it.
 */
export async function refuseWithoutRoom(directory: string, bytes: number): Promise<void> {
  const volume = await statfs(directory).catch(() => null);
  if (volume === null) return;
  const free = volume.bavail * volume.bsize;
  const needed = bytes + MARGIN_BYTES;
  if (free >= needed) return;
  throw new ArchiveError(
    `There is not enough room in ${directory}: ${mebibytes(needed)} MiB are needed, ${mebibytes(free)} are free.`,
  );
}

function mebibytes(bytes: number): number {
  return Math.ceil(bytes / (1024 * 1024));
}
