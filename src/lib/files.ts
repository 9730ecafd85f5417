import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from './error.ts';

/**
 * Small files that only their owner may read. A crash or a power failure leaves them whole, either old or new: each is
 * written under another name, flushed, and then renamed.
 */

/** Errors of file systems without hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/**
 * Creates a file, on stable storage when this returns. False: it exists, and stays as it is. Throws the system's error.
 */
export function makeFile(path: string, text: string): boolean {
  // Several processes may be doing this.
  const draft = `${path}.${process.pid}.new`;
  writeFlushed(draft, text);
  try {
    linkSync(draft, path);
  } catch (error) {
    const code = errorCode(error) ?? '';
    if (code === 'EEXIST') return false;
    if (!NO_LINKS.has(code)) throw error;
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  flush(dirname(path));
  return true;
}

/**
 * Writes a file, replacing an existing one; on stable storage when this returns. Nobody else may write it meanwhile.
 * Throws the system's error.
 */
export function replaceFile(path: string, text: string): void {
  const draft = `${path}.new`;
  writeFlushed(draft, text);
  renameSync(draft, path);
  flush(dirname(path));
}

function writeFlushed(path: string, text: string): void {
  const file = openSync(path, 'w', 0o600);
  try {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function flush(folder: string): void {
  const file = openSync(folder, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
