import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { Database } from '../../src/postgres/database.ts';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS } from '../peers/postgres.ts';
import { CommitMarks } from '../support/commit-marks.ts';

/** A commit lets go of its locks before it is flushed, and is done when it is. */
describeWith(POSTGRES_PROGRAMS, 'a commit that others see before it is flushed', () => {
  let marks: CommitMarks;
  beforeAll(async () => {
    marks = await CommitMarks.start();
    // What nobody asks to be flushed is not, for so long.
    await marks.server.run("ALTER SYSTEM SET wal_writer_delay = '10s'");
    await marks.crash();
  });
  afterAll(() => marks.stop());
  // One that is lost is answered for by none of the database's own.
  beforeEach(() => marks.renew(1));

  const mark = (on = marks.database) => marks.mark(true, on);
  const crash = () => marks.crash();

  it("is seen by others, and in nobody's way, but not done while its flush is not answered", async () => {
    const meanwhile: unknown[] = [];
    let isDone = false;
    const befell = marks.proxy.next('unflushed', async () => {
      await expect.poll(() => marks.told).toBe(1);
      // Whoever still held the row would make this wait.
      const row = await marks.server.run("UPDATE marks SET mark = 'changed' RETURNING mark");
      meanwhile.push(row, isDone);
    });
    await mark().then(() => {
      isDone = true;
    });
    await befell;
    expect(meanwhile).toEqual([[{ mark: 'changed' }], false]);
  });

  it('is done when its connection breaks before it was flushed: another has flushed it', async () => {
    const befell = marks.proxy.next('unflushed');
    expect(await mark()).toBe('done');
    await befell;
    await crash();
    expect([marks.runs, marks.told, await marks.count()]).toEqual([1, 1, 1]);
  });

  it('is neither taken for done nor done again when the server crashes before it was flushed', async () => {
    const befell = marks.proxy.next('unflushed', crash);
    await expect(mark()).rejects.toMatchObject({ code: 'store_unavailable' });
    await befell;
    expect([marks.runs, marks.told, await marks.count()]).toEqual([1, 1, 0]);
    expect(await mark()).toBe('done');
  });

  it('is not taken for done by what is flushed after a crash', async () => {
    const befell = marks.proxy.next('unflushed', async () =>
      marks.proxy.before('pg_logical_emit_message(true', crash),
    );
    await expect(mark()).rejects.toMatchObject({ code: 'store_unavailable' });
    await befell;
    expect([marks.runs, await marks.count()]).toEqual([1, 0]);
  });

  it('is on stable storage before a repeat is answered by it, whoever made it', async () => {
    const stores = await openPostgres({ url: await marks.server.schema() });
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
    await marks.server.run(`CREATE ROLE plain LOGIN; GRANT ALL ON marks TO plain;
      REVOKE EXECUTE ON FUNCTION pg_logical_emit_message(boolean, text, text) FROM PUBLIC`);
    const plain = new Database({ url: marks.server.url().replace('waybill@', 'plain@') });
    expect(await mark(plain)).toBe('done');
    expect([marks.told, await marks.count()]).toEqual([0, 1]);
    await plain.flush();
    await plain.close();
    await marks.server.run(
      'GRANT EXECUTE ON FUNCTION pg_logical_emit_message(boolean, text, text) TO PUBLIC',
    );
    const other = new Database({ url: marks.server.url().replace('waybill@', 'plain@') });
    await mark(other);
    expect(marks.told).toBe(1);
    await other.close();
  });
});
