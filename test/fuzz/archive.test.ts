/** A backup's archive that somebody else may have written: its headers, its manifest, its sums, and all of it. */
import { createHash } from 'node:crypto';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PlacedEntry, readArchive } from '../../src/backup/archive.ts';
import { checkEntry, manifestText, readManifest, readSums, sumsText } from '../../src/backup/contents.ts';
import { ArchiveError, BLOCK_BYTES, paddingOf, readTarHeader, tarHeader } from '../../src/backup/tar.ts';
import { corpus, examplesIn } from './corpus.ts';
import { Dice } from './dice.ts';
import { fuzz } from './fuzz.ts';
import { textOf } from './inputs.ts';
import { mutate } from './mutate.ts';

/** What `read` gives; undefined for what it refuses as no good archive. */
async function orRefused<T>(read: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    expect(error.message).toMatch(/^[ -~]+$/);
    return undefined;
  }
}

const entry = fc.record({
  name: fc.oneof(
    fc.constantFrom('waybill.db', 'SHA256SUMS', 'spool/00000001.seg', '../x'),
    textOf('a', '/', '.'),
  ),
  size: fc.oneof(fc.nat(100), fc.constantFrom(8 ** 11, Number.MAX_SAFE_INTEGER)),
  flip: fc.option(fc.nat(8 * BLOCK_BYTES - 1)),
});
const header = entry.map(({ name, size, flip }) => {
  const block = tarHeader({ name: name.replaceAll('\0', '').slice(0, 20), size }, 0);
  if (flip !== null) block[flip >> 3] = (block[flip >> 3] ?? 0) ^ (1 << (flip & 7));
  return block;
});

/** A block with the sum of its bytes put right, so that the rest of it is looked at. */
function summed(bytes: Buffer): Buffer {
  const block = Buffer.concat([bytes, Buffer.alloc(BLOCK_BYTES)], BLOCK_BYTES);
  block.fill(0x20, 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

test('a block is the header of a plain file, an end, or refused', () =>
  fuzz(
    'archive header',
    {
      made: header,
      corpus: corpus('archive', (bytes, dice) => {
        const block = bytes.subarray(0, BLOCK_BYTES);
        return dice.once(4) ? Buffer.concat([block], BLOCK_BYTES) : summed(block);
      }),
    },
    async (block) => {
      const read = await orRefused(() => readTarHeader(block));
      if (read === undefined || read === null) return false;
      expect(Number.isSafeInteger(read.size) && read.size >= 0).toBe(true);
      expect(read.name.length).toBeLessThanOrEqual(100);
      const isKnown = await orRefused(() => checkEntry(read.name, read.size) ?? true);
      if (isKnown) expect(read.name).toMatch(/^(?:spool\/\d{8,15}\.seg|[\w.-]+)$/);
      return true;
    },
  ));

test('a manifest and sums are read as they were written, or refused', () =>
  fuzz(
    'archive manifest',
    {
      made: textOf(
        '{',
        '}',
        '"format":1',
        ',',
        '"version":"1.0.0"',
        '"messages":',
        '-1',
        '1e400',
        'null',
        '\n',
      ),
      corpus: corpus('archive', (bytes) => bytes.toString('latin1')),
    },
    async (text) => {
      const manifest = await orRefused(() => readManifest(text));
      if (manifest !== undefined) {
        // By its text, for JSON writes -0 as 0.
        const written = manifestText(manifest);
        expect(manifestText(readManifest(written))).toBe(written);
      }
      const sums = await orRefused(() => readSums(text));
      if (sums !== undefined) expect(readSums(sumsText(sums))).toEqual(sums);
      return manifest !== undefined || (sums?.size ?? 0) > 0;
    },
  ));

let folder: string;
let file: FileHandle;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'waybill-fuzz-archive-'));
  file = await open(path.join(folder, 'archive.tar'), 'w+');
});
afterAll(async () => {
  await file.close();
  await rm(folder, { recursive: true });
});

const STEPS = { done: async () => {} };

type Contents = readonly (readonly [name: string, bytes: Buffer])[];

function sumsOf(contents: Contents): Map<string, string> {
  return new Map(contents.map(([name, bytes]) => [name, createHash('sha256').update(bytes).digest('hex')]));
}

/** A good archive of these contents, and what it becomes when it is damaged. */
function archiveOf(contents: Contents): Buffer {
  const all = [...contents, ['SHA256SUMS', Buffer.from(sumsText(sumsOf(contents)))] as const];
  const blocks = all.flatMap(([name, bytes]) => [
    tarHeader({ name, size: bytes.length }, 0),
    bytes,
    Buffer.alloc(paddingOf(bytes.length)),
  ]);
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK_BYTES)]);
}

const MANIFEST = examplesIn('archive').find(({ name }) => name === 'manifest')?.bytes ?? Buffer.alloc(0);
const good = fc
  .array(
    fc.tuple(fc.constantFrom('waybill.db', 'spool/00000001.seg', 'x'), fc.uint8Array({ maxLength: 600 })),
    {
      maxLength: 3,
    },
  )
  .map((found) =>
    archiveOf([
      ['waybill-backup.json', MANIFEST],
      ...found.map(([name, bytes]) => [name, Buffer.from(bytes)] as const),
    ]),
  );
const damaged = fc
  .tuple(good, fc.nat(), fc.nat(3))
  .map(([bytes, seed, kind]) => (kind === 0 ? bytes : mutate(new Dice(seed), [bytes], 8192)));

test('an archive is whole, or refused before anything of it counts', () =>
  fuzz(
    'backup archive',
    {
      made: damaged,
      corpus: corpus(
        'archive',
        (bytes, dice) => (dice.once(3) ? bytes : archiveOf([['waybill-backup.json', bytes]])),
        8192,
      ),
    },
    async (bytes) => {
      await file.truncate(0);
      await file.write(bytes, 0, bytes.length, 0);
      const taken = new Map<string, Buffer[]>();
      const taker = {
        begin: async ({ name }: PlacedEntry) => {
          const pieces: Buffer[] = [];
          taken.set(name, pieces);
          return {
            write: async (piece: Buffer) => void pieces.push(Buffer.from(piece)),
            end: async () => {},
          };
        },
      };
      const entries = await orRefused(() => readArchive(file, taker, STEPS));
      const files = [...taken].map(([name, pieces]) => [name, Buffer.concat(pieces)] as const);
      expect(files.reduce((total, [, { length }]) => total + length, 0)).toBeLessThanOrEqual(bytes.length);
      if (entries === undefined) return false;
      const last = entries.at(-1);
      expect([entries[0]?.name, last?.name]).toEqual(['waybill-backup.json', 'SHA256SUMS']);
      const sizes = files.map(([name, { length }]) => [name, length]);
      expect(entries.slice(0, -1).map(({ name, size }) => [name, size])).toEqual(sizes);
      const { offset = 0, size = 0 } = last ?? {};
      expect(readSums(bytes.toString('latin1', offset, offset + size))).toEqual(sumsOf(files));
      return true;
    },
  ));
