import { mkdtemp, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FaultyFiles } from '../../../test/support/faulty-files.ts';
import { bytesOf, entryOf, readAll } from '../../../test/support/spool-entry.ts';
import { type Spool, type SpoolError, WHOLE_READ_BYTES } from '../spool.ts';
import { openSegmentSpool, type SegmentSpoolOptions } from './segment-spool.ts';

let parent: string;
let directory: string;
let disk: FaultyFiles;
let failures: SpoolError[];
const opened: Spool[] = [];

beforeEach(async () => {
  parent = await mkdtemp(path.join(os.tmpdir(), 'waybill-segments-'));
  directory = path.join(parent, 'spool');
  disk = new FaultyFiles();
  failures = [];
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((spool) => spool.close()));
  await rm(parent, { recursive: true });
});

async function openSpool(options: Partial<SegmentSpoolOptions> = {}): Promise<Spool> {
  const onFailure = (error: SpoolError) => failures.push(error);
  const spool = await openSegmentSpool({ directory, onFailure, files: disk.files, ...options });
  opened.push(spool);
  return spool;
}

/** Appends one message; its reference. */
async function put(spool: Spool, entry = entryOf('x'.repeat(1000))) {
  const [ref] = await spool.append([entry]);
  if (ref === undefined) throw new Error('no reference');
  return ref;
}

const segmentFile = (segment: number) => path.join(directory, `${String(segment).padStart(8, '0')}.seg`);

test('the directory is its owner’s alone, and so are the files', async () => {
  await put(await openSpool());
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  expect((await stat(segmentFile(1))).mode & 0o777).toBe(0o600);
});

test('appends at the same time share one write and one flush; those that come meanwhile the next', async () => {
  const spool = await openSpool();
  await put(spool);
  disk.calls.length = 0;
  const later: Promise<unknown>[] = [];
  disk.set('fdatasync', (real, fd) => {
    if (later.length === 0) later.push(...Array.from({ length: 50 }, () => put(spool)));
    return real(fd);
  });
  await Promise.all(Array.from({ length: 50 }, () => put(spool)));
  await Promise.all(later);
  expect(disk.calls).toEqual(['writev', 'fdatasync', 'writev', 'fdatasync']);
});

test('an append is answered when its flush has ended, and not before', async () => {
  const spool = await openSpool();
  await put(spool);
  const order: string[] = [];
  disk.set('fdatasync', async (real, fd) => {
    await real(fd);
    order.push('flushed');
  });
  await put(spool);
  order.push('answered');
  expect(order).toEqual(['flushed', 'answered']);
});

test('a new segment and its directory are flushed before anything is written to it', async () => {
  const spool = await openSpool();
  disk.calls.length = 0;
  await put(spool);
  expect(disk.calls).toEqual(['openNew', 'fsync', 'fsync', 'writev', 'fdatasync']);
});

test('a segment is full at its size; a larger message has one to itself', async () => {
  const spool = await openSpool({ segmentBytes: 2500 });
  const segments = [];
  for (const size of [1000, 1000, 1000, 5000, 10]) {
    segments.push((await put(spool, entryOf('x'.repeat(size)))).segment);
  }
  expect(segments).toEqual([1, 1, 2, 3, 4]);
});

test('what is over the bound of a flush waits for the next, in order', async () => {
  const spool = await openSpool({ maxPendingBytes: 2500 });
  await put(spool);
  disk.calls.length = 0;
  const refs = await Promise.all(Array.from({ length: 6 }, () => put(spool)));
  expect(disk.count('fdatasync')).toBe(3);
  expect(refs.map((ref) => ref.offset)).toEqual([1, 2, 3, 4, 5, 6].map((n) => n * 1036));
});

test('chunks are written as they are, and short writes go on where they ended', async () => {
  const spool = await openSpool();
  const entry = entryOf(Buffer.alloc(3000, 1), Buffer.alloc(5000, 2), '', Buffer.alloc(700, 3));
  disk.set('writev', (real, fd, parts, position) => {
    const [first] = parts;
    return real(fd, first === undefined ? [] : [first.subarray(0, 999)], position);
  });
  expect(await readAll(await spool.read(await put(spool, entry)))).toEqual(bytesOf(entry));
});

