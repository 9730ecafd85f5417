import { access, constants, type FileHandle, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import type { ContentRef } from '../domain/message.ts';
import { formatTimestamp } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import { decodeHeader, decodeOwner, HEADER_BYTES } from '../spool/record.ts';
import { segmentPath } from '../spool/segments/files.ts';
import { KEY_RECORD_BYTES, wrappedIn } from '../spool/segments/keys.ts';
import { type CopiedFacts, copyDatabase, openCopy } from '../store/sqlite/copy.ts';
import { ArchiveWriter, type PlacedEntry, readArchive } from './archive.ts';
import { DATABASE, MANIFEST, manifestText, SECRETS, segmentEntry } from './contents.ts';
import { beginPhase, type PaceOptions, type Steps } from './pace.ts';
import { refuseWithoutRoom } from './room.ts';
import { sealSecrets } from './sealed-secrets.ts';
import { ArchiveError } from './tar.ts';

/** A backup to be taken. Nothing may remove or move contents in the spool until it is done. */
export interface BackupTask {
  readonly database: string;
  readonly spool: string;
  /** The target, absolute; must not exist. */
  readonly file: string;
  readonly version: string;
  /** Wall ms. */
  readonly createdAt: number;
  /** What is included encrypted; null: no secret is. */
  readonly secrets: {
    readonly passphrase: string;
    /** Files by their names in the archive; missing ones are left out. */
    readonly files: readonly { readonly name: string; readonly path: string }[];
  } | null;
}

/** A finished backup. */
export interface TakenBackup {
  readonly sizeBytes: number;
  readonly messages: number;
  readonly withSecretKey: boolean;
  /** Contents that are damaged or missing at their source. */
  readonly damaged: number;
}

/** The copying thread sleeps by this; see {@link copyDatabase}. */
const NAP = new Int32Array(new SharedArrayBuffer(4));
const PAGE_BYTES = 4096;

/**
 * Takes a backup, reads it back, and only then gives it its name. Removes what it has written if it fails. Throws
 * `ArchiveError`, `StoreError`, the system's error, or the signal's reason. Sleeps and hashes in this thread.
 */
export async function takeBackup(task: BackupTask, pace: PaceOptions, random: Random): Promise<TakenBackup> {
  await refuseUnlessWritable(dirname(task.file));
  await refuseExisting(task.file);
  const part = `${task.file}.part`;
  const copy = `${task.file}.part-db`;
  try {
    await Promise.all([rm(part, { force: true }), rm(copy, { force: true })]);
    await copyFacts(task, copy, pace);
    const facts = openCopy(copy);
    try {
      const written = await writeArchive(task, { part, copy, facts }, pace, random);
      const damaged = await verify(part, facts, pace);
      await refuseExisting(task.file);
      await rename(part, task.file);
      await syncDirectory(dirname(task.file));
      return { ...written, sizeBytes: (await stat(task.file)).size, damaged };
    } finally {
      facts.close();
    }
  } finally {
    await Promise.all([rm(part, { force: true }), rm(copy, { force: true })]);
  }
}

async function refuseUnlessWritable(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory() !== true)
    throw new ArchiveError(`There is no directory ${folder}. Make it first, or choose another.`);
  await access(folder, constants.W_OK).catch((cause: unknown) => {
    throw new ArchiveError(`This user may not write into ${folder}.`, { cause });
  });
}

async function refuseExisting(file: string): Promise<void> {
  const existing = await stat(file).catch(() => null);
  if (existing !== null) throw new ArchiveError(`${file} exists already. Choose another name.`);
}

async function copyFacts({ database }: BackupTask, copy: string, pace: PaceOptions): Promise<void> {
  await refuseWithoutRoom(dirname(copy), (await stat(database)).size);
  // Created first, readable by its owner only: SQLite would follow the umask.
  await (await open(copy, 'wx', 0o600)).close();
  const { clock, bytesPerSecond } = pace;
  const startedAt = clock.mono();
  let toldAt = startedAt;
  const step = (donePages: number, totalPages: number) => {
    pace.signal.throwIfAborted();
    const done = donePages * PAGE_BYTES;
    const now = clock.mono();
    if (now - toldAt >= 250) {
      toldAt = now;
      pace.tell({ phase: 'database', doneBytes: done, totalBytes: totalPages * PAGE_BYTES });
    }
    if (bytesPerSecond === null) return;
    const aheadMs = (done / bytesPerSecond) * 1000 - (now - startedAt);
    if (aheadMs >= 1) Atomics.wait(NAP, 0, 0, aheadMs);
  };
  await copyDatabase(database, copy, { step });
}

interface Sources {
  readonly part: string;
  readonly copy: string;
  readonly facts: CopiedFacts;
}

