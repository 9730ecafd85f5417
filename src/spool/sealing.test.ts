import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { testKeys } from '../../test/support/content-keys.ts';
import { bytesOf, entryOf } from '../../test/support/spool-entry.ts';
import { yieldToLoop } from '../lib/clock.ts';
import {
  decodeFactsHeader,
  decodeHeader,
  encodeFacts,
  encodeRecord,
  FRAME_BYTES,
  isIntact,
} from './record.ts';
import { openPart, wrappedUnder } from './sealing.ts';
import type { SpoolEntry } from './spool.ts';

const PLACE = { segment: 7, offset: 104 };
/** Around the ends of frames, of the pieces that are read at once, and of a turn. */
const SIZES = [0, 1, FRAME_BYTES - 1, FRAME_BYTES, FRAME_BYTES + 1, 4 * FRAME_BYTES, 17 * FRAME_BYTES + 5];

async function sealed(entry: SpoolEntry) {
  const key = testKeys().make();
  const [record] = await key.seal([await encodeRecord(entry)], [PLACE]);
  if (record === undefined) throw new Error('no record');
  const { header, chunks, bodyBytes } = record;
  return { key, header, body: Buffer.concat(chunks), bodyBytes };
}

const ofSize = (size: number) =>
  entryOf(Buffer.from(Array.from({ length: size }, (_, at) => (at * 31) >> 3)));

test.each(SIZES)('%i bytes come back, and the header says their size and that of the body', async (size) => {
  const entry = ofSize(size);
  const { key, header, body, bodyBytes } = await sealed(entry);
  expect(body.byteLength).toBe(bodyBytes);
  const decoded = decodeHeader(header);
  expect(decoded).toMatchObject({ bodyBytes, plainBytes: size, sealed: true });
  expect(decoded !== null && isIntact(decoded, body)).toBe(true);
  expect(key.open(PLACE, header, body)?.equals(bytesOf(entry))).toBe(true);
});

test('a part comes back, wherever it begins and however long it is', async () => {
  const plain = bytesOf(ofSize(6 * FRAME_BYTES + 17));
  const { key, header, body } = await sealed(entryOf(plain));
  const read = async (at: number, length: number) => body.subarray(at, at + length);
  const from = {
    key,
    place: PLACE,
    header,
    plainBytes: plain.byteLength,
    read,
    damaged: () => new Error(),
  };
  const places = fc.tuple(fc.nat(plain.byteLength), fc.nat(plain.byteLength));
  await fc.assert(
    fc.asyncProperty(places, async ([one, other]) => {
      const [start, end] = [Math.min(one, other), Math.max(one, other)];
      const pieces: Uint8Array[] = [];
      for await (const piece of openPart(from, start, end - start)) pieces.push(piece);
      expect(Buffer.concat(pieces).equals(plain.subarray(start, end))).toBe(true);
    }),
    { numRuns: 200 },
  );
});

test('a part without bytes is none, and a part that ends after the body is refused', async () => {
  const plain = bytesOf(ofSize(2 * FRAME_BYTES));
  const { key, header, body } = await sealed(entryOf(plain));
  const read = async (at: number, length: number) => body.subarray(at, at + length);
  const damaged = () => new Error('damaged');
  const from = { key, place: PLACE, header, plainBytes: plain.byteLength, read, damaged };
  const partOf = async (start: number, length: number) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of openPart(from, start, length)) pieces.push(piece);
    return Buffer.concat(pieces).byteLength;
  };
  for (const start of [0, 1, FRAME_BYTES, 2 * FRAME_BYTES]) expect(await partOf(start, 0)).toBe(0);
  expect(await partOf(FRAME_BYTES, FRAME_BYTES)).toBe(FRAME_BYTES);
  for (const start of [0, FRAME_BYTES + 1, 2 * FRAME_BYTES])
    await expect(partOf(start, 2 * FRAME_BYTES + 1 - start)).rejects.toThrow('damaged');
});

