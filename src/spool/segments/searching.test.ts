import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { testKeys } from '../../../test/support/content-keys.ts';
import { FaultyFiles } from '../../../test/support/faulty-files.ts';
import { entryOf } from '../../../test/support/spool-entry.ts';
import { openSegmentSpool, type SegmentSpoolOptions } from './segment-spool.ts';

const ANN = 'ann@example.org';
const MIB = 1024 * 1024;

let parent: string;
let disk: FaultyFiles;
const opened: Awaited<ReturnType<typeof openSegmentSpool>>[] = [];

beforeEach(async () => {
  parent = await mkdtemp(path.join(os.tmpdir(), 'waybill-searching-'));
  disk = new FaultyFiles();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((spool) => spool.close()));
  await rm(parent, { recursive: true });
});

async function openSpool(options: Partial<SegmentSpoolOptions> = {}) {
  const directory = path.join(parent, 'spool');
  const spool = await openSegmentSpool({ directory, onFailure() {}, files: disk.files, ...options });
  opened.push(spool);
  return spool;
}

/** Three sealed segments, of which the second has her address. */
async function filled(options: Partial<SegmentSpoolOptions> = {}, text = `To: Ann <${ANN.toUpperCase()}>`) {
  const spool = await openSpool(options);
  for (const content of ['nobody', text, 'ann@example.or g']) {
    await spool.append([entryOf(content)]);
    await spool.turn();
  }
  return { spool, existing: await spool.existing(await spool.turn()) };
}

test('a text is found in any case of letters, and wherever it stands', async () => {
  for (const before of [0, 250, 256 * 1024 - 70, 2 * MIB]) {
    const { spool, existing } = await filled({}, 'x'.repeat(before) + ANN.toUpperCase());
    const found = await spool.containing(['bob@example.org', ANN], existing);
    expect(found.slice(-1)).toEqual([existing.at(-2)]);
  }
});

test('segments below the one that is written exist until they are removed', async () => {
  const { spool, existing } = await filled();
  expect(existing).toEqual([1, 2, 3]);
  for (const ref of [1, 2, 3]) spool.decided([{ segment: ref, offset: 0, length: 6 }]);
  expect(await spool.existing(3)).toEqual([1, 2]);
  await spool.unlink((await spool.idle()).filter((segment) => segment === 2));
  expect(await spool.existing(9)).not.toContain(2);
});

test.each(['EMFILE', 'EACCES', 'EIO'])('what cannot be opened is not taken for empty: %s', async (code) => {
  const { spool, existing } = await filled();
  disk.fail('openRead', code);
  await expect(spool.containing([ANN], existing)).rejects.toThrow();
  disk.set('openRead', null);
  expect(await spool.containing([ANN], existing)).toEqual([2]);
});

test('a file that is gone but should be there is not taken for empty, either', async () => {
  const { spool, existing } = await filled();
  await rm(path.join(parent, 'spool', '00000002.seg'));
  await expect(spool.containing([ANN], existing)).rejects.toThrow('no record in segment 2');
});

test('what cannot be read is not taken for empty, nor is a read that returns less than was asked for', async () => {
  const { spool, existing } = await filled();
  disk.fail('pread', 'EIO');
  await expect(spool.containing([ANN], existing)).rejects.toThrow();
  disk.set('pread', (pread, fd, target, position) => pread(fd, target.subarray(0, 5), position));
  expect(await spool.containing([ANN], existing)).toEqual([2]);
});

test('nor is what is encrypted, where it cannot be opened or read', async () => {
  const { spool, existing } = await filled({ keys: testKeys() });
  expect(await spool.containing([ANN], existing)).toEqual([2]);
  for (const call of ['openRead', 'pread'] as const) {
    const other = await filled({ keys: testKeys() });
    disk.fail(call, 'EIO');
    await expect(other.spool.containing([ANN], other.existing)).rejects.toThrow();
    disk.set(call, null);
  }
});
