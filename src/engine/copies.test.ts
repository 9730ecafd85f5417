import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Content } from '../domain/message.ts';
import type { Signer } from './contract.ts';
import { firstBytesOn, signCopies } from './copies.ts';

const FLAGS = { eightBit: true, utf8: false, dotStuffing: false };

/** Puts on top how long the copy is, so that each copy grows by another length. */
const signer: Signer = {
  sign: async (content) => {
    const top = Buffer.from('s'.repeat(content.sizeBytes % 5));
    return { ...content, chunks: [top, ...content.chunks], sizeBytes: content.sizeBytes + top.length };
  },
};

test('however the content is cut into chunks, each copy is signed by itself and keeps its bytes', async () => {
  const texts = fc.array(fc.string({ minLength: 1, maxLength: 9 }), { minLength: 1, maxLength: 6 });
  const property = fc.asyncProperty(texts, fc.integer({ min: 1, max: 7 }), async (letters, size) => {
    const bytes = letters.map((letter) => Buffer.from(letter));
    const all = Buffer.concat(bytes);
    const chunks: Buffer[] = [Buffer.alloc(0)];
    for (let at = 0; at < all.length; at += size) chunks.push(all.subarray(at, at + size));
    const content: Content = { chunks, sizeBytes: all.length, flags: FLAGS };
    const lengths = bytes.map(({ length }) => length);
    const made = await signCopies({ content, signing: 'any' }, lengths, signer);
    const expected = bytes.map((one) => Buffer.concat([Buffer.from('s'.repeat(one.length % 5)), one]));
    expect(Buffer.concat(made.content.chunks)).toEqual(Buffer.concat(expected));
    expect(made.content.sizeBytes).toBe(Buffer.concat(expected).length);
    expect(made.content.flags).toEqual(FLAGS);
    expect(made.copies.map((copy) => Buffer.concat(copy.content.chunks))).toEqual(expected);
    let start = 0;
    for (const [place, one] of expected.entries()) {
      expect(made.copies[place]?.part).toEqual({ start, length: one.length, checksum: crc32(one) });
      start += one.length;
    }
  });
  await fc.assert(property, { numRuns: 200 });
});

test('the first unit on a lane sends the copy of its first recipient there', () => {
  const delivery = (lane: string) => ({
    recipient: { address: 'a@example.net', kind: 'to' as const, notify: null, orcpt: null },
    relay: lane,
    lane,
    rule: null,
    group: [],
    dueAt: 0,
    fence: null,
  });
  const deliveries = ['out', 'mx', 'out'].map(delivery);
  const copies = [4, 5, 6].map((length) => ({ start: 0, length, checksum: 0 }));
  const record = { deliveries, copies, sizeBytes: 15 };
  expect(['out', 'mx'].map((lane) => firstBytesOn(lane, record))).toEqual([4, 5]);
  expect(firstBytesOn('out', { ...record, copies: null })).toBe(15);
});