test('many small contents leave others their turn, as large ones do', async () => {
  const key = testKeys().make();
  const record = await encodeRecord(ofSize(100_000));
  const records = Array.from({ length: 50 }, () => record);
  let turns = 0;
  let sealing = true;
  const counted = (async () => {
    while (sealing) {
      await yieldToLoop();
      turns++;
    }
  })();
  await key.seal(
    records,
    records.map(() => PLACE),
  );
  sealing = false;
  await counted;
  expect(turns).toBeGreaterThanOrEqual(4);
});

test('facts come back, and how much was written before them', async () => {
  const key = testKeys().make();
  const [record] = await key.seal([encodeFacts('["accept"]', 1_234)], [PLACE]);
  if (record === undefined) throw new Error('no record');
  const { header } = record;
  const body = Buffer.concat(record.chunks);
  expect(decodeHeader(header)).toBeNull();
  expect(decodeFactsHeader(header)).toMatchObject({ sealed: true, plainBytes: 10 });
  expect(key.open(PLACE, header, body)?.toString()).toBe('["accept"]');
});

test('equal contents never look alike, and no nonce comes twice', async () => {
  const key = testKeys().make();
  const record = await encodeRecord(entryOf('the same'));
  const halves = [Array.from({ length: 50 }, () => record), Array.from({ length: 50 }, () => record)];
  const places = halves[0]?.map(() => PLACE) ?? [];
  const sealedHalves = await Promise.all(halves.map((records) => key.seal(records, places)));
  const bodies = sealedHalves.flat().map(({ chunks }) => Buffer.concat(chunks));
  expect(new Set(bodies.map((body) => body.subarray(0, 8).toString('hex'))).size).toBe(100);
  expect(new Set(bodies.map((body) => body.subarray(8).toString('hex'))).size).toBe(100);
});

describe('nothing passes for what was encrypted but that', () => {
  test('a flipped bit in the header or the body', async () => {
    const { key, header, body } = await sealed(entryOf('to be kept from strangers'));
    for (let at = 0; at < header.byteLength - 4; at++) {
      const other = header.with(at, (header[at] ?? 0) ^ 1);
      expect(key.open(PLACE, other, body), `header, byte ${at}`).toBeNull();
    }
    for (let at = 0; at < body.byteLength; at++) {
      const other = body.with(at, (body[at] ?? 0) ^ 0x80);
      expect(key.open(PLACE, header, other), `body, byte ${at}`).toBeNull();
    }
  });

  test('another place, another key, a body that was cut, frames that were exchanged', async () => {
    const { key, header, body } = await sealed(ofSize(3 * FRAME_BYTES));
    expect(key.open({ ...PLACE, segment: 8 }, header, body)).toBeNull();
    expect(key.open({ ...PLACE, offset: 105 }, header, body)).toBeNull();
    expect(testKeys().make().open(PLACE, header, body)).toBeNull();
    for (const end of [0, 7, 8, 20, 8 + FRAME_BYTES + 16, body.byteLength - 1])
      expect(key.open(PLACE, header, body.subarray(0, end)), `${end} bytes`).toBeNull();
    const frame = FRAME_BYTES + 16;
    const [first, second] = [body.subarray(8, 8 + frame), body.subarray(8 + frame, 8 + 2 * frame)];
    const exchanged = Buffer.concat([body.subarray(0, 8), second, first, body.subarray(8 + 2 * frame)]);
    expect(key.open(PLACE, header, exchanged)).toBeNull();
  });
});

test('a segment’s key is unwrapped by the key of the installation alone, and names it', () => {
  const key = testKeys(true, 1).make();
  expect(testKeys(false, 1).unwrap(key.wrapped)).not.toBeNull();
  expect(testKeys(true, 2).unwrap(key.wrapped)).toBeNull();
  expect(wrappedUnder(key.wrapped)).toBe(testKeys(true, 1).keyId);
  for (let at = 0; at < key.wrapped.byteLength; at++)
    expect(testKeys().unwrap(key.wrapped.with(at, (key.wrapped[at] ?? 0) ^ 1)), `byte ${at}`).toBeNull();
  expect(testKeys().unwrap(key.wrapped.subarray(1))).toBeNull();
});
