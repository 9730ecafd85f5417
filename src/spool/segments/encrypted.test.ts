import {
  appendFile,
  copyFile,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { testKeys } from '../../../test/support/content-keys.ts';
import { FaultyFiles } from '../../../test/support/faulty-files.ts';
import { bytesOf, entryOf, readAll } from '../../../test/support/spool-entry.ts';
import type { ContentRef } from '../../domain/message.ts';
import { encodeFacts, encodeKey } from '../record.ts';
import type { ContentKeys } from '../sealing.ts';
import type { FactLog, SearchableSpool, Spool } from '../spool.ts';
import { openSegmentSpool } from './segment-spool.ts';

const SECRET = 'for nobody else to read';

type Log = Spool & FactLog & SearchableSpool;

let parent: string;
let disk: FaultyFiles;
const opened: Log[] = [];

beforeEach(async () => {
  parent = await mkdtemp(path.join(os.tmpdir(), 'waybill-encrypted-'));
  disk = new FaultyFiles();
});

afterEach(async () => {
  await closeAll();
  await rm(parent, { recursive: true });
});

async function closeAll(): Promise<void> {
  await Promise.all(opened.splice(0).map((log) => log.close()));
}

async function openLog(keys: ContentKeys | null = testKeys()): Promise<Log> {
  await closeAll();
  const options = { directory: path.join(parent, 'spool'), segmentBytes: 4096, files: disk.files, keys };
  const log = await openSegmentSpool({ ...options, onFailure() {} });
  opened.push(log);
  return log;
}

const fileOf = (segment: number) => path.join(parent, 'spool', `${String(segment).padStart(8, '0')}.seg`);

async function flip(segment: number, offset: number): Promise<void> {
  const file = await open(fileOf(segment), 'r+');
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, offset);
  await file.write(Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, offset);
  await file.close();
}

async function factsOf(log: Log): Promise<string[]> {
  const facts: string[] = [];
  for await (const flush of log.factsAfter({ segment: 1, offset: 0 })) facts.push(...flush.facts);
  return facts;
}

async function appended(log: Log, text: string): Promise<ContentRef> {
  const [ref] = await log.append([entryOf(text)]);
  if (ref === undefined) throw new Error('no place');
  return ref;
}

const textAt = async (log: Log, ref: ContentRef) => (await readAll(await log.read(ref))).toString();

async function bytesOnDisk(): Promise<Buffer> {
  const names = await readdir(path.join(parent, 'spool'));
  return Buffer.concat(await Promise.all(names.map((name) => readFile(path.join(parent, 'spool', name)))));
}

test('neither contents nor facts can be read on the disk', async () => {
  const log = await openLog();
  await log.log([entryOf(`${SECRET} 1`)], () => JSON.stringify([SECRET]));
  await log.append([entryOf(`${SECRET} 2`)]);
  expect((await bytesOnDisk()).includes(SECRET)).toBe(false);
  expect(await factsOf(await openLog())).toEqual([JSON.stringify([SECRET])]);
});

describe('a flush that writes nothing leaves the key to the next one', () => {
  test('a new segment that nothing was written to yet', async () => {
    const log = await openLog();
    await log.log([entryOf('x')], () => 'before');
    expect(await log.turn()).toBe(2);
    const ref = await appended(log, SECRET);
    await log.log([], () => 'after');
    expect(await textAt(await openLog(), ref)).toBe(SECRET);
    expect(await factsOf(await openLog())).toEqual(['before', 'after']);
  });

  test('a first batch whose facts were all withdrawn, or refused', async () => {
    const log = await openLog();
    expect(await log.log([entryOf('y')], () => null)).toBe(false);
    const refused = log.log([entryOf('z')], () => {
      throw new RangeError('refused');
    });
    await expect(refused).rejects.toThrow('refused');
    await log.append([]);
    const ref = await appended(log, SECRET);
    await log.log([], () => 'after');
    expect(await textAt(await openLog(), ref)).toBe(SECRET);
    expect(await factsOf(await openLog())).toEqual(['after']);
  });
});

test('turned on and off, old segments are read as before', async () => {
  const refs: ContentRef[] = [];
  for (const [turn, encrypting] of [false, true, false, true].entries()) {
    const log = await openLog(testKeys(encrypting));
    await log.log([entryOf('x')], () => `fact ${turn}`);
    refs.push(await appended(log, `${SECRET} ${turn}`));
    for (const [nth, ref] of refs.entries()) expect(await textAt(log, ref)).toBe(`${SECRET} ${nth}`);
  }
  expect(await factsOf(await openLog(testKeys(false)))).toEqual(['fact 0', 'fact 1', 'fact 2', 'fact 3']);
  expect(await (await openLog()).encryption()).toEqual({
    encrypting: true,
    keyId: '0000000000000001',
    segments: 4,
    encrypted: 2,
  });
  const bytes = await bytesOnDisk();
  expect([0, 1, 2, 3].map((turn) => bytes.includes(`${SECRET} ${turn}`))).toEqual([true, false, true, false]);
});

