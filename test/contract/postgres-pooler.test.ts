import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { openPostgres, type PostgresStores } from '../../src/store/postgres/open.ts';
import { describeWith } from '../peers/need.ts';
import { PGBOUNCER_PROGRAMS, PgBouncer, POOL_SIZE } from '../peers/pgbouncer.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import {
  at,
  beginAll,
  DELIVERED,
  HOUR,
  message,
  recipient,
  refTo,
  settlement,
  T0,
} from './store/fixtures.ts';

/** Behind a pooler every transaction may be on another session, which others use in between. */
describeWith(
  [...POSTGRES_PROGRAMS, ...PGBOUNCER_PROGRAMS],
  'the store behind a transaction-mode pooler',
  () => {
    let server: Postgres;
    let pooler: PgBouncer;
    let stores: PostgresStores;
    let schemas = 0;
    beforeAll(async () => {
      server = await Postgres.start();
      pooler = await PgBouncer.start(server);
    });
    afterAll(async () => {
      await pooler.stop();
      await server.stop();
    });
    beforeEach(async () => {
      stores = await openPostgres({ url: pooler.url(), schema: `behind_${schemas++}`, connections: 8 });
    });
    afterEach(() => stores.store.close());

    it('sees that it is behind one, and that it is not', async () => {
      expect(stores.database.pooled).toBe(true);
      const direct = await openPostgres({ url: server.url(), schema: 'direct' });
      expect(direct.database.pooled).toBe(false);
      await direct.store.close();
    });

    it('runs all that runs at once, and leaves nothing behind in sessions that are not its own', async () => {
      const { store, views } = stores;
      const lanes = ['w', 'x', 'y', 'z'];
      const records = lanes.flatMap((lane) =>
        Array.from({ length: 20 }, () => message({ deliveries: [recipient({ lane, relay: lane })] })),
      );
      await Promise.all(records.map((record) => store.accept([record], at())));
      const work = async (lane: string) => {
        const [lease] = await store.acquireLanes([lane], 0, T0 + HOUR, at());
        if (lease === undefined) throw new Error('no lease');
        const request = { ...lease, limit: 50, maxRecipients: 50, order: 'high_first' as const };
        const [answer] = await store.claim([request], at());
        const units = (answer?.units ?? []).map(({ messageId }) => refTo(messageId, lease));
        const settled = units.map(async (unit) => {
          await beginAll(store, [unit], at());
          return store.settle([settlement(unit, [DELIVERED])], at());
        });
        return (await Promise.all(settled)).length;
      };
      const reads = Array.from({ length: 30 }, () => views.figures(T0));
      expect(await Promise.all(lanes.map(work))).toEqual([20, 20, 20, 20]);
      await Promise.all(reads);
      expect((await views.figures(T0)).today).toMatchObject({ received: 80, delivered: 80 });

      const others = Array.from({ length: POOL_SIZE }, () => new Client({ connectionString: pooler.url() }));
      const left = others.map(async (client) => {
        await client.connect();
        // All at once, so that each has another of the sessions.
        await client.query('BEGIN');
        const { rows } = await client.query(LEFT_BEHIND);
        await client.query('COMMIT');
        await client.end();
        return rows;
      });
      const clean = { path: '"$user", public', timeout: '0', statements: 0 };
      expect((await Promise.all(left)).flat()).toEqual(others.map(() => clean));
    });

    it('gets over a restart of the server behind it', async () => {
      await stores.store.accept([message()], at());
      await server.down();
      await server.up();
      expect(await stores.store.accept([message()], at())).toMatchObject([{ kind: 'accepted' }]);
      expect((await stores.views.figures(T0)).today.received).toBe(2);
    });
  },
);

const LEFT_BEHIND = `SELECT current_setting('search_path') AS path, current_setting('statement_timeout') AS timeout,
  (SELECT count(*)::integer FROM pg_prepared_statements) AS statements`;
