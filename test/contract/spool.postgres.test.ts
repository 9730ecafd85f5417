import { afterAll, beforeAll } from 'vitest';
import { LINGER_MS } from '../../src/spool/postgres/all-segments.ts';
import { openPostgresSpool } from '../../src/spool/postgres/postgres-spool.ts';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { holdsTheLaws } from './spool-laws.ts';

describeWith(POSTGRES_PROGRAMS, 'the spool in PostgreSQL', () => {
  let server: Postgres;
  beforeAll(async () => {
    server = await Postgres.start();
  });
  afterAll(() => server.stop());

  holdsTheLaws('the spool in PostgreSQL', async () => {
    const { database, store } = await openPostgres({ url: await server.schema() });
    const clock = new ManualClock();
    let starts = 0;
    return {
      open: () => openPostgresSpool({ database, node: `node-${starts++}`, clock, segmentBytes: 4096 }),
      linger: () => clock.advance(LINGER_MS),
      end: () => store.close(),
    };
  });
});
