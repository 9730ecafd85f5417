import fc from 'fast-check';
import { afterAll, beforeAll, test } from 'vitest';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { Declaring, declaration, roundTrips } from '../support/declared.ts';
import { tell, times } from '../support/proof.ts';

const RUNS = times('round_trips', 2);

describeWith(POSTGRES_PROGRAMS, 'a configuration over PostgreSQL', () => {
  let server: Postgres;
  let here: Declaring;
  let there: Declaring;
  beforeAll(async () => {
    server = await Postgres.start();
    here = new Declaring(`database: { url: "${await server.schema()}" }\n`);
    there = new Declaring();
    for (const one of [here, there]) await one.open();
  });
  afterAll(async () => {
    for (const one of [here, there]) await one.close();
    await server.stop();
  });

  test('makes its way to the data directory of another installation, and from there back', async () => {
    let [from, to] = [here, there];
    await fc.assert(
      fc.asyncProperty(declaration, async (declared) => {
        await roundTrips(declared, from, to);
        [from, to] = [to, from];
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
    tell('configuration round trips', { files: RUNS });
  });
});
