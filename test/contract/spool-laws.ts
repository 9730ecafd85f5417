import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Spool, WHOLE_READ_BYTES } from '../../src/spool/spool.ts';
import { bytesOf, entryOf, readAll } from '../support/spool-entry.ts';

/** Where a spool lies. */
export interface SpoolHarness {
  /** Opens the same spool again and again; a segment takes few messages of a kilobyte. */
  open(): Promise<Spool>;
  /** Lets so much time pass that what was unlinked may be removed, where it is left for those who read it still. */
  linger(): Promise<void>;
  end(): Promise<void>;
}

/** The laws of `spool.ts`, for any implementation. A small capacity lets segments fill quickly. */
export function holdsTheLaws(name: string, prepare: () => Promise<SpoolHarness>): void {
  describe(`${name} holds the laws of the spool`, () => {
    let harness: SpoolHarness;
    let spool: Spool;
    beforeEach(async () => {
      harness = await prepare();
      spool = await harness.open();
    });
    afterEach(async () => {
      await spool.close();
      await harness.end();
    });

    /** Appends one after the other, each a kilobyte, so that several segments are used. */
    const fill = async () => {
      const refs = [];
      for (let i = 0; i < 12; i++) refs.push(...(await spool.append([entryOf('x'.repeat(1024))])));
      return refs;
    };

    test('gives back exactly what was appended, one reference each, in order', async () => {
      const entries = [entryOf('a\r\n'), entryOf('b', '', 'c'), entryOf(), entryOf(Buffer.alloc(70_000, 7))];
      const refs = await spool.append(entries);
      expect(refs.map((ref) => ref.length)).toEqual(entries.map((entry) => entry.content.sizeBytes));
      for (const [i, ref] of refs.entries()) {
        const content = await spool.read(ref);
        expect(content.sizeBytes).toBe(ref.length);
        expect(await readAll(content)).toEqual(bytesOf(entries[i] ?? entryOf()));
      }
    });

    test('contents may be iterated more than once, small ones and large ones', async () => {
      const entries = [
        entryOf('small'),
        entryOf(Buffer.alloc(WHOLE_READ_BYTES, 1), Buffer.alloc(300_001, 2)),
      ];
      for (const [i, ref] of (await spool.append(entries)).entries()) {
        const content = await spool.read(ref);
        expect((await readAll(content)).equals(bytesOf(entries[i] ?? entryOf()))).toBe(true);
        expect((await readAll(content)).equals(bytesOf(entries[i] ?? entryOf()))).toBe(true);
      }
    });

    test('gives back a part, wherever it begins and however long it is', async () => {
      const bytes = Buffer.from(Array.from({ length: 700_001 }, (_, i) => (i * 2_654_435_761) >>> 24));
      const large = Buffer.alloc(WHOLE_READ_BYTES + 300_000, 5);
      const refs = await spool.append([entryOf(bytes), entryOf('abc', large)]);
      const parts = [
        [0, 0, 1],
        [0, 0, 700_001],
        [0, 700_000, 1],
        [0, 262_143, 2],
        [0, 262_144, 262_144],
        [0, 300, 400_000],
        [1, 2, WHOLE_READ_BYTES + 1],
      ] as const;
      for (const [place, start, length] of parts) {
        const [one, two] = refs;
        const ref = place === 0 ? one : two;
        const all = place === 0 ? bytes : Buffer.concat([Buffer.from('abc'), large]);
        const wanted = all.subarray(start, start + length);
        const content = ref && (await spool.read(ref, { start, length, checksum: crc32(wanted) }));
        expect(content?.sizeBytes).toBe(length);
        expect(content && (await readAll(content)).equals(wanted)).toBe(true);
      }
    });

    test('a part that is not what was written, or not there, is damaged', async () => {
      const [ref] = await spool.append([entryOf(Buffer.alloc(WHOLE_READ_BYTES + 9, 1))]);
      if (ref === undefined) throw new Error('no reference');
      const whole = { start: 0, length: WHOLE_READ_BYTES + 9, checksum: 1 };
      for (const part of [{ ...whole, length: 9 }, whole, { ...whole, start: 10 }])
        await expect((async () => readAll(await spool.read(ref, part)))()).rejects.toMatchObject({
          code: 'content_damaged',
        });
    });

    test('callers at the same time each get their own contents', async () => {
      const entries = Array.from({ length: 40 }, (_, i) => entryOf(`message ${i}`.repeat(i + 1)));
      const answers = await Promise.all(entries.map((entry) => spool.append([entry])));
      const contents = await Promise.all(answers.flat().map(async (ref) => readAll(await spool.read(ref))));
      expect(contents).toEqual(entries.map(bytesOf));
    });

    test('what was appended is there after closing and opening', async () => {
      const entry = entryOf('kept');
      const [ref] = await spool.append([entry]);
      await spool.close();
      spool = await harness.open();
      await spool.append([entryOf('later')]);
      expect(ref && (await readAll(await spool.read(ref)))).toEqual(bytesOf(entry));
    });

    test('a segment with an undecided append is never idle, and cannot be unlinked', async () => {
      const refs = await fill();
      const [first] = refs;
      expect(await spool.idle()).toEqual([]);
      spool.decided(refs.filter((ref) => ref !== first));
      const idle = await spool.idle();
      expect(idle.length).toBeGreaterThan(0);
      expect(idle).not.toContain(first?.segment);
      await expect(spool.unlink([first?.segment ?? 0])).rejects.toThrow();
      expect(first && (await spool.read(first)).sizeBytes).toBe(1024);
    });

    test('an unlinked segment is gone, others stay, and its number does not come back', async () => {
      const refs = await fill();
      spool.decided(refs);
      const idle = await spool.idle();
      await spool.unlink(idle);
      expect(await spool.idle()).toEqual([]);
      await harness.linger();
      await spool.unlink(idle);
      for (const ref of refs) {
        const reading = spool.read(ref);
        if (idle.includes(ref.segment))
          await expect(reading).rejects.toMatchObject({ code: 'content_missing' });
        else expect((await reading).sizeBytes).toBe(1024);
      }
      await spool.close();
      spool = await harness.open();
      const later = await fill();
      expect(later.some((ref) => idle.includes(ref.segment))).toBe(false);
    });

    test('contents being read stay readable to the end while their segment is unlinked', async () => {
      const entry = entryOf(Buffer.alloc(2 * WHOLE_READ_BYTES, 3));
      const [ref] = await spool.append([entry]);
      spool.decided([...(ref ? [ref] : []), ...(await spool.append([entry]))]);
      const content = ref && (await spool.read(ref));
      let unlinked = false;
      const pieces: Uint8Array[] = [];
      for await (const piece of content?.chunks() ?? []) {
        pieces.push(piece);
        if (!unlinked) await spool.unlink([ref?.segment ?? 0]);
        unlinked = true;
      }
      expect(Buffer.concat(pieces).equals(bytesOf(entry))).toBe(true);
    });

    test('a reference to nothing is content_missing', async () => {
      const [ref] = await spool.append([entryOf('x')]);
      const nowhere = [
        { segment: 999, offset: 0, length: 1 },
        { segment: ref?.segment ?? 0, offset: 10_000, length: 1 },
      ];
      for (const wrong of nowhere)
        await expect(spool.read(wrong)).rejects.toMatchObject({ code: 'content_missing' });
    });

    test('says how much room there is', async () => {
      const space = await spool.space();
      expect(space === null || (space.freeBytes > 0 && space.totalBytes >= space.freeBytes)).toBe(true);
    });

    test('closing finishes what was asked before, and refuses what is asked after', async () => {
      const entry = entryOf('last');
      const appending = spool.append([entry]);
      await new Promise(setImmediate);
      await spool.close();
      const [ref] = await appending;
      await expect(spool.append([entryOf('late')])).rejects.toMatchObject({ code: 'spool_closed' });
      await expect(spool.read({ segment: 1, offset: 0, length: 1 })).rejects.toMatchObject({
        code: 'spool_closed',
      });
      spool = await harness.open();
      expect(ref && (await readAll(await spool.read(ref)))).toEqual(bytesOf(entry));
    });
  });
}