test('no room takes the partial batch back, refuses, and passes by itself', async () => {
  for (const code of ['ENOSPC', 'EDQUOT']) {
    const spool = await openSpool({ directory: path.join(parent, code) });
    const before = await put(spool);
    disk.set('writev', async (real, fd, parts, position) => {
      await real(fd, parts.slice(0, 1), position);
      throw Object.assign(new Error(code), { code });
    });
    await expect(put(spool)).rejects.toMatchObject({ code: 'spool_full' });
    const files = await readdir(path.join(parent, code));
    expect(files.length).toBe(1);
    expect((await stat(path.join(parent, code, files[0] ?? ''))).size).toBe(1036);
    disk.set('writev', null);
    const after = await put(spool);
    expect(after).toEqual({ ...before, offset: 1036 });
    expect((await spool.read(after)).sizeBytes).toBe(1000);
  }
  expect(failures).toEqual([]);
});

test('a partial batch that cannot be taken back stops writing for good: nothing may be written behind it', async () => {
  const spool = await openSpool();
  await put(spool);
  disk.fail('writev', 'ENOSPC');
  disk.fail('ftruncate', 'EIO');
  await expect(put(spool)).rejects.toMatchObject({ code: 'spool_failed', cause: { code: 'ENOSPC' } });
  disk.set('writev', null);
  await expect(put(spool)).rejects.toMatchObject({ code: 'spool_failed' });
  expect(failures).toHaveLength(1);
});

test('a batch whose flush failed is taken back: who was refused must not see it come true', async () => {
  const spool = await openSpool();
  await put(spool);
  disk.fail('fdatasync', 'EIO');
  await expect(put(spool)).rejects.toMatchObject({ code: 'spool_failed' });
  expect((await stat(segmentFile(1))).size).toBe(1036);
});

test('no room for a new segment, or no descriptor for it, passes by itself', async () => {
  const spool = await openSpool();
  for (const code of ['ENOSPC', 'EMFILE']) {
    disk.fail('openNew', code);
    await expect(put(spool)).rejects.toMatchObject({ code: 'spool_full' });
  }
  disk.set('openNew', null);
  expect((await put(spool)).segment).toBe(1);
});

test.each([
  ['writev', 'EIO'],
  ['fdatasync', 'EIO'],
  ['fdatasync', 'ENOSPC'],
  ['fsync', 'EIO'],
  ['openNew', 'EROFS'],
] as const)('%s failing with %s stops writing for good, and is not tried again', async (operation, code) => {
  const spool = await openSpool();
  disk.fail(operation, code);
  await expect(put(spool)).rejects.toMatchObject({ code: 'spool_failed', cause: { code } });
  disk.set(operation, null);
  disk.calls.length = 0;
  await expect(put(spool)).rejects.toMatchObject({ code: 'spool_failed' });
  await expect(spool.unlink([])).rejects.toMatchObject({ code: 'spool_failed' });
  await spool.close();
  expect(disk.calls.filter((call) => call !== 'close')).toEqual([]);
  expect(failures.map((error) => error.code)).toEqual(['spool_failed']);
});

test('a failure reaches all who share the flush and all who wait, and what was kept can still be read', async () => {
  const spool = await openSpool({ maxPendingBytes: 2500 });
  const kept = await put(spool);
  disk.fail('fdatasync', 'EIO');
  const answers = await Promise.allSettled(Array.from({ length: 6 }, () => put(spool)));
  expect(answers.map((answer) => answer.status)).toEqual(Array(6).fill('rejected'));
  expect(disk.count('fdatasync')).toBe(2);
  expect((await spool.read(kept)).sizeBytes).toBe(1000);
});

test('unlinking flushes the directory; a failure of either stops writing', async () => {
  const spool = await openSpool({ segmentBytes: 1 });
  for (let i = 0; i < 4; i++) spool.decided([await put(spool)]);
  disk.calls.length = 0;
  await spool.unlink([1]);
  expect(disk.calls).toEqual(['unlink', 'fsync']);
  disk.fail('unlink', 'EIO');
  await expect(spool.unlink([2])).rejects.toMatchObject({ code: 'spool_failed' });
  expect(failures.length).toBe(1);
});

test('a segment that is read while it is unlinked is not left open', async () => {
  const spool = await openSpool({ segmentBytes: 1 });
  const refs = [await put(spool), await put(spool), await put(spool)];
  spool.decided(refs);
  const [ref] = refs;
  if (ref === undefined) throw new Error('nothing was put');
  await readAll(await spool.read(ref));
  disk.calls.length = 0;
  disk.set('unlink', async (real, name) => {
    await readAll(await spool.read(ref));
    return real(name);
  });
  await spool.unlink([ref.segment]);
  const stillOpen = () => 1 + disk.count('openRead') - disk.count('close');
  await vi.waitFor(() => expect(stillOpen()).toBe(0), 60_000);
});

