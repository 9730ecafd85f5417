import { afterAll, beforeAll } from 'vitest';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { MemoryCluster } from '../simulation/memory-cluster.ts';
import { clusterLaws } from './cluster-laws.ts';
import { T0 } from './store/fixtures.ts';

clusterLaws('nodes of a simulation', async () => {
  const { store, views } = openSqlite(':memory:');
  const cluster = new MemoryCluster(views, () => T0);
  return { store, door: async () => cluster.door(), close: () => store.close() };
});

describeWith(POSTGRES_PROGRAMS, 'PostgreSQL', () => {
  let server: Postgres;
  beforeAll(async () => {
    server = await Postgres.start();
  });
  afterAll(() => server.stop());

  clusterLaws('nodes over it', async () => {
    const url = await server.schema();
    const open = () => openPostgres({ url, connections: 2 });
    const first = await open();
    const stores = [first.store];
    return {
      store: first.store,
      door: async () => {
        const { store, cluster } = await open();
        stores.push(store);
        return cluster;
      },
      close: async () => {
        for (const store of stores) await store.close();
      },
    };
  });
});
