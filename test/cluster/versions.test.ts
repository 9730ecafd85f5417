import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrations } from '../../src/store/postgres/migrate.ts';
import { LETTER } from '../crash/customer.ts';
import { type Node, Nodes } from '../e2e/nodes.ts';
import { createKey } from '../e2e/service.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';

/** A rolling upgrade: the next release beside this one, over one database, whose schema it has taken a step further. */

const ROOT = join(import.meta.dirname, '../..');
/** The step of the schema that the next release adds. */
const NEXT = migrations().length + 1;
/** What the next release may do while this one is at work. */
const NEXT_FILE = `${String(NEXT).padStart(4, '0')}_next.sql`;
const NEXT_STEP = `-- compatible-with: 1
ALTER TABLE messages ADD COLUMN next_fact text;
ALTER TABLE deliveries ADD COLUMN next_count integer NOT NULL DEFAULT 0;
CREATE TABLE next_things (id text PRIMARY KEY);
`;

describeWith(POSTGRES_PROGRAMS, 'two versions over one database', () => {
  let postgres: Postgres;
  let nodes: Nodes;
  let next: string;
  beforeAll(async () => {
    postgres = await Postgres.start();
    nodes = new Nodes(postgres.url(), 'versions', '');
    next = nextRelease();
  });
  afterAll(async () => {
    nodes.remove();
    rmSync(next, { recursive: true });
    await postgres.stop();
  });

  it('work side by side, each sends what the other took, and each starts again', async () => {
    const old = await nodes.start('old');
    const key = await createKey(old.installation, 'app');
    const before = await old.client(key).send(LETTER);
    const fresh = nodes.add('fresh', { main: join(next, 'src/main.ts') });
    await fresh.start();
    const [first] = await postgres.run('SELECT max(version) AS version FROM versions.schema_migrations');
    expect(first).toEqual({ version: NEXT });
    await eachDelivers([old, fresh], key);
    expect(await fresh.client(key).end(before)).toMatchObject({ status: 'delivered' });

    expect(await old.server.end('SIGTERM')).toBe(0);
    await eachDelivers([fresh], key);
    await old.start();
    expect(await fresh.server.end('SIGTERM')).toBe(0);
    await eachDelivers([old], key);
    expect(await old.server.end('SIGTERM')).toBe(0);
  });
});

/** What one node takes is seen delivered by every one. */
async function eachDelivers(nodes: readonly Node[], key: string): Promise<void> {
  for (const node of nodes) {
    const id = await node.client(key).send(LETTER);
    for (const other of nodes)
      expect(await other.client(key).end(id)).toMatchObject({ status: 'delivered', outcome: 'captured' });
  }
}

/** This tree with one more step of the schema; the folder it lies in. */
function nextRelease(): string {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-next-'));
  for (const name of ['src', 'package.json'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'src/store/postgres/migrations', NEXT_FILE), NEXT_STEP);
  return folder;
}
