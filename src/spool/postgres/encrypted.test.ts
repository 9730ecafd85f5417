import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '../../../test/peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../../../test/peers/postgres.ts';
import { testKeys } from '../../../test/support/content-keys.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { bytesOf, entryOf, readAll } from '../../../test/support/spool-entry.ts';
import type { ContentRef } from '../../domain/message.ts';
import type { Database } from '../../postgres/database.ts';
import { openPostgres } from '../../store/postgres/open.ts';
import type { ContentKeys } from '../sealing.ts';
import type { Spool } from '../spool.ts';
import { openPostgresSpool } from './postgres-spool.ts';

const SECRET = 'for nobody else to read';

describeWith(POSTGRES_PROGRAMS, 'encrypted contents in PostgreSQL', () => {
  let server: Postgres;
  let url: string;
  let database: Database;
  let clock: ManualClock;
  let nodes: Spool[];
  beforeAll(async () => {
    server = await Postgres.start();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    url = await server.schema();
    clock = new ManualClock();
    nodes = [];
    const opened = await openPostgres({ url, connections: 3 });
    database = opened.database;
    return async () => {
      for (const node of nodes) await node.close();
      await opened.store.close();
    };
  });

  async function node(keys: ContentKeys | null): Promise<Spool> {
    const spool = await openPostgresSpool({ database, node: `node-${nodes.length}`, clock, keys });
    nodes.push(spool);
    return spool;
  }

  async function put(spool: Spool, entry = entryOf(SECRET)): Promise<ContentRef> {
    const [ref] = await spool.append([entry]);
    if (ref === undefined) throw new Error('no reference');
    return ref;
  }

  const textAt = async (spool: Spool, ref: ContentRef) => (await readAll(await spool.read(ref))).toString();

  it('are read by nodes that encrypt nothing themselves, and the other way round', async () => {
    const one = await node(testKeys());
    const other = await node(testKeys(false));
    const [sealed, plain] = [await put(one), await put(other)];
    for (const spool of [one, other])
      for (const ref of [sealed, plain]) expect(await textAt(spool, ref)).toBe(SECRET);
    const stored = await server.run(
      `SELECT position('${SECRET}' IN bytes) AS at FROM contents ORDER BY 1`,
      url,
    );
    expect(stored.map((row) => Number(Object.values(row)[0]))).toEqual([0, 1]);
    expect(await one.encryption()).toEqual({
      encrypting: true,
      keyId: '0000000000000001',
      segments: 2,
      encrypted: 1,
    });
  });

  it('ask for the key that they are under, and say which that is', async () => {
    const ref = await put(await node(testKeys()));
    for (const [keys, ours] of [
      [testKeys(true, 2), 'the present one is 0000000000000002'],
      [null, 'there is no key'],
    ] as const)
      await expect((await node(keys)).read(ref)).rejects.toMatchObject({
        code: 'spool_other_key',
        message: expect.stringMatching(`${ours}, theirs is 0000000000000001.*docs/encryption.md`),
      });
  });

  it('are damaged where their key is', async () => {
    const ref = await put(await node(testKeys()));
    await server.run('UPDATE spool_segments SET wrapped_key = set_byte(wrapped_key, 60, 0)', url);
    await expect((await node(testKeys())).read(ref)).rejects.toMatchObject({ code: 'content_damaged' });
  });

  it('are bound to their place: those of the same message from another do not pass', async () => {
    const spool = await node(testKeys());
    const entry = entryOf('first');
    const [one, two] = await spool.append([entry, { ...entry, content: entryOf('later').content }]);
    if (one === undefined || two === undefined) throw new Error('no places');
    await server.run('UPDATE contents SET "offset" = 7 - "offset"', url);
    for (const { segment, offset, length } of [one, two])
      await expect(spool.read({ segment, offset: 7 - offset, length })).rejects.toMatchObject({
        code: 'content_damaged',
      });
    await server.run('UPDATE contents SET "offset" = 7 - "offset"', url);
    expect([await textAt(spool, one), await textAt(spool, two)]).toEqual(['first', 'later']);
  });

  it('are read in parts that begin and end anywhere, each checked', async () => {
    const entry = entryOf(Buffer.alloc(700_000, 'some of it'));
    const ref = await put(await node(testKeys()), entry);
    const reader = await node(testKeys(false));
    for (const [start, length] of [
      [0, 1],
      [65_535, 2],
      [262_100, 300_000],
      [699_999, 1],
      [655_360, 0],
    ] as const) {
      const bytes = bytesOf(entry).subarray(start, start + length);
      const part = await reader.read(ref, { start, length, checksum: crc32(bytes) });
      expect((await readAll(part)).equals(bytes)).toBe(true);
    }
    await expect(reader.read(ref, { start: 699_999, length: 2, checksum: 0 })).rejects.toMatchObject({
      code: 'content_damaged',
    });
  });
});
