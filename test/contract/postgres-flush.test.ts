import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { Database } from '../../src/postgres/database.ts';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { PostgresProxy } from '../peers/postgres-proxy.ts';

/** A commit lets go of its locks before it is flushed, and is done when it is. */
describeWith(POSTGRES_PROGRAMS, 'a commit that others see before it is flushed', () => {
  let server: Postgres;
  let proxy: PostgresProxy;
  let database: Database;
  let runs = 0;
  let told = 0;
  beforeAll(async () => {
    server = await Postgres.start();
    await server.run('CREATE TABLE marks (mark text)');
    // What nobody asks to be flushed is not, for so long.
    await server.run("ALTER SYSTEM SET wal_writer_delay = '10s'");
    await crash();
    proxy = await PostgresProxy.start(server);
  });
  afterAll(async () => {
    await proxy.stop();
    await server.stop();
  });
  beforeEach(async () => {
    runs = 0;
    told = 0;
    await server.run('TRUNCATE marks');
    // One that is lost is answered for by none of these.
    database = new Database({ url: proxy.url(), connections: 1 });
    await database.transact((db) => db.rows('SELECT 1'));
  });
  afterEach(() => database.close());

  const mark = (on = database) =>
    on.transact(
      async (db) => {
        runs++;
        await db.run(`INSERT INTO marks VALUES ('made')`);
        return 'done';
      },
      { committed: () => void told++ },
    );
  /** What is not flushed is lost. */
  const crash = async () => {
    await server.down();
    await server.up();
  };
  const marks = async () => (await server.run('SELECT mark FROM marks')).length;
  it("is seen by others, and in nobody's way, but not done while its flush is not answered", async () => {
    const meanwhile: unknown[] = [];
    let isDone = false;
    const befell = proxy.next('unflushed', async () => {
      await expect.poll(() => told).toBe(1);
      // Whoever still held the row would make this wait.
      const row = await server.run("UPDATE marks SET mark = 'changed' RETURNING mark");
      meanwhile.push(row, isDone);
    });
    await mark().then(() => {
      isDone = true;
    });
    await befell;
    expect(meanwhile).toEqual([[{ mark: 'changed' }], false]);
  });

  it('is done when its connection breaks before it was flushed: another has flushed it', async () => {
    const befell = proxy.next('unflushed');
    expect(await mark()).toBe('done');
    await befell;
    await crash();
    expect([runs, told, await marks()]).toEqual([1, 1, 1]);
  });

  it('is neither taken for done nor done again when the server crashes before it was flushed', async () => {
    const befell = proxy.next('unflushed', crash);
    await expect(mark()).rejects.toMatchObject({ code: 'store_unavailable' });
    await befell;
    expect([runs, told, await marks()]).toEqual([1, 1, 0]);
    expect(await mark()).toBe('done');
  });

  it('is not taken for done by what is flushed after a crash', async () => {
    const befell = proxy.next('unflushed', async () => proxy.before('pg_logical_emit_message(true', crash));
    await expect(mark()).rejects.toMatchObject({ code: 'store_unavailable' });
    await befell;
    expect([runs, await marks()]).toEqual([1, 0]);
  });

  it('is on stable storage before a repeat is answered by it, whoever made it', async () => {
    const stores = await openPostgres({ url: await server.schema() });
    const columns = 'key_id, idem_key, hash, id, created_at';
    await stores.database.transact(async (db) => {
      await db.run(`SET LOCAL synchronous_commit = off`);
      await db.run(`INSERT INTO idempotency (${columns}) VALUES ('key', 'again', 'h', 'msg', 5)`);
    });
    const remembered = { id: 'msg', hash: 'h' };
    expect(await stores.views.remembered('key', 'again', 5)).toEqual(remembered);
    await crash();
    expect(await stores.views.remembered('key', 'again', 5)).toEqual(remembered);
    await stores.store.close();
  });

  it('waits for its flush where that may not be asked for by itself', async () => {
    await server.run(`CREATE ROLE plain LOGIN; GRANT ALL ON marks TO plain;
      REVOKE EXECUTE ON FUNCTION pg_logical_emit_message(boolean, text, text) FROM PUBLIC`);
    const plain = new Database({ url: server.url().replace('waybill@', 'plain@') });
    expect(await mark(plain)).toBe('done');
    expect([told, await marks()]).toEqual([0, 1]);
    await plain.flush();
    await plain.close();
    await server.run('GRANT EXECUTE ON FUNCTION pg_logical_emit_message(boolean, text, text) TO PUBLIC');
    const other = new Database({ url: server.url().replace('waybill@', 'plain@') });
    await mark(other);
    expect(told).toBe(1);
    await other.close();
  });
});
