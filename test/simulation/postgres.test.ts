import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { seedsOr } from './seeds.ts';
import { play } from './world.ts';

/** The same histories over a real PostgreSQL. Its own work takes no virtual time. */
describeWith(POSTGRES_PROGRAMS, 'histories of several engines over one PostgreSQL', () => {
  let server: Postgres;
  beforeAll(async () => {
    server = await Postgres.start();
  });
  afterAll(() => server.stop());

  test.each(seedsOr('1-1'))('seed %i keeps every promise', { timeout: 300_000 }, async (seed) => {
    try {
      const stores = await openPostgres({ url: await server.schema(), allowUnsafe: true });
      const history = await play(seed, stores);
      expect(history.acknowledged).toBeGreaterThan(0);
      expect(history.taken).toBeGreaterThan(0);
    } catch (error) {
      const command = `WAYBILL_SEEDS=${seed}-${seed} npx vitest run test/simulation/postgres.test.ts`;
      throw new Error(`replay: ${command}`, { cause: error });
    }
  });
});
