import { cp, mkdtemp, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FaultyFiles } from '../../../test/support/faulty-files.ts';
import { bytesOf, entryOf, readAll } from '../../../test/support/spool-entry.ts';
import type { ContentRef } from '../../domain/message.ts';
import { encodeRecord } from '../record.ts';
import type { SpoolError } from '../spool.ts';
import { openSegmentSpool } from './segment-spool.ts';

const MIB = 1024 * 1024;
const SEGMENT_BYTES = 2 * MIB;
/** Written in two steps. */
const LARGE = entryOf(Buffer.alloc(5 * MIB, 'large'));

let parent: string;
let disk: FaultyFiles;
const opened: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  parent = await mkdtemp(path.join(os.tmpdir(), 'waybill-large-'));
  disk = new FaultyFiles();
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((log) => log.close()));
  await rm(parent, { recursive: true });
});

async function openLog(name = 'spool', segmentBytes = SEGMENT_BYTES) {
  const options = { directory: path.join(parent, name), segmentBytes, files: disk.files };
  const log = await openSegmentSpool({ ...options, onFailure() {} });
  opened.push(log);
  return log;
}

type Log = Awaited<ReturnType<typeof openLog>>;

async function factsOf(log: Log): Promise<string[]> {
  const read: string[] = [];
  for await (const { facts } of log.factsAfter({ segment: 1, offset: 0 })) read.push(...facts);
  return read;
}

/** Stops the writing of large contents before their second step, until it is released. */
function stopMidway() {
  const midway = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  disk.set('writev', async (real, fd, parts, position) => {
    const bytes = parts.reduce((sum, part) => sum + part.byteLength, 0);
    if (bytes > MIB && position > MIB) {
      midway.resolve();
      await release.promise;
    }
    return real(fd, parts, position);
  });
  return { midway: midway.promise, release: () => release.resolve() };
}

/** Begins to append large mail twice; returns when one is half written and the other waits in line. */
async function appendTwice(log: Log) {
  const { midway, release } = stopMidway();
  const first = log.append([LARGE]);
  await midway;
  const second = log.append([LARGE]);
  // What is encoded later is encoded when it is.
  await encodeRecord(LARGE);
  return { first, second, release };
}

/** The largest that is no large mail. */
const fill = 'x'.repeat(MIB - 100);

test('small mail is on the disk while large mail is still written, and the facts of the large come behind it', async () => {
  const log = await openLog();
  const { midway, release } = stopMidway();
  let place: readonly ContentRef[] = [];
  const large = log.log([LARGE], (refs) => {
    place = refs;
    return 'large';
  });
  await midway;
  expect(await log.log([entryOf('small')], () => 'small')).toBe(true);
  expect(place).toEqual([]);
  release();
  expect(await large).toBe(true);
  const [ref] = place;
  if (ref === undefined) throw new Error('no place');
  expect(await readAll(await log.read(ref))).toEqual(bytesOf(LARGE));
  await log.close();
  opened.splice(0);
  expect(await factsOf(await openLog())).toEqual(['small', 'large']);
});

test('large mail is flushed step by step, so that nobody waits for all of it', async () => {
  const log = await openLog();
  await log.append([LARGE]);
  disk.calls.length = 0;
  await log.append([LARGE]);
  expect(disk.calls.filter((call) => /^(?:writev|fdatasync)$/.test(call))).toEqual([
    'writev',
    'fdatasync',
    'writev',
    'fdatasync',
  ]);
});

test('a power cut while it is written leaves the facts that were flushed beside it, in however many', async () => {
  const log = await openLog();
  const { midway, release } = stopMidway();
  const large = log.log([LARGE], () => 'large');
  await midway;
  const facts = ['a', 'b', 'c'];
  for (const text of facts) await log.log([entryOf(fill)], () => text);
  await cp(path.join(parent, 'spool'), path.join(parent, 'cut'), { recursive: true });
  release();
  await large;
  expect(await factsOf(await openLog('cut'))).toEqual(facts);
});

