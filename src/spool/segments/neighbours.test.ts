import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FaultyFiles } from '../../../test/support/faulty-files.ts';
import { bytesOf, entryOf, readAll } from '../../../test/support/spool-entry.ts';
import type { ContentRef } from '../../domain/message.ts';
import type { Spool } from '../spool.ts';
import { openSegmentSpool } from './segment-spool.ts';

async function openSpool(): Promise<{ spool: Spool; disk: FaultyFiles }> {
  const parent = await mkdtemp(path.join(os.tmpdir(), 'waybill-neighbours-'));
  const disk = new FaultyFiles();
  const directory = path.join(parent, 'spool');
  const spool = await openSegmentSpool({ directory, files: disk.files, onFailure() {} });
  onTestFinished(async () => {
    await spool.close();
    await rm(parent, { recursive: true });
  });
  return { spool, disk };
}

const letters = (count: number, size = 5000) =>
  Array.from({ length: count }, (_, nth) =>
    entryOf(`${nth} `.padEnd(size, String.fromCharCode(97 + (nth % 26)))),
  );

const read = async (spool: Spool, ref: ContentRef) => readAll(await spool.read(ref));

test('what lies together is read together, by whoever comes for it in about that order', async () => {
  const { spool, disk } = await openSpool();
  const entries = letters(200);
  const refs = await spool.append(entries);
  const left = [...refs.entries()];
  const take = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [nth, ref] = next;
      const entry = entries[nth];
      expect(entry && (await read(spool, ref)).equals(bytesOf(entry)), `letter ${nth}`).toBe(true);
    }
  };
  await Promise.all(Array.from({ length: 20 }, take));
  expect(disk.count('pread')).toBeLessThan(20);
});

test('a record that is asked for alone is read alone', async () => {
  const { spool, disk } = await openSpool();
  const sizes: number[] = [];
  const refs = await spool.append(letters(200));
  disk.set('pread', (real, fd, target, position) => {
    sizes.push(target.byteLength);
    return real(fd, target, position);
  });
  for (const nth of [150, 100, 50, 0]) await read(spool, refs[nth] ?? expect.fail());
  expect(sizes).toEqual(Array(4).fill(5036));
});

test('a message in memory keeps no block there', async () => {
  const { spool } = await openSpool();
  for (const ref of await spool.append(letters(3)))
    for await (const chunk of (await spool.read(ref)).chunks())
      expect(chunk.buffer.byteLength).toBeLessThan(10_000);
});

test('what was written since is read, too', async () => {
  const { spool } = await openSpool();
  for (let nth = 0; nth < 60; nth++) {
    const [entry] = letters(1, 3000 + nth);
    if (entry === undefined) throw new Error('no letter');
    const [ref] = await spool.append([entry]);
    expect((await read(spool, ref ?? expect.fail())).equals(bytesOf(entry))).toBe(true);
  }
});

test('nothing is given that was taken back, where something else lies now', async () => {
  const { spool, disk } = await openSpool();
  const [first, second] = await spool.append(letters(2));
  if (!first || !second) throw new Error('no references');
  await read(spool, first);
  // Written whole, read with the block meanwhile, and then there is no room after all.
  disk.set('writev', async (real, ...args) => {
    await real(...args);
    await read(spool, second);
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  });
  await expect(spool.append([entryOf('old'.padEnd(700, '-'))])).rejects.toMatchObject({ code: 'spool_full' });
  disk.set('writev', null);
  const [third] = await spool.append([entryOf('new'.padEnd(700, '-'))]);
  expect((await read(spool, third ?? expect.fail())).toString()).toMatch(/^new-+$/);
});
