import { beforeEach, describe, expect, it } from 'vitest';
import { quickWrites } from './files.ts';

describe('a write of the spool', () => {
  const ways: string[] = [];
  let now = 0;
  let takesMs = 0;
  const clock = { mono: () => now };
  const writes = {
    atOnce: (_fd: number, parts: readonly Uint8Array[]) => {
      ways.push('at once');
      now += takesMs;
      return parts.length;
    },
    byPool: async (_fd: number, parts: readonly Uint8Array[]) => {
      ways.push('by pool');
      return parts.length;
    },
  };
  const small = [new Uint8Array(1024), new Uint8Array(1024)];

  beforeEach(() => {
    ways.length = 0;
    now = 0;
    takesMs = 0;
  });

  it('is made at once where it is small, and by the pool where it is large', async () => {
    const write = quickWrites(writes, clock);
    expect(write(3, small, 0)).toBe(2);
    expect(await write(3, [new Uint8Array(256 * 1024), new Uint8Array(1)], 0)).toBe(2);
    expect(ways).toEqual(['at once', 'by pool']);
  });

  it('is still made at once behind one that took its time', async () => {
    const write = quickWrites(writes, clock);
    takesMs = 20;
    for (let count = 0; count < 2; count++) await write(3, small, 0);
    expect(ways).toEqual(['at once', 'at once']);
  });

  it('is left to the pool behind one that failed late', async () => {
    const failing = () => {
      now += 21;
      throw new Error('no room');
    };
    const write = quickWrites({ ...writes, atOnce: failing }, clock);
    expect(() => write(3, small, 0)).toThrow('no room');
    await write(3, small, 0);
    expect(ways).toEqual(['by pool']);
  });

  it('is left to the pool for ten seconds once one has kept the event loop waiting', async () => {
    const write = quickWrites(writes, clock);
    takesMs = 21;
    await write(3, small, 0);
    takesMs = 0;
    for (now = 22; now < 12_000; now += 2_000) await write(3, small, 0);
    expect(ways).toEqual(['at once', 'by pool', 'by pool', 'by pool', 'by pool', 'by pool', 'at once']);
  });
});