test('a batch that is taken back for want of room has used its nonces: none is used again in its place', async () => {
  const log = await openLog();
  const written: Buffer[] = [];
  let full = false;
  disk.set('writev', async (real, fd, parts, position) => {
    written.push(Buffer.concat(parts));
    if (!full) return real(fd, parts, position);
    await real(fd, [Buffer.concat(parts).subarray(0, 100)], position);
    throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
  });
  for (const isFull of [true, false, true, true, false]) {
    full = isFull;
    const appending = log.append([entryOf(SECRET)]);
    if (isFull) await expect(appending).rejects.toMatchObject({ code: 'spool_full' });
    else await appending;
  }
  expect((await readdir(path.join(parent, 'spool'))).length).toBe(1);
  // A record's number stands behind its header, which is 36 bytes from the end of the rest.
  const tail = 8 + Buffer.byteLength(SECRET) + 16;
  const numbers = written.map((bytes) => bytes.subarray(-tail, -tail + 8).toString('hex'));
  expect(new Set(numbers).size).toBe(5);
  const next = await openLog();
  const records = [];
  for await (const { content } of next.records(1)) records.push(await textAt(next, content));
  expect(records).toEqual([SECRET, SECRET]);
});

test.each([
  ['another key', testKeys(true, 2), 'the present one is 0000000000000002'],
  ['another key, though nothing new is encrypted', testKeys(false, 2), 'theirs is 0000000000000001'],
  ['no key', null, 'there is no key'],
])('under %s the spool is refused, and says which key it needs', async (_, keys, told) => {
  await appended(await openLog(), SECRET);
  await closeAll();
  await expect(openLog(keys)).rejects.toMatchObject({
    code: 'spool_other_key',
    message: expect.stringContaining(told),
  });
  expect(await factsOf(await openLog())).toEqual([]);
});

test('a segment that was emptied because its key is lost holds nothing up, and its number stays', async () => {
  const ref = await appended(await openLog(), SECRET);
  await closeAll();
  await truncate(fileOf(1), 0);
  const log = await openLog(testKeys(true, 2));
  await expect(log.read(ref)).rejects.toMatchObject({ code: 'content_missing' });
  expect((await appended(log, SECRET)).segment).toBe(2);
});

test('contents are bound to their segment and their place: none passes for another', async () => {
  const log = await openLog();
  const [one, two] = await log.append([entryOf('one'), entryOf('two')]);
  if (one === undefined || two === undefined) throw new Error('no places');
  const bytes = await readFile(fileOf(1));
  await closeAll();
  const size = two.offset - one.offset;
  const file = await open(fileOf(1), 'r+');
  // The body of one, under the header of the other.
  await file.write(bytes, one.offset + 36, size - 36, two.offset + 36);
  await file.close();
  await copyFile(fileOf(1), fileOf(2));
  const next = await openLog();
  expect(await textAt(next, one)).toBe('one');
  await expect(next.read(two)).rejects.toMatchObject({ code: 'content_damaged' });
  await expect(next.read({ ...one, segment: 2 })).rejects.toMatchObject({ code: 'content_damaged' });
});

describe('in an encrypted segment nothing counts but what was encrypted for that place', () => {
  const at = { segment: 1, offset: 0 };

  test('facts that were added in the clear', async () => {
    const log = await openLog();
    await log.log([], () => 'ours');
    await closeAll();
    const { header, chunks } = encodeFacts('of a stranger', 0);
    await appendFile(fileOf(1), Buffer.concat([header, ...chunks]));
    expect(await factsOf(await openLog())).toEqual(['ours']);
  });

  test('facts whose records were exchanged, or repeated', async () => {
    const log = await openLog();
    for (const fact of ['1', '2', '3']) await log.log([], () => fact);
    const ends: number[] = [];
    for await (const { end } of (await openLog()).factsAfter(at)) ends.push(end.offset);
    await closeAll();
    const bytes = await readFile(fileOf(1));
    const records = [0, 1, 2].map((place) => bytes.subarray(ends[place - 1] ?? 104, ends[place]));
    const [one, two, three] = records;
    if (one === undefined || two === undefined || three === undefined) throw new Error('no records');
    const start = bytes.subarray(0, 104);
    await writeFile(fileOf(1), Buffer.concat([start, two, one, three]));
    await expect(factsOf(await openLog())).rejects.toMatchObject({ code: 'log_damaged' });
    await writeFile(fileOf(1), Buffer.concat([start, one, two, three, two]));
    expect(await factsOf(await openLog())).toEqual(['1', '2', '3']);
  });

  test('contents of the same message that were at another place', async () => {
    const log = await openLog();
    const entry = entryOf('first');
    const [one, two] = await log.append([entry, { ...entry, content: entryOf('later').content }]);
    if (one === undefined || two === undefined) throw new Error('no places');
    await closeAll();
    const bytes = await readFile(fileOf(1));
    const size = two.offset - one.offset;
    bytes.copy(bytes, two.offset, one.offset, one.offset + size);
    await writeFile(fileOf(1), bytes);
    const next = await openLog();
    expect(await textAt(next, one)).toBe('first');
    await expect(next.read(two)).rejects.toMatchObject({ code: 'content_damaged' });
  });
});

