import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Clock, systemClock } from '../../lib/clock.ts';

/** The file system as segments use it; tests inject faults here. Paths are absolute or relative to the process. */
export interface SpoolFiles {
  /** Opens for reading only. */
  openRead(path: string): Promise<number>;
  /** Creates for writing, with mode 0600; fails if the file exists. */
  openNew(path: string): Promise<number>;
  close(fd: number): Promise<void>;
  /** Writes at `position`; returns how many bytes, which may be fewer than asked, synchronously or by a promise. */
  writev(fd: number, parts: readonly Uint8Array[], position: number): number | Promise<number>;
  /** Fills `target` from `position`; returns how many bytes, 0 at the end of the file. */
  pread(fd: number, target: Uint8Array, position: number): Promise<number>;
  /** The file's length in bytes. */
  size(fd: number): Promise<number>;
  fdatasync(fd: number): Promise<void>;
  fsync(fd: number): Promise<void>;
  ftruncate(fd: number, length: number): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Creates one directory with mode 0700; fails if it exists. */
  mkdir(path: string): Promise<void>;
  readdir(path: string): Promise<string[]>;
  statfs(path: string): Promise<{ readonly bavail: number; readonly blocks: number; readonly bsize: number }>;
}

const open = promisify(fs.open);
const mkdir = promisify(fs.mkdir);
const fstat = promisify(fs.fstat);

/** Copying a write of up to this many bytes into the system's cache takes less time than the thread pool does. */
const QUICK_BYTES = 256 * 1024;
/** A write that takes longer than this, in ms, met a system that throttles writers. */
const SLOW_MS = 20;
/** For this long after it, in ms, all writes go through the thread pool. */
const WARY_MS = 10_000;

/** The two ways of writing. */
interface Writes {
  readonly atOnce: (fd: number, parts: readonly Uint8Array[], position: number) => number;
  readonly byPool: (fd: number, parts: readonly Uint8Array[], position: number) => Promise<number>;
}

/**
 * Makes small writes at once, on the event loop: they only fill the system's cache, and callers that wait for the flush
 * save a turn through the thread pool. After one has blocked the event loop, writes go through the pool for a while.
 */
export function quickWrites({ atOnce, byPool }: Writes, clock: Pick<Clock, 'mono'>): SpoolFiles['writev'] {
  let waryUntil = Number.NEGATIVE_INFINITY;
  return (fd, parts, position) => {
    let bytes = 0;
    for (const part of parts) bytes += part.byteLength;
    const startedAt = clock.mono();
    if (bytes > QUICK_BYTES || startedAt < waryUntil) return byPool(fd, parts, position);
    try {
      return atOnce(fd, parts, position);
    } finally {
      const endedAt = clock.mono();
      if (endedAt - startedAt > SLOW_MS) waryUntil = endedAt + WARY_MS;
    }
  };
}

const realWrites: Writes = {
  atOnce: fs.writevSync,
  byPool: (fd, parts, position) =>
    new Promise((resolve, reject) => {
      fs.writev(fd, parts, position, (error, written) => (error ? reject(error) : resolve(written)));
    }),
};

/** Real files. All but small writes go through libuv's thread pool: the event loop waits for no read and no flush. */
export const realFiles: SpoolFiles = {
  openRead: (path) => open(path, 'r'),
  openNew: (path) => open(path, 'wx', 0o600),
  close: promisify(fs.close),
  writev: quickWrites(realWrites, systemClock),
  pread: (fd, target, position) =>
    new Promise((resolve, reject) => {
      fs.read(fd, target, 0, target.byteLength, position, (error, count) =>
        error ? reject(error) : resolve(count),
      );
    }),
  size: async (fd) => (await fstat(fd)).size,
  fdatasync: promisify(fs.fdatasync),
  fsync: promisify(fs.fsync),
  ftruncate: promisify(fs.ftruncate),
  unlink: promisify(fs.unlink),
  mkdir: (path) => mkdir(path, 0o700),
  readdir: (path) => promisify(fs.readdir)(path),
  statfs: (path) => promisify(fs.statfs)(path),
};

/** The system's name for an error (`ENOSPC`); '' if it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Writes everything at `position`, continuing after short writes; returns how many bytes. Throws the system's error. */
export async function writeFully(
  files: Pick<SpoolFiles, 'writev'>,
  fd: number,
  parts: readonly Uint8Array[],
  position: number,
): Promise<number> {
  let rest = parts;
  let at = position;
  while (rest.length > 0) {
    const written = await files.writev(fd, rest, at);
    rest = withoutFirst(rest, written);
    if (written === 0 && rest.length > 0) throw new Error('the file system wrote nothing');
    at += written;
  }
  return at - position;
}

/** Reads until `target` is full or the file ends; returns how many bytes. Throws the system's error. */
export async function readFully(
  files: Pick<SpoolFiles, 'pread'>,
  fd: number,
  target: Uint8Array,
  position: number,
): Promise<number> {
  let filled = 0;
  while (filled < target.byteLength) {
    const count = await files.pread(fd, target.subarray(filled), position + filled);
    if (count === 0) break;
    filled += count;
  }
  return filled;
}

/** What is left of `parts` without their first `count` bytes. */
function withoutFirst(parts: readonly Uint8Array[], count: number): readonly Uint8Array[] {
  let left = count;
  let index = 0;
  for (const part of parts) {
    if (left < part.byteLength) break;
    left -= part.byteLength;
    index++;
  }
  const rest = parts.slice(index);
  const cut = rest[0];
  if (cut !== undefined) rest[0] = cut.subarray(left);
  return rest;
}

const NAME = /^(\d{8,15})\.seg$/;

/** Path of a segment's file. */
export function segmentPath(directory: string, segment: number): string {
  return path.join(directory, `${String(segment).padStart(8, '0')}.seg`);
}

/** The segment number of a file name; null if it is no segment's. */
export function segmentOfName(name: string): number | null {
  const digits = NAME.exec(name)?.[1];
  return digits === undefined ? null : Number(digits);
}
