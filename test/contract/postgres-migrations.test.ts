import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { Database } from '../../src/postgres/database.ts';
import { type Migration, migrate, migrations } from '../../src/store/postgres/migrate.ts';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';

const FIRST: Migration = { version: 1, name: '0001_first', sql: 'CREATE TABLE one (a integer);' };
/** Programs that know only the first step go on beside it. */
const SECOND: Migration = {
  version: 2,
  name: '0002_second',
  sql: '-- compatible-with: 1\nALTER TABLE one ADD COLUMN b integer;',
};
/** By default none does. */
const THIRD: Migration = { version: 3, name: '0003_third', sql: 'ALTER TABLE one DROP COLUMN a;' };
const FOURTH: Migration = {
  version: 4,
  name: '0004_fourth',
  sql: '-- compatible-with: 2\nALTER TABLE one ADD COLUMN c integer;',
};

describeWith(POSTGRES_PROGRAMS, 'steps of the schema', () => {
  let server: Postgres;
  let database: Database;
  let schema: string;
  let schemas = 0;
  beforeAll(async () => {
    server = await Postgres.start();
  });
  afterAll(() => server.stop());
  beforeEach(() => {
    schema = `steps_${schemas++}`;
    database = new Database({ url: server.url(), schema });
    return () => database.close();
  });

  const reach = (...steps: Migration[]) => migrate(database, steps, schema);
  const taken = () => database.rows(`SELECT version, name FROM schema_migrations ORDER BY version`);

  it('are taken once, in order, however many programs start at once', async () => {
    const nodes = Array.from({ length: 4 }, () => new Database({ url: server.url(), schema }));
    await Promise.all(nodes.map((node) => migrate(node, [FIRST, SECOND], schema)));
    for (const node of nodes) await node.close();
    expect(await taken()).toEqual([
      { version: 1, name: '0001_first' },
      { version: 2, name: '0002_second' },
    ]);
    await reach(FIRST, SECOND, THIRD);
    expect(await taken()).toHaveLength(3);
  });

  it('are all taken, or none', async () => {
    await reach(FIRST);
    const faulty = { version: 3, name: '0003_faulty', sql: 'CREATE TABLE two (a integer); SELECT 1 / 0;' };
    await expect(reach(FIRST, SECOND, faulty)).rejects.toMatchObject({ code: 'store_bug' });
    expect(await taken()).toHaveLength(1);
    expect(await database.rows('SELECT * FROM one')).toEqual([]);
    await expect(database.rows('SELECT b FROM one')).rejects.toMatchObject({ code: 'store_bug' });
  });

  it('of a newer program leave an older one at work where they say so', async () => {
    await reach(FIRST, SECOND);
    await reach(FIRST);
    expect(await taken()).toHaveLength(2);
  });

  it('of a newer program refuse an older one where they do not', async () => {
    await reach(FIRST, SECOND, THIRD);
    await expect(reach(FIRST, SECOND)).rejects.toMatchObject({ code: 'store_newer' });
    // What the last one says of itself is not true of the third, which was taken as well.
    await reach(FIRST, SECOND, THIRD, FOURTH);
    await expect(reach(FIRST, SECOND)).rejects.toMatchObject({ code: 'store_newer' });
    await reach(FIRST, SECOND, THIRD);
    expect(await taken()).toHaveLength(4);
  });

  it('must not change once they were taken', async () => {
    await reach(FIRST, SECOND);
    const refusal = { code: 'store_unsuitable' };
    const changed = { ...FIRST, sql: `${FIRST.sql} ` };
    await expect(reach(changed, SECOND)).rejects.toMatchObject(refusal);
    await expect(reach(changed)).rejects.toMatchObject(refusal);
    await expect(reach(FIRST, { ...SECOND, version: 3 })).rejects.toMatchObject(refusal);
    await expect(reach({ ...SECOND, version: 3 })).rejects.toMatchObject(refusal);
    await reach(FIRST, SECOND);
  });

  it('of this program say which programs may run beside them', () => {
    const own = migrations();
    expect(own.map(({ version }) => version)).toEqual(own.map((_, place) => place + 1));
    for (const { sql } of own) expect(sql).toMatch(/^-- compatible-with: \d+\n/);
  });

  it('refuse a program that is too old for the store itself', async () => {
    const stores = await openPostgres({ url: server.url(), schema });
    await stores.store.close();
    await server.run(`INSERT INTO ${schema}.schema_migrations VALUES (99, '0099_far', 'x', 0, 99)`);
    await expect(openPostgres({ url: server.url(), schema })).rejects.toMatchObject({ code: 'store_newer' });
  });
});