test('a segment found at start is never appended to, a torn tail harms nothing, other files are left alone', async () => {
  const first = await openSpool();
  const [kept, torn] = [await put(first), await put(first)];
  await first.close();
  await truncate(segmentFile(1), torn.offset + 500);
  await writeFile(path.join(directory, 'note.txt'), 'not a segment');
  const second = await openSpool();
  expect((await put(second)).segment).toBe(2);
  expect(await second.idle()).toEqual([1]);
  expect((await second.read(kept)).sizeBytes).toBe(1000);
  await expect(second.read(torn)).rejects.toMatchObject({ code: 'content_missing' });
  await second.unlink([1]);
  expect((await readdir(directory)).sort()).toEqual(['00000002.seg', 'note.txt']);
});

test('no number comes back when all segments but the last have been unlinked', async () => {
  const first = await openSpool();
  first.decided([await put(first)]);
  await first.close();
  const second = await openSpool();
  expect(await second.idle()).toEqual([]);
  expect((await put(second)).segment).toBe(2);
});

test('a large message is read in pieces, and damage in it shows at the end at the latest', async () => {
  const spool = await openSpool();
  const ref = await put(spool, entryOf(Buffer.alloc(WHOLE_READ_BYTES + 1, 5)));
  const file = await open(segmentFile(ref.segment), 'r+');
  await file.write(Buffer.from([6]), 0, 1, ref.offset + 300_000);
  await file.close();
  const content = await spool.read(ref);
  const sizes: number[] = [];
  const reading = async () => {
    for await (const piece of content.chunks()) sizes.push(piece.byteLength);
  };
  await expect(reading()).rejects.toMatchObject({ code: 'content_damaged' });
  expect(sizes).toEqual([262_144, 262_144, 262_144, 262_144, 1]);
});

test('a sector that cannot be read damages one message; want of a descriptor damages none', async () => {
  const spool = await openSpool();
  const ref = await put(spool);
  disk.fail('openRead', 'EMFILE');
  await expect(spool.read(ref)).rejects.toMatchObject({ code: 'spool_failed' });
  disk.set('openRead', null);
  disk.fail('pread', 'EIO');
  await expect(spool.read(ref)).rejects.toMatchObject({ code: 'content_damaged' });
  disk.set('pread', null);
  expect((await spool.read(ref)).sizeBytes).toBe(1000);
  expect(failures).toEqual([]);
});

test('segments are opened once and kept open up to the bound', async () => {
  const spool = await openSpool({ segmentBytes: 1, maxOpenSegments: 2 });
  const [a, b, c] = [await put(spool), await put(spool), await put(spool)];
  disk.calls.length = 0;
  await Promise.all([spool.read(a), spool.read(a), spool.read(b)]);
  await spool.read(a);
  expect(disk.count('openRead')).toBe(2);
  await spool.read(c);
  await spool.read(a);
  expect(disk.count('openRead')).toBe(3);
  await spool.read(b);
  expect(disk.count('openRead')).toBe(4);
  await spool.close();
  expect(disk.count('close')).toBe(6);
});

test('an entry that lies about its size or its id is refused, and its company with it', async () => {
  const spool = await openSpool();
  const good = entryOf('good');
  const liar = { ...good, content: { ...good.content, sizeBytes: 3 } };
  await expect(spool.append([good, liar])).rejects.toThrow(RangeError);
  await expect(spool.append([{ ...good, messageId: 'msg_1' }])).rejects.toThrow(RangeError);
  expect(await readdir(directory)).toEqual([]);
});

test('a record on disk is what the README says', async () => {
  const spool = await openSpool();
  const entry = entryOf('body');
  const flags = { eightBit: true, utf8: false, dotStuffing: true };
  await put(spool, { ...entry, content: { ...entry.content, flags } });
  const bytes = await readFile(segmentFile(1));
  expect(bytes.subarray(0, 6).toString('hex')).toBe('010500000004');
  expect(bytes.subarray(6, 32).toString()).toBe(entry.messageId.slice(4));
  expect(bytes.subarray(36).toString()).toBe('body');
});

test('a volume that cannot be asked has no known room', async () => {
  const spool = await openSpool();
  disk.fail('statfs', 'EIO');
  expect(await spool.space()).toBeNull();
});