describe('people are looked for in what is encrypted, too', () => {
  const NAME = 'jane.doe@example.net';
  const named = async (log: Log) => log.containing([NAME], await log.existing(await log.turn()));

  test('in contents, in facts, across the pieces that are read, and in both forms', async () => {
    let log = await openLog(testKeys(false));
    await appended(log, 'To: Jane.Doe@Example.net');
    log = await openLog();
    await appended(log, 'To: somebody.else@example.net');
    log = await openLog();
    await appended(log, `To: Jane.Doe@Example.net`);
    log = await openLog();
    await log.log([], () => JSON.stringify([NAME]));
    log = await openLog();
    // The end of the first pieces that are decrypted falls into the name.
    await appended(log, `${'x'.repeat(256 * 1024 - 8)}${NAME}${'x'.repeat(300_000)}`);
    log = await openLog();
    await appended(log, 'x'.repeat(600_000));
    log = await openLog();
    expect(await named(log)).toEqual([1, 3, 4, 5]);
  });

  test('what can no longer be decrypted may contain anything', async () => {
    let log = await openLog();
    const { offset } = await appended(log, 'To: somebody.else@example.net');
    await closeAll();
    await flip(1, offset + 50);
    log = await openLog();
    expect(await named(log)).toEqual([1]);
  });

  test.each([0, 3, 40, 103])('nor can what is in a segment whose key is damaged: byte %i', async (at) => {
    await appended(await openLog(), `To: ${NAME}`);
    await closeAll();
    await flip(1, at);
    expect(await named(await openLog())).toEqual([1]);
  });
});

test('a large message is given piece by piece, each checked before it is given', async () => {
  const log = await openLog();
  const large = entryOf(Buffer.alloc(3_000_000, 'large'));
  const [ref] = await log.append([large]);
  if (ref === undefined) throw new Error('no place');
  expect((await readAll(await log.read(ref))).equals(bytesOf(large))).toBe(true);
  await flip(ref.segment, ref.offset + 1_500_000);
  const given: Uint8Array[] = [];
  const reading = async () => {
    for await (const piece of (await log.read(ref)).chunks()) given.push(piece);
  };
  await expect(reading()).rejects.toMatchObject({ code: 'content_damaged' });
  const before = Buffer.concat(given);
  expect(before.byteLength).toBeGreaterThan(1_000_000);
  expect(before.equals(bytesOf(large).subarray(0, before.byteLength))).toBe(true);
});

describe('where the key of a segment is damaged', () => {
  test('on purpose, with a sum that is right, it is damaged all the same, and not another key', async () => {
    const ref = await appended(await openLog(), SECRET);
    await closeAll();
    const bytes = await readFile(fileOf(1));
    const wrapped = bytes.subarray(36, 104);
    const other = wrapped.with(60, (wrapped[60] ?? 0) ^ 1);
    await writeFile(fileOf(1), Buffer.concat([encodeKey(other), bytes.subarray(104)]));
    await expect((await openLog()).read(ref)).rejects.toMatchObject({ code: 'content_damaged' });
  });

  test('the only flush counts as torn, and contents as damaged', async () => {
    const log = await openLog();
    await log.log([], () => 'fact');
    const ref = await appended(log, SECRET);
    await closeAll();
    await flip(1, 50);
    const next = await openLog();
    expect(await factsOf(next)).toEqual([]);
    await expect(next.read(ref)).rejects.toMatchObject({ code: 'content_damaged' });
  });

  test('facts of later flushes are missed, and the start refused', async () => {
    const log = await openLog();
    for (const text of ['a', 'b', 'c']) await log.log([], () => text);
    await closeAll();
    await flip(1, 50);
    await expect(factsOf(await openLog())).rejects.toMatchObject({ code: 'log_damaged' });
  });

  test('a power cut that leaves only a part of it leaves nothing of its flush', async () => {
    const log = await openLog();
    await log.log([entryOf('x')], () => 'a');
    await closeAll();
    const { size } = await stat(fileOf(1));
    for (const end of [size - 1, 110, 104, 70, 36, 20, 0]) {
      await truncate(fileOf(1), end);
      expect(await factsOf(await openLog())).toEqual([]);
    }
  });
});
