import { mkdtemp, open, rm, stat, truncate } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FaultyFiles } from '../../../test/support/faulty-files.ts';
import { entryOf } from '../../../test/support/spool-entry.ts';
import type { LogPlace } from '../../domain/log-place.ts';
import type { ContentRef } from '../../domain/message.ts';
import type { FactLog, LoggedFacts, Spool } from '../spool.ts';
import { openSegmentSpool } from './segment-spool.ts';

/** Room for two or three records of the tests. */
const SEGMENT_BYTES = 4_096;
const START: LogPlace = { segment: 1, offset: 0 };

type Log = Spool & FactLog;

let parent: string;
let disk: FaultyFiles;
const opened: Log[] = [];

beforeEach(async () => {
  parent = await mkdtemp(path.join(os.tmpdir(), 'waybill-log-'));
  disk = new FaultyFiles();
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((log) => log.close()));
  await rm(parent, { recursive: true });
});

async function openLog(): Promise<Log> {
  const options = { directory: path.join(parent, 'spool'), segmentBytes: SEGMENT_BYTES, files: disk.files };
  const log = await openSegmentSpool({ ...options, onFailure() {} });
  opened.push(log);
  return log;
}

async function reopen(log: Log): Promise<Log> {
  opened.splice(opened.indexOf(log), 1);
  await log.close();
  return await openLog();
}

async function factsOf(log: Log, place = START): Promise<string[]> {
  const read: LoggedFacts[] = [];
  for await (const flush of log.factsAfter(place)) read.push(flush);
  return read.flatMap(({ facts }) => facts);
}

/** Logs these facts, each with contents of its own, one flush after the other. */
async function logEach(log: Log, ...facts: string[]): Promise<void> {
  for (const text of facts) await log.log([entryOf('x'.repeat(1_000))], () => text);
}

const fileOf = (segment: number) => path.join(parent, 'spool', `${String(segment).padStart(8, '0')}.seg`);

async function flip(segment: number, offset: number): Promise<void> {
  const file = await open(fileOf(segment), 'r+');
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, offset);
  await file.write(Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, offset);
  await file.close();
}

test('contents and the facts about them share one write and one flush, whoever asked', async () => {
  const log = await openLog();
  await logEach(log, 'first');
  disk.calls.length = 0;
  let refs: readonly ContentRef[] = [];
  const first = log.log([entryOf('one'), entryOf('two')], (places) => {
    refs = places;
    return 'about two';
  });
  const answers = await Promise.all([first, log.log([], () => 'about none'), log.log([], () => null)]);
  expect(answers).toEqual([true, true, false]);
  expect(disk.calls).toEqual(['writev', 'fdatasync']);
  const [one, two] = refs;
  if (one === undefined || two === undefined) throw new Error('no places');
  expect([(await log.read(one)).sizeBytes, (await log.read(two)).sizeBytes]).toEqual([3, 3]);
});

test('facts are told in their order once they are durable, before who waits for them goes on', async () => {
  const log = await openLog();
  const seen: string[] = [];
  log.onLogged((facts) => seen.push(...facts));
  disk.set('fdatasync', async (real, fd) => {
    seen.push('flush');
    await real(fd);
  });
  const done = ['a', 'b'].map((text) => log.log([], () => text).then(() => seen.push(`${text} done`)));
  await Promise.all(done);
  expect(seen).toEqual(['flush', 'a', 'b', 'a done', 'b done']);
});

test('facts that cannot be made are refused alone, and leave nothing', async () => {
  const log = await openLog();
  const faulty = log.log([entryOf('x')], () => {
    throw new Error('no facts');
  });
  await Promise.all([expect(faulty).rejects.toThrow('no facts'), log.log([], () => 'good')]);
  expect(await factsOf(await reopen(log))).toEqual(['good']);
  expect((await stat(fileOf(1))).size).toBe(36 + 'good'.length);
});

test('what is behind a place is read back, over all segments, and text of any kind', async () => {
  const log = await openLog();
  const ends: LogPlace[] = [];
  log.onLogged((_, end) => ends.push(end));
  const facts = Array.from({ length: 9 }, (_, nth) => JSON.stringify({ nth, text: 'Grüße\n\u2028' }));
  await logEach(log, ...facts);
  expect(ends.at(-1)?.segment).toBeGreaterThan(2);
  const next = await reopen(log);
  expect(await factsOf(next)).toEqual(facts);
  for (const [place, end] of ends.entries()) expect(await factsOf(next, end)).toEqual(facts.slice(place + 1));
  expect(await factsOf(next, next.beginning())).toEqual([]);
});

test('a segment with facts that are not applied is never idle', async () => {
  const log = await openLog();
  const ends: LogPlace[] = [];
  log.onLogged((_, end) => ends.push(end));
  await logEach(log, ...'abcdefgh');
  expect(await log.idle()).toEqual([]);
  const inFirst = ends.filter(({ segment }) => segment === 1);
  log.applied(inFirst[0] ?? START);
  expect(await log.idle()).toEqual([]);
  log.applied(inFirst.at(-1) ?? START);
  expect(await log.idle()).toEqual([1]);
});

describe('after a power cut', () => {
  test.each([
    ['a facts record that is cut off', async (size: number) => await truncate(fileOf(1), size - 1)],
    ['one that is not whole', async (size: number) => await flip(1, size - 1)],
    ['a header that is cut off', async () => await truncate(fileOf(1), 2 * (1_036 + 37) + 20)],
    ['contents that are not whole, before facts that are', async (size: number) => await flip(1, size - 500)],
  ])('the last flush counts whole or not at all: %s', async (_, harm) => {
    const log = await openLog();
    await logEach(log, 'a', 'b', 'c');
    await harm((await stat(fileOf(1))).size);
    expect(await factsOf(await reopen(log))).toEqual(['a', 'b']);
  });

  test('what an earlier flush wrote says nothing about the last one', async () => {
    const log = await openLog();
    await log.append([entryOf('x'.repeat(1_000))]);
    await logEach(log, 'a');
    await flip(1, 500);
    expect(await factsOf(await reopen(log))).toEqual(['a']);
  });

  test.each([
    ['facts', async () => await flip(1, 1_036 + 36)],
    ['a header', async () => await flip(1, 1_036)],
    ['the length of contents', async () => await flip(1, 3)],
    ['what was written last of a segment', async () => await truncate(fileOf(1), 3_200)],
  ])('damage before what was flushed later is refused: %s', async (_, harm) => {
    const log = await openLog();
    await logEach(log, ...'abcdef');
    await harm();
    const next = await reopen(log);
    await expect(factsOf(next)).rejects.toMatchObject({ code: 'log_damaged' });
  });
});
