import { afterAll, beforeAll } from 'vitest';
import { LINGER_MS } from '../../src/spool/postgres/all-segments.ts';
import { openPostgresSpool } from '../../src/spool/postgres/postgres-spool.ts';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { testKeys } from '../support/content-keys.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { holdsTheLaws } from './spool-laws.ts';

describeWith(POSTGRES_PROGRAMS, 'the spool in PostgreSQL', () => {
  let server: Postgres;
  beforeAll(async () => {
    server = await Postgres.start();
  });
  afterAll(() => server.stop());

  for (const [name, keys] of [
    ['the spool in PostgreSQL', null],
    ['the encrypted spool in PostgreSQL', testKeys()],
  ] as const)
    holdsTheLaws(name, async () => {
      const { database, store } = await openPostgres({ url: await server.schema() });
      const clock = new ManualClock();
      const options = { database, clock, segmentBytes: 4096, keys };
      let starts = 0;
      return {
        open: () => openPostgresSpool({ ...options, node: `node-${starts++}` }),
        linger: () => clock.advance(LINGER_MS),
        end: () => store.close(),
      };
    });
});
