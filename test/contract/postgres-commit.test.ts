import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Database, type Queries } from '../../src/postgres/database.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS } from '../peers/postgres.ts';
import { CommitMarks } from '../support/commit-marks.ts';

const WAYS = [
  ['that waits for its flush', false],
  ['that is told of before its flush', true],
] as const;

/** A connection that breaks between a commit and its answer: who asked must learn what happened, or that nobody knows. */
describeWith(POSTGRES_PROGRAMS, 'a commit', () => {
  describe.each(WAYS)('%s, whose answer is lost', (_, isTold) => {
    let marks: CommitMarks;
    beforeAll(async () => {
      marks = await CommitMarks.start();
    });
    afterAll(() => marks.stop());
    beforeEach(() => marks.renew(2));

    const mark = () => marks.mark(isTold);
    /** How often it may be there after a crash: what was not flushed is lost, or not. */
    const kept = isTold ? [0, 1] : [1];

    it('is known to have happened', async () => {
      const befell = marks.proxy.next('after');
      expect(await mark()).toBe('done');
      await befell;
      expect([marks.runs, await marks.count()]).toEqual([1, 1]);
      expect(marks.database.commits).toBe(2);
    });

    it('is done again when it never reached the server', async () => {
      const befell = marks.proxy.next('before');
      expect(await mark()).toBe('done');
      await befell;
      expect([marks.runs, await marks.count()]).toEqual([2, 1]);
    });

    it('is done again when the server still waits for it, once that has been ended there', async () => {
      const befell = marks.proxy.next('unnoticed');
      expect(await mark()).toBe('done');
      await befell;
      expect([marks.runs, await marks.count()]).toEqual([2, 1]);
      const idle = `SELECT 1 FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'`;
      expect(await marks.server.run(idle)).toEqual([]);
    });

    it('is not guessed at after a crash, in which its number may have been given to another', async () => {
      const befell = marks.proxy.next('after', async () => {
        // Else it might be lost, which the server would know, and be done again.
        await marks.server.run('CHECKPOINT');
        await marks.crash();
      });
      await expect(mark()).rejects.toMatchObject({ code: 'store_unavailable' });
      await befell;
      expect([marks.runs, await marks.count()]).toEqual([1, 1]);
      expect(await mark()).toBe('done');
    });

    it('is done again after a crash of which the server knows that it did not survive it', async () => {
      const befell = marks.proxy.next('before', () => marks.crash());
      expect(await mark()).toBe('done');
      await befell;
      expect([marks.runs, await marks.count()]).toEqual([2, 1]);
    });

    it('stays unknown while the server cannot be asked', async () => {
      let now = 0;
      const sleep = async (ms: number) => {
        now += ms;
      };
      await marks.database.close();
      marks.database = new Database({ url: marks.proxy.url(), clock: { mono: () => now, sleep } });
      const befell = marks.proxy.next('after', () => marks.server.down());
      await expect(mark()).rejects.toMatchObject({ code: 'store_unavailable' });
      await befell;
      await marks.server.up();
      expect(marks.runs).toBe(1);
      expect(kept).toContain(await marks.count());
      expect(now).toBeGreaterThanOrEqual(5_000);
    });

    it('loses no read over several states', async () => {
      const read = () => marks.database.inSnapshot((db) => db.rows<{ one: number }>('SELECT 1 AS one'));
      for (const kind of ['before', 'after'] as const) {
        const befell = marks.proxy.next(kind);
        expect(await read()).toEqual([{ one: 1 }]);
        await befell;
      }
    });

    it('is never lost, and never made twice, while the server is killed again and again', async () => {
      const direct = new Database({ url: marks.server.url(), connections: 4 });
      const [done, inDoubt] = [new Set<number>(), new Set<number>()];
      let next = 0;
      let isOver = false;
      const work = async () => {
        while (!isOver) {
          const number = next++;
          try {
            const insert = (db: Queries) => db.run('INSERT INTO marks VALUES ($1)', [String(number)]);
            await direct.transact(insert, isTold ? { committed: () => {} } : {});
            done.add(number);
          } catch (error) {
            expect(error).toMatchObject({ code: 'store_unavailable' });
            inDoubt.add(number);
          }
        }
      };
      const workers = Array.from({ length: 4 }, work);
      for (let kills = 0; kills < 5; kills++) {
        const enough = done.size + 50;
        await expect.poll(() => done.size, { timeout: 60_000 }).toBeGreaterThan(enough);
        await marks.crash();
      }
      isOver = true;
      await Promise.all(workers);
      const made = (await marks.server.run('SELECT mark FROM marks')).map(({ mark }) => Number(mark));
      expect(new Set(made).size).toBe(made.length);
      expect([...done].filter((number) => !made.includes(number))).toEqual([]);
      expect(made.filter((number) => !done.has(number) && !inDoubt.has(number))).toEqual([]);
      await direct.close();
    });
  });
});