async function writeArchive(
  task: BackupTask,
  { part, copy, facts }: Sources,
  pace: PaceOptions,
  random: Random,
): Promise<Pick<TakenBackup, 'messages' | 'withSecretKey'>> {
  const messages = facts.messages();
  const segments = await sizesOf(task.spool, facts.segments());
  const { size } = await stat(copy);
  const bytes = segments.reduce((sum, segment) => sum + segment.size, size);
  await refuseWithoutRoom(dirname(part), bytes);
  const secrets = await readSecrets(task);
  const withSecretKey = secrets.has('secret.key');
  const steps = beginPhase(pace, 'contents', bytes);
  const { version, createdAt } = task;
  const writer = await ArchiveWriter.create(part, createdAt);
  try {
    const counts = { messages, segments: segments.length, bytes, withSecretKey };
    await writer.addText(
      MANIFEST,
      manifestText({ version, createdAt: formatTimestamp(createdAt), ...counts }),
    );
    if (task.secrets !== null)
      await writer.addText(SECRETS, await sealSecrets(secrets, task.secrets.passphrase, random));
    await withFile(copy, (file) => writer.addFile(DATABASE, file, size, steps));
    for (const segment of segments)
      await withFile(segment.path, (file) =>
        writer.addFile(segmentEntry(segment.name), file, segment.size, steps),
      );
    await writer.finish();
  } finally {
    await writer.close();
  }
  return { messages, withSecretKey };
}

/** Present sizes of segments: everything the database refers to was written before. A missing one is left out. */
async function sizesOf(
  spool: string,
  segments: readonly number[],
): Promise<{ name: string; path: string; size: number }[]> {
  const found = [];
  for (const segment of segments) {
    const path = segmentPath(spool, segment);
    const status = await stat(path).catch(() => null);
    if (status !== null) found.push({ name: segmentPath('', segment), path, size: status.size });
  }
  return found;
}

async function readSecrets({ secrets }: BackupTask): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const { name, path } of secrets?.files ?? []) {
    const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (bytes !== null) files.set(name, bytes);
  }
  return files;
}

/**
 * Reads the written file back: the checksums, and the bytes of everything referred to. Returns how much of that is
 * damaged.
 */
async function verify(part: string, facts: CopiedFacts, pace: PaceOptions): Promise<number> {
  return await withFile(part, async (file) => {
    const { size } = await file.stat();
    // Once for the checksums, once for what is referred to, which is less.
    const steps = beginPhase(pace, 'verify', size * 2);
    const entries = await readArchive(file, { begin: async () => null }, steps);
    return (await checkReferences(facts, file, entries, steps)).damaged;
  });
}

async function withFile<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, 'r');
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

async function syncDirectory(path: string): Promise<void> {
  await withFile(path, (directory) => directory.sync());
}

const PIECE_BYTES = 256 * 1024;
const PAGE = 1000;

/** The result of checking references. */
export interface References {
  readonly checked: number;
  /** Contents that are missing or damaged. */
  readonly damaged: number;
}

/** Looks up the bytes of everything that a copied database refers to in the archive's segments. */
async function checkReferences(
  facts: CopiedFacts,
  archive: FileHandle,
  entries: readonly PlacedEntry[],
  steps: Steps,
): Promise<References> {
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  const keys = new KeyRecords(archive);
  let checked = 0;
  let damaged = 0;
  let after = -1;
  for (;;) {
    const page = facts.contents(after, PAGE);
    for (const { messageId, content } of page) {
      const entry = byName.get(segmentEntry(segmentPath('', content.segment)));
      if (entry === undefined || !(await isWhole(archive, entry, messageId, content, keys))) damaged++;
      checked++;
      await steps.done(content.length);
    }
    const last = page.at(-1);
    if (last === undefined) return { checked, damaged };
    after = last.seq;
  }
}

async function isWhole(
  archive: FileHandle,
  entry: PlacedEntry,
  messageId: string,
  { offset, length }: ContentRef,
  keys: KeyRecords,
): Promise<boolean> {
  const start = entry.offset + offset;
  const bytes = await readAt(archive, start, HEADER_BYTES);
  const header = decodeHeader(bytes);
  if (header === null || header.plainBytes !== length) return false;
  if (decodeOwner(bytes)?.messageId !== messageId) return false;
  if (header.sealed && !(await keys.isWholeIn(entry))) return false;
  const { bodyBytes } = header;
  if (offset + HEADER_BYTES + bodyBytes > entry.size) return false;
  let sum = header.seed;
  for (let at = 0; at < bodyBytes; at += PIECE_BYTES)
    sum = crc32(await readAt(archive, start + HEADER_BYTES + at, Math.min(PIECE_BYTES, bodyBytes - at)), sum);
  return sum === header.checksum;
}

/** The records of wrapped keys that encrypted segments begin with; without its own, nobody can read a segment. */
class KeyRecords {
  readonly #archive: FileHandle;
  readonly #known = new Map<string, boolean>();

  constructor(archive: FileHandle) {
    this.#archive = archive;
  }

  async isWholeIn({ name, offset }: PlacedEntry): Promise<boolean> {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const isWhole = wrappedIn(await readAt(this.#archive, offset, KEY_RECORD_BYTES)) !== null;
    this.#known.set(name, isWhole);
    return isWhole;
  }
}

/** The archive's bytes from there, up to `length`. */
async function readAt(archive: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await archive.read(bytes, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}
