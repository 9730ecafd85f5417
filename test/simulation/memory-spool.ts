import type { ContentRef } from '../../src/domain/message.ts';
import { type Spool, SpoolError } from '../../src/spool/spool.ts';

/** A spool that tells how many bytes were ever appended to it. */
export interface MemorySpool extends Spool {
  written(): number;
}

/** Keeps a simulated world's contents; shared by its nodes, and as durable as the world itself. */
export function createMemorySpool(): MemorySpool {
  const contents = new Map<number, Uint8Array>();
  const undecided = new Set<number>();
  let next = 1;
  let written = 0;
  return {
    append: async (entries) =>
      entries.map(({ content }): ContentRef => {
        const segment = next++;
        const bytes = Buffer.concat(content.chunks);
        contents.set(segment, bytes);
        written += bytes.length;
        undecided.add(segment);
        return { segment, offset: 0, length: bytes.length };
      }),
    decided: (refs) => {
      for (const { segment } of refs) undecided.delete(segment);
    },
    read: async ({ segment }, part) => {
      const whole = contents.get(segment);
      if (!whole) throw new SpoolError('content_missing', `segment ${segment} is gone`);
      const bytes = part ? whole.subarray(part.start, part.start + part.length) : whole;
      return { sizeBytes: bytes.length, chunks: () => [bytes] };
    },
    idle: async () => [...contents.keys()].filter((segment) => !undecided.has(segment)),
    unlink: async (segments) => {
      for (const segment of segments) contents.delete(segment);
    },
    sizes: async (segments) =>
      new Map(segments.flatMap((segment) => toSize(segment, contents.get(segment)?.length))),
    records: async function* () {},
    flushes: () => 0,
    written: () => written,
    space: async () => ({ freeBytes: 1e12, totalBytes: 2e12 }),
    encryption: async () => ({ encrypting: false, keyId: null, segments: contents.size, encrypted: 0 }),
    close: async () => {},
  };
}

function toSize(segment: number, length: number | undefined): [number, number][] {
  return length === undefined ? [] : [[segment, length]];
}
