import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ContentRef } from '../../src/domain/message.ts';
import { decodeHeader, decodeOwner, encodeRecord, HEADER_BYTES } from '../../src/spool/record.ts';
import { openSegmentSpool } from '../../src/spool/segments/segment-spool.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { testKeys } from '../support/content-keys.ts';
import { bytesOf, entryOf, readAll } from '../support/spool-entry.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { cutAt } from './inputs.ts';

/** Contents in chunks, with their bytes. */
const entries = fc
  .array(fc.uint8Array({ maxLength: 400 }), { maxLength: 5 })
  .map((chunks) => entryOf(...chunks));

const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ append: fc.array(entries, { maxLength: 4 }) }) },
    { weight: 1, arbitrary: fc.constant('reopen' as const) },
    { weight: 1, arbitrary: fc.constant('sweep' as const) },
  ),
  { minLength: 1, maxLength: 12 },
);

interface Kept {
  readonly ref: ContentRef;
  readonly bytes: Buffer;
}

async function inDirectory(body: (directory: string) => Promise<void>): Promise<void> {
  const parent = await mkdtemp(path.join(os.tmpdir(), 'waybill-fuzz-spool-'));
  try {
    await body(path.join(parent, 'spool'));
  } finally {
    await rm(parent, { recursive: true });
  }
}

function openIn(directory: string, encrypting = false): Promise<Spool> {
  return openSegmentSpool({
    directory,
    segmentBytes: 2000,
    keys: testKeys(encrypting),
    onFailure: (error) => expect.unreachable(error.message),
  });
}

test('whatever is appended, in whatever chunks, with whatever reopening and sweeping, reads back the same', async () => {
  await fc.assert(
    fc.asyncProperty(steps, (history) =>
      inDirectory(async (directory) => {
        let spool = await openIn(directory);
        let opened = 1;
        let kept: Kept[] = [];
        for (const step of history) {
          if (step === 'reopen') {
            await spool.close();
            // Encryption is turned on and off in turn.
            spool = await openIn(directory, opened++ % 2 === 1);
          } else if (step === 'sweep') {
            spool.decided(kept.map(({ ref }) => ref));
            const idle = await spool.idle();
            await spool.unlink(idle);
            kept = kept.filter(({ ref }) => !idle.includes(ref.segment));
          } else {
            const refs = (await Promise.all(step.append.map((entry) => spool.append([entry])))).flat();
            kept.push(...refs.map((ref, i) => ({ ref, bytes: bytesOf(step.append[i] ?? entryOf()) })));
          }
        }
        for (const { ref, bytes } of kept) expect(await readAll(await spool.read(ref))).toEqual(bytes);
        await spool.close();
      }),
    ),
    { numRuns: 100 },
  );
});

test('a flipped bit or a torn tail is found in the record it hits, and no other record suffers', async () => {
  const damage = fc.record({
    where: fc.double({ min: 0, max: 1, noNaN: true }),
    bit: fc.nat(7),
    tear: fc.boolean(),
  });
  const damaged = fc.record({
    all: fc.array(entries, { minLength: 1, maxLength: 5 }),
    encrypting: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(damaged, damage, ({ all, encrypting }, { where, bit, tear }) =>
      inDirectory(async (directory) => {
        const spool = await openSegmentSpool({
          directory,
          keys: testKeys(encrypting),
          onFailure: (error) => expect.unreachable(error.message),
        });
        const refs = await spool.append(all);
        const file = path.join(directory, '00000001.seg');
        const bytes = await readFile(file);
        const at = Math.min(Math.floor(where * bytes.length), bytes.length - 1);
        if (tear) await truncate(file, at);
        else await writeFile(file, bytes.with(at, (bytes[at] ?? 0) ^ (1 << bit)));
        for (const [i, ref] of refs.entries()) {
          const end = refs[i + 1]?.offset ?? bytes.length;
          const hit = at < end && (tear || at >= ref.offset);
          const reading = spool.read(ref).then(readAll);
          if (hit)
            await expect(reading).rejects.toMatchObject({
              code: tear ? 'content_missing' : 'content_damaged',
            });
          else expect(await reading).toEqual(bytesOf(all[i] ?? entryOf()));
        }
        await spool.close();
      }),
    ),
    { numRuns: 100 },
  );
});

const flags = fc.record({ eightBit: fc.boolean(), utf8: fc.boolean(), dotStuffing: fc.boolean() });
const record = fc.record({
  header: fc.option(fc.uint8Array({ maxLength: 2 * HEADER_BYTES }), { freq: 2 }),
  flags,
  body: fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 3 }),
  flip: fc.option(fc.nat(8 * HEADER_BYTES - 1), { freq: 2 }),
});

const records = {
  made: record,
  // An example as a whole record, or as the body of one.
  corpus: corpus('spool-record', (bytes, dice) => ({
    header: dice.once(2) ? Uint8Array.from(bytes) : null,
    flags: { eightBit: dice.once(2), utf8: dice.once(2), dotStuffing: dice.once(2) },
    body: cutAt(bytes, dice.numbers(3)).map((piece) => Uint8Array.from(piece)),
    flip: dice.once(2) ? dice.below(8 * HEADER_BYTES) : null,
  })),
};

test('the header of a record says what was written, and one that was damaged never fits its body', () =>
  fuzz('spool record', records, async ({ header: foreign, flags: given, body: pieces, flip }) => {
    const isFlipped = foreign === null && flip !== null;
    const entry = entryOf(...pieces);
    const encoded = await encodeRecord({ ...entry, content: { ...entry.content, flags: given } });
    const bytes =
      foreign === null ? Buffer.concat([encoded.header, ...encoded.chunks]) : Buffer.from(foreign);
    if (isFlipped) bytes[flip >> 3] = (bytes[flip >> 3] ?? 0) ^ (1 << (flip & 7));
    const header = decodeHeader(bytes.subarray(0, HEADER_BYTES));
    const body = bytes.subarray(HEADER_BYTES);
    const isWhole =
      header !== null && header.bodyBytes === body.length && crc32(body, header.seed) === header.checksum;
    if (foreign === null) expect(isWhole).toBe(!isFlipped);
    if (!isWhole) return false;
    const owner = decodeOwner(bytes);
    if (foreign === null) {
      expect(owner).toEqual({ messageId: entry.messageId, flags: given });
      expect(encoded.bodyBytes).toBe(body.length);
    }
    return true;
  }));
