import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeWith } from '../../../test/peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../../../test/peers/postgres.ts';
import { testKeys } from '../../../test/support/content-keys.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { bytesOf, entryOf, readAll } from '../../../test/support/spool-entry.ts';
import type { ContentRef } from '../../domain/message.ts';
import { openPostgres } from '../../store/postgres/open.ts';
import type { ContentKeys } from '../sealing.ts';
import { type Spool, WHOLE_READ_BYTES } from '../spool.ts';
import { SEGMENT_MS } from './active-segment.ts';
import { openPostgresSpool } from './postgres-spool.ts';
import { MAX_WAITING } from './writer.ts';

const MIB = 1024 * 1024;

describeWith(POSTGRES_PROGRAMS, 'contents in PostgreSQL', () => {
  let server: Postgres;
  let url: string;
  let clock: ManualClock;
  let spool: Spool;
  /** Opens it as another node. */
  let openNode: (keys: ContentKeys | null) => Promise<Spool>;
  beforeAll(async () => {
    server = await Postgres.start();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    url = await server.schema();
    clock = new ManualClock();
    const { database, store } = await openPostgres({ url, connections: 3 });
    const nodes: Spool[] = [];
    openNode = async (keys) => {
      const options = { database, node: `node-${nodes.length}`, clock, segmentBytes: 64 * MIB, keys };
      const node = await openPostgresSpool(options);
      nodes.push(node);
      return node;
    };
    spool = await openNode(null);
    return async () => {
      for (const node of nodes) await node.close();
      await store.close();
    };
  });

  /** Appends one content; its reference. */
  async function put(entry = entryOf('x'.repeat(1000))) {
    const [ref] = await spool.append([entry]);
    if (ref === undefined) throw new Error('no reference');
    return ref;
  }

  const several = (count: number, entry = entryOf('x'.repeat(1000))) =>
    Promise.all(Array.from({ length: count }, () => put(entry)));

  /** The number in the first column of the only row. */
  const count = async (sql: string) => Number(Object.values((await server.run(sql, url))[0] ?? {})[0]);

  it('lets appends at the same time share a transaction, up to its bound, in order', async () => {
    await several(150);
    expect(spool.flushes()).toBe(1);
    const refs = await several(6, entryOf(Buffer.alloc(MIB)));
    expect(spool.flushes()).toBe(3);
    expect(refs.map(({ offset }) => offset)).toEqual([150, 151, 152, 153, 154, 155]);
  });

  it('refuses what is too much to wait, and takes the rest', async () => {
    const answers = await Promise.allSettled(
      Array.from({ length: MAX_WAITING + 3 }, () => put(entryOf('x'))),
    );
    const refused = answers.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(3);
    expect(refused[0]).toMatchObject({ reason: { code: 'spool_unavailable' } });
    expect(await count('SELECT count(*) FROM contents')).toBe(MAX_WAITING);
  });

  it('keeps bytes in pieces, however they come, and reads large ones piece by piece', async () => {
    const chunks = [100_000, 1, 700_000, 262_144, 0, 300_000].map((size, place) => Buffer.alloc(size, place));
    const entry = entryOf(...chunks);
    const ref = await put(entry);
    expect(await count('SELECT max(octet_length(bytes)) FROM contents')).toBe(262_144);
    const sizes: number[] = [];
    const content = await spool.read(ref);
    for await (const piece of content.chunks()) sizes.push(piece.byteLength);
    expect(sizes).toEqual([262_144, 262_144, 262_144, 262_144, 262_144, 51_425]);
    expect((await readAll(content)).equals(bytesOf(entry))).toBe(true);
  });

  it('keeps a letter in its row, uncompressed', async () => {
    await put(entryOf('x'.repeat(7000)));
    expect(await count('SELECT pg_column_size(bytes) FROM contents')).toBeGreaterThanOrEqual(7000);
    const outside = `SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE oid = 'contents'::regclass`;
    expect(await count(outside)).toBe(0);
  });

  it('never passes damaged or mixed-up contents for good ones', async () => {
    const large = () => entryOf(Buffer.alloc(WHOLE_READ_BYTES + 1, 5));
    const [small, other] = await spool.append([entryOf('small one'), entryOf('other one')]);
    const [whole, torn, cut] = [await put(large()), await put(large()), await put(large())];
    const damage = (
      piece: number,
      at: number,
    ) => `UPDATE contents SET bytes = overlay(bytes PLACING '\\x66' FROM 5)
      WHERE piece = ${piece} AND segment = ${whole.segment} AND "offset" = ${at}`;
    await server.run(damage(4, torn.offset), url);
    await server.run(`DELETE FROM contents WHERE piece = 4 AND "offset" = ${cut.offset}`, url);
    await server.run(`UPDATE contents SET bytes = 'other two' WHERE bytes = 'other one'`, url);
    if (small === undefined || other === undefined) throw new Error('no reference');
    expect((await readAll(await spool.read(small))).toString()).toBe('small one');
    expect((await readAll(await spool.read(whole))).byteLength).toBe(WHOLE_READ_BYTES + 1);
    await expect(spool.read(other)).rejects.toMatchObject({ code: 'content_damaged' });
    await expect(spool.read({ ...small, length: 8 })).rejects.toMatchObject({ code: 'content_damaged' });
    const pieces: number[] = [];
    const reading = async () => {
      for await (const piece of (await spool.read(torn)).chunks()) pieces.push(piece.byteLength);
    };
    await server.run(damage(3, torn.offset), url);
    await expect(reading()).rejects.toMatchObject({ code: 'content_damaged' });
    expect(pieces).toHaveLength(5);
    await expect(spool.read(cut).then(readAll)).rejects.toMatchObject({ code: 'content_missing' });
  });

  it('reads in one go only what its bounds allow, each to whom it belongs', async () => {
    const entries = Array.from({ length: 100 }, (_, place) => entryOf(`letter ${place}`.repeat(place + 1)));
    const refs = await spool.append(entries);
    const wrong = { segment: refs[0]?.segment ?? 0, offset: 1000, length: 1 };
    const missing = spool.read(wrong).catch((error: unknown) => error);
    const read = await Promise.all(refs.map(async (ref) => readAll(await spool.read(ref))));
    expect(read).toEqual(entries.map(bytesOf));
    expect(await missing).toMatchObject({ code: 'content_missing' });
  });

  it('seals a segment when its time is over, also where nothing is written any more', async () => {
    const first = await put();
    spool.decided([first]);
    expect(await spool.idle()).toEqual([]);
    await clock.advance(SEGMENT_MS);
    expect(await spool.idle()).toEqual([first.segment]);
    expect(await spool.sizes([first.segment, 99])).toEqual(new Map([[first.segment, 1036]]));
    expect((await put()).segment).toBe(first.segment + 1);
  });

  it('tells what lies in a segment, page by page', async () => {
    const flags = { eightBit: true, utf8: false, dotStuffing: true };
    const entries = Array.from({ length: 450 }, (_, place) => {
      const { messageId, content } = entryOf(`${place}`);
      return { messageId, content: { ...content, flags } };
    });
    const refs = await spool.append(entries);
    const found = [];
    for await (const one of spool.records(refs[0]?.segment ?? 0)) found.push(one);
    expect(found).toEqual(
      entries.map(({ messageId }, place) => ({ messageId, content: refs[place], flags })),
    );
  });

  it('refuses for the while that the server is away, and goes on when it is back', async () => {
    const kept = await put(entryOf('kept'));
    await server.down();
    const asked = [put(), spool.read(kept), spool.idle(), spool.unlink([99])];
    for (const answer of await Promise.allSettled(asked))
      expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'spool_unavailable' } });
    await server.up();
    expect((await readAll(await spool.read(kept))).toString()).toBe('kept');
    const ref = await put(entryOf('later'));
    expect((await readAll(await spool.read(ref))).toString()).toBe('later');
  });

  describe('encrypted', () => {
    const SECRET = 'for nobody else to read';
    const encrypted = async () => {
      const [ref] = await (await openNode(testKeys())).append([entryOf(SECRET)]);
      if (ref === undefined) throw new Error('no reference');
      return ref;
    };
    const textAt = async (node: Spool, ref: ContentRef) => (await readAll(await node.read(ref))).toString();

    it('are read by nodes that encrypt nothing themselves, and the other way round', async () => {
      const other = await openNode(testKeys());
      const refs = [await encrypted(), await put(entryOf(SECRET))];
      for (const node of [other, await openNode(testKeys(false))])
        for (const ref of refs) expect(await textAt(node, ref)).toBe(SECRET);
      const stored = `SELECT position('${SECRET}' IN bytes) AS at FROM contents ORDER BY 1`;
      expect((await server.run(stored, url)).map(({ at }) => Number(at))).toEqual([0, 1]);
      expect(await other.encryption()).toEqual({
        encrypting: true,
        keyId: '0000000000000001',
        segments: 2,
        encrypted: 1,
      });
    });

    it('ask for the key that they are under, and say which that is', async () => {
      const ref = await encrypted();
      for (const [keys, ours] of [
        [testKeys(true, 2), 'the present one is 0000000000000002'],
        [null, 'there is no key'],
      ] as const)
        await expect((await openNode(keys)).read(ref)).rejects.toMatchObject({
          code: 'spool_other_key',
          message: expect.stringMatching(`${ours}, theirs is 0000000000000001.*docs/encryption.md`),
        });
    });

    it('are damaged where their key is', async () => {
      const ref = await encrypted();
      await server.run('UPDATE spool_segments SET wrapped_key = set_byte(wrapped_key, 60, 0)', url);
      await expect((await openNode(testKeys())).read(ref)).rejects.toMatchObject({ code: 'content_damaged' });
    });

    it('are bound to their place: those of the same message from another do not pass', async () => {
      const node = await openNode(testKeys());
      const entry = entryOf('first');
      const [one, two] = await node.append([entry, { ...entry, content: entryOf('later').content }]);
      if (one === undefined || two === undefined) throw new Error('no places');
      const exchange = () => server.run('UPDATE contents SET "offset" = 7 - "offset"', url);
      await exchange();
      for (const { segment, offset, length } of [one, two])
        await expect(node.read({ segment, offset: 7 - offset, length })).rejects.toMatchObject({
          code: 'content_damaged',
        });
      await exchange();
      expect([await textAt(node, one), await textAt(node, two)]).toEqual(['first', 'later']);
    });
  });
});
