import { expect, it } from 'vitest';
import { readAhead } from './facts-reader.ts';
import { readFully } from './files.ts';

const MIB = 1024 * 1024;
const BYTES = Buffer.from(Array.from({ length: 3 * MIB + 17 }, (_, at) => (at * 31 + (at >> 8)) & 0xff));

/** A file of these bytes whose reads may give less than was asked; counts them. */
function fileOf(atMost = Number.POSITIVE_INFINITY) {
  const counted = { reads: 0 };
  const files = {
    size: async () => BYTES.byteLength,
    pread: async (_fd: number, target: Uint8Array, position: number) => {
      counted.reads++;
      return BYTES.copy(target, 0, position, position + Math.min(target.byteLength, atMost));
    },
  };
  return { counted, files: readAhead(files) };
}

async function read(files: ReturnType<typeof fileOf>['files'], position: number, length: number) {
  const target = Buffer.alloc(length);
  return target.subarray(0, await readFully(files, 1, target, position));
}

it('gives the bytes of the file, across blocks, backwards, and up to its end', async () => {
  const { files } = fileOf(MIB / 3);
  const places = [0, 36, MIB - 10, MIB - 40, 2 * MIB + 5, 17, 3 * MIB, BYTES.byteLength - 3];
  for (const at of places)
    expect((await read(files, at, 100)).equals(BYTES.subarray(at, at + 100))).toBe(true);
  expect((await read(files, BYTES.byteLength, 36)).byteLength).toBe(0);
  expect(await files.size(1)).toBe(BYTES.byteLength);
});

it('reads what is larger than a block as it is', async () => {
  const { files, counted } = fileOf();
  expect((await read(files, 5, 2 * MIB)).equals(BYTES.subarray(5, 5 + 2 * MIB))).toBe(true);
  expect(counted.reads).toBe(1);
});

it('reads a file once for all small pieces that are asked for in order', async () => {
  const { files, counted } = fileOf();
  for (let at = 0; at < 3 * MIB; at += 500) await read(files, at, 36);
  expect(counted.reads).toBeLessThan(10);
});