test('what is full meanwhile grows to twice its size, and then waits for the end of a turn', async () => {
  const log = await openLog();
  const { midway, release } = stopMidway();
  const large = log.log([LARGE], () => 'large');
  await midway;
  const segments: number[] = [];
  const put = async () => {
    const [ref] = await log.append([entryOf(fill)]);
    segments.push(ref?.segment ?? 0);
  };
  for (let count = 0; count < 4; count++) await put();
  const fifth = put();
  release();
  await Promise.all([large, fifth]);
  expect(segments).toEqual([1, 1, 1, 1, 3]);
});

test('who needs a new segment waits for the large mail under way, and not for all that waits', async () => {
  const log = await openLog();
  await log.append([entryOf('small')]);
  const { first, second, release } = await appendTwice(log);
  const turned = log.turn();
  release();
  const [[before], [behind]] = await Promise.all([first, second]);
  const segments = [before?.segment, await turned, behind?.segment];
  expect(segments).toEqual([2, 3, 4]);
});

test('closing writes the large mail that waits', async () => {
  const log = await openLog();
  const { first, second, release } = await appendTwice(log);
  const closed = log.close();
  release();
  expect(await Promise.all([first, second, closed])).toHaveLength(3);
});

test('neither of the segments that are written is idle, nor what awaits a decision', async () => {
  const log = await openLog();
  let end = { segment: 0, offset: 0 };
  log.onLogged((_, place) => {
    end = place;
  });
  await log.log([entryOf('first')], () => 'first');
  await log.log([LARGE], () => 'large');
  log.applied(end);
  expect(await log.idle()).toEqual([]);
  await log.log([LARGE], () => 'full');
  // The first of the large ones has a file to itself.
  expect(await log.idle()).toEqual([2]);
  expect(await log.log([LARGE], () => null)).toBe(false);
  log.applied(end);
  expect(await log.idle()).toEqual([2, 3]);
});

test('what lies below a new segment does not grow, large mail neither', async () => {
  const log = await openLog('spool', 4 * MIB);
  const large = entryOf(Buffer.alloc(MIB + 1, 'large'));
  await log.append([entryOf('small')]);
  await log.append([large]);
  const below = await log.turn();
  expect(await log.existing(below)).toEqual([1, 2]);
  const [ref] = await log.append([large]);
  expect(ref?.segment).toBeGreaterThan(below);
  // An empty one is no new one where large mail was written since.
  expect(await log.existing(await log.turn())).toContain(ref?.segment);
});

test('no room takes large mail back, and passes by itself', async () => {
  const log = await openLog();
  await log.append([LARGE]);
  disk.set('writev', async (real, fd, parts, position) => {
    if (position > MIB) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    return real(fd, parts, position);
  });
  const refused = log.log([LARGE], () => 'large');
  await expect(refused).rejects.toMatchObject({ code: 'spool_full' } satisfies Partial<SpoolError>);
  expect((await stat(path.join(parent, 'spool', '00000003.seg'))).size).toBe(0);
  disk.set('writev', null);
  expect(await log.log([LARGE], () => 'large')).toBe(true);
});

test('what is on the disk of large mail without room is off it before it is refused', async () => {
  const log = await openLog();
  await log.append([entryOf('small')]);
  const fail = (from: number) =>
    disk.set('writev', async (real, fd, parts, position) => {
      if (position >= from) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
      return real(fd, parts, position);
    });
  const callsUntilRefused = async () => {
    disk.calls.length = 0;
    await expect(log.append([LARGE])).rejects.toMatchObject({ code: 'spool_full' });
    return disk.calls.filter((call) => /^(?:writev|fdatasync|ftruncate)$/.test(call));
  };
  fail(MIB);
  expect(await callsUntilRefused()).toEqual(['writev', 'fdatasync', 'writev', 'ftruncate', 'fdatasync']);
  fail(0);
  expect(await callsUntilRefused()).toEqual(['writev', 'ftruncate', 'fdatasync']);
});

test('large mail that cannot be taken off the disk again is the end of writing', async () => {
  const log = await openLog();
  await log.append([entryOf('small')]);
  disk.set('writev', async (real, fd, parts, position) => {
    if (position < MIB) return real(fd, parts, position);
    disk.fail('fdatasync', 'EIO');
    throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
  });
  await expect(log.append([LARGE])).rejects.toMatchObject({ code: 'spool_failed' });
  disk.set('fdatasync', null);
  await expect(log.append([entryOf('small')])).rejects.toMatchObject({ code: 'spool_failed' });
});
