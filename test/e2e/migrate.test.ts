/** An installation that was in use moves into a PostgreSQL and back, by the real program; one migration is killed. */
import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { openBetterSqlite3 } from '../../src/store/sqlite/driver.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import type { Installation } from '../peers/server.ts';
import { startSmtpSink } from '../peers/smtp-sink.ts';
import type { SinkEvent } from '../peers/smtp-sink-script.ts';
import { writeManyMessages } from '../support/many-messages.ts';
import { Client, createKey, installed } from './service.ts';

const LATER = 'later@example.net';
const SCHEMA = 'mail';
/** More than a page of them. */
const MANY = 450;
/** More than is read whole. */
const LARGE = `${'x'.repeat(70)}\n`.repeat(20_000);
const SCOPES = ['send', 'read', 'content'].flatMap((name) => ['--scope', `messages:${name}`]);

function configuration(port: number): string {
  return `
api: { port: 0, bind: ["127.0.0.1"] }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [] }
health: { disk_critical_bytes: 0, disk_low_bytes: 0 }
delivery: { default_relay: out, retry_first_seconds: 1, retry_max_seconds: 1 }
database: { schema: ${SCHEMA} }
relays: [{ name: out, type: smtp, host: 127.0.0.1, port: ${port}, tls: none }]
`;
}

const letter = (subject: string, to = 'b@example.net', text = subject) => ({
  from: 'a@example.com',
  to: [to],
  subject,
  text,
  tags: ['moved'],
});

describeWith(POSTGRES_PROGRAMS, 'an installation', () => {
  let server: Postgres;
  beforeAll(async () => {
    server = await Postgres.start();
  });
  afterAll(() => server.stop());

  test('moves into a PostgreSQL, is killed on the way, goes on there, and comes back', {
    timeout: 300_000,
  }, async (context) => {
    const putOff = ({ argument }: SinkEvent) => (argument.includes(LATER) ? '451 4.7.1 Not now' : undefined);
    const hop = await startSmtpSink({ script: { RCPT: putOff } });
    context.onTestFinished(() => hop.close());
    const installation = installed(context, configuration(hop.port));
    const key = await createKey(installation, 'app', ...SCOPES);

    const before = await installation.start();
    const client = new Client(before, key);
    const sent = await client.send(letter('sent'));
    expect(await client.end(sent)).toMatchObject({ status: 'delivered' });
    const late = await client.send(letter('late', LATER, LARGE));
    await client.until(late, 'retrying');
    const large = await contentOf(client, late);
    const toDatabase = ['migrate', '--to', server.url()];
    const running = await installation.run(...toDatabase);
    expect(running).toMatchObject({ code: 1, stderr: expect.stringContaining('A server is running') });
    await before.end('SIGKILL');
    fill(installation);

    await killedOnTheWay(installation, toDatabase, server);
    const half = await installation.run('keys', 'list');
    expect(half).toMatchObject({ code: 1, stderr: expect.stringContaining('is being moved') });
    const done = await installation.run(...toDatabase, '--json');
    expect(done, done.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse(done.stdout)).toMatchObject({ resumed: true, differing: 0, contents: 2 });
    const mistaken = installation.launch();
    expect(await mistaken.exited).toBe(1);
    expect(mistaken.output).toContain('waybill migrate --undo');

    installation.environment['WAYBILL_DATABASE__URL'] = server.url();
    const there = await installation.start();
    const again = new Client(there, key);
    expect(await again.record(sent)).toMatchObject({ status: 'delivered' });
    hop.script = {};
    expect(await again.end(late)).toMatchObject({ status: 'delivered' });
    expect((await contentOf(again, late)) === large, 'the same contents').toBe(true);
    const fresh = await again.send(letter('sent from there'));
    await again.end(fresh);
    expect(await there.end('SIGTERM')).toBe(0);

    const occupied = await installation.run('migrate', '--to', 'sqlite');
    expect(occupied).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') });
    moveAside(installation);
    const back = await installation.run('migrate', '--to', 'sqlite');
    expect(back, back.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('compared equal') });
    delete installation.environment['WAYBILL_DATABASE__URL'];
    const home = new Client(await installation.start(), key);
    for (const id of [sent, late, fresh])
      expect(await home.record(id)).toMatchObject({ status: 'delivered', tags: ['moved'] });
    expect((await home.get(`/${fresh}/content`)).status).toBe(200);
  });
});

async function contentOf(client: Client, id: string): Promise<string> {
  return await (await client.get(`/${id}/content`)).text();
}

/** Old mail, so that there is more than a page of it. */
function fill({ dataDir }: Installation): void {
  const db = openBetterSqlite3(join(dataDir, 'waybill.db'));
  writeManyMessages(db, 'key_gone', MANY);
  db.close();
}

/** Kills a migration that has copied some tables and waits for a lock on the next one. */
async function killedOnTheWay(installation: Installation, command: readonly string[], server: Postgres) {
  const empty = await openPostgres({ url: server.url(), schema: SCHEMA, connections: 4 });
  await empty.store.close();
  await server.run(`BEGIN; LOCK TABLE ${SCHEMA}.attempts IN EXCLUSIVE MODE`);
  const migration = installation.spawn(...command);
  const ended = new Promise<string | null>((resolve) =>
    migration.once('exit', (_, signal) => resolve(signal)),
  );
  await vi.waitFor(
    async () => {
      const [note] = await server.run(`SELECT value FROM ${SCHEMA}.settings WHERE name = 'note.moved_from'`);
      expect(JSON.parse(String(note?.['value']))).toMatchObject({ table: 'attempts', done: false });
    },
    { timeout: 180_000, interval: 20 },
  );
  migration.kill('SIGKILL');
  expect(await ended).toBe('SIGKILL');
  await server.run('COMMIT');
}

function moveAside({ dataDir }: Installation): void {
  const aside = join(dataDir, 'before');
  mkdirSync(aside);
  for (const name of readdirSync(dataDir))
    if (name === 'spool' || name.startsWith('waybill.db')) renameSync(join(dataDir, name), join(aside, name));
}
