/** A node dies between two statements of the schema's steps: nothing of them is left, and the next node takes them all. */
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { migrations } from '../../src/store/postgres/migrate.ts';
import { Nodes } from '../e2e/nodes.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';

/** Whoever comes to the statement waits for the lock of this number. */
const HOLD = 777;
const PATIENCE = { timeout: 180_000, interval: 50 };

describeWith(POSTGRES_PROGRAMS, 'a node that dies while it makes the schema', () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await Postgres.start();
    await postgres.run('CREATE SEQUENCE public.statements');
  });
  afterAll(() => postgres.stop());

  test.for([2, 30, 60])('at its statement %i', { timeout: 240_000 }, async (statement, context) => {
    const schema = `migrating_${statement}`;
    // Nothing is shared but the database: the first does not live to make a secret key.
    const first = new Nodes(postgres.url(), schema, '');
    const second = new Nodes(postgres.url(), schema, '');
    context.onTestFinished(() => {
      first.remove();
      second.remove();
    });
    const holder = new Client({ connectionString: postgres.url() });
    // Should the test fail, it ends with the database.
    holder.on('error', () => {});
    await holder.connect();
    await postgres.run(stopsAt(statement));
    await holder.query(`SELECT pg_advisory_lock(${HOLD})`);
    const dying = first.add('first').installation.launch();
    await vi.waitUntil(async () => (await waiting(postgres)) === 1, PATIENCE);
    await dying.end('SIGKILL');
    expect(await postgres.run(`SELECT 1 FROM pg_namespace WHERE nspname = '${schema}'`)).toEqual([]);
    // Its statement still stands in the database, and its lock is the one that the next needs.
    const node = second.add('second');
    const started = node.start();
    await holder.end();
    await started;
    const steps = await postgres.run('SELECT version FROM schema_migrations', `search_path%3D${schema}`);
    expect(steps).toEqual(migrations().map(({ version }) => ({ version })));
    expect(await node.server.end('SIGTERM')).toBe(0);
  });
});

/** Makes whoever comes to this statement that changes a schema, counted from now on, wait behind it. */
function stopsAt(statement: number): string {
  return `
DROP EVENT TRIGGER IF EXISTS hold;
ALTER SEQUENCE public.statements RESTART;
CREATE OR REPLACE FUNCTION public.hold() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
  IF nextval('public.statements') = ${statement} THEN PERFORM pg_advisory_xact_lock(${HOLD}); END IF;
END $$;
CREATE EVENT TRIGGER hold ON ddl_command_end EXECUTE FUNCTION public.hold();`;
}

async function waiting(postgres: Postgres): Promise<number> {
  const [row] = await postgres.run(
    `SELECT count(*) AS count FROM pg_locks WHERE locktype = 'advisory' AND objid = ${HOLD} AND NOT granted`,
  );
  return Number(row?.['count']);
}
