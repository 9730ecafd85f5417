import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { tell, times } from '../support/proof.ts';
import { sumOf } from './histories.ts';
import type { History } from './history.ts';
import { seedsOr } from './seeds.ts';
import { play } from './world.ts';

const MINUTE = 60_000;
/** Of trouble: a whole hour where seeds are asked for, and five minutes in what every change must pass. */
const MINUTES = times('simulated_minutes', process.env['WAYBILL_SEEDS'] === undefined ? 5 : 60);

/** The same histories over a real PostgreSQL. Its own work takes no virtual time. */
describeWith(POSTGRES_PROGRAMS, 'histories of several engines over one PostgreSQL', () => {
  const histories: History[] = [];
  let server: Postgres;
  beforeAll(async () => {
    server = await Postgres.start();
  });
  afterAll(() => server.stop());

  const seeds = seedsOr('1-1');
  test.each(seeds)('seed %i keeps every promise', { timeout: 1_800_000 }, async (seed) => {
    try {
      const stores = await openPostgres({ url: await server.schema(), allowUnsafe: true });
      const history = await play(seed, stores, MINUTES * MINUTE);
      expect(history.acknowledged).toBeGreaterThan(0);
      expect(history.taken).toBeGreaterThan(0);
      histories.push(history);
    } catch (error) {
      const asked = `WAYBILL_TIMES_SIMULATED_MINUTES=${MINUTES} WAYBILL_SEEDS=${seed}-${seed}`;
      throw new Error(`replay: ${asked} npx vitest run test/simulation/postgres.test.ts`, { cause: error });
    }
  });

  test('all of them hold', () => {
    expect(histories).toHaveLength(seeds.length);
    tell('simulated histories over PostgreSQL', { seeds: histories.length, ...sumOf(histories) });
  });
});
