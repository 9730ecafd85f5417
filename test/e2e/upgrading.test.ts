/**
 * What version 0.1 left, with mail waiting, goes on under this program, over both stores. The rows in
 * `test/support/made-by-0.1` were written by the program of commit 6551a86e, over SQLite (schema 9) and PostgreSQL (step 1):
 * a letter that was deferred, one that had no attempt yet, one for later, one that was cancelled, one that was captured; two
 * keys, a stored relay on hold, a domain, and a user.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { unwrap } from '../../src/client/result.ts';
import { Database } from '../../src/postgres/database.ts';
import { migrate, migrations as postgresSteps } from '../../src/store/postgres/migrate.ts';
import { openBetterSqlite3 } from '../../src/store/sqlite/driver.ts';
import { migrations, openDatabase } from '../../src/store/sqlite/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import type { Installation } from '../peers/server.ts';
import { startSmtpSink } from '../peers/smtp-sink.ts';
import { heldFetch } from '../support/openapi.ts';
import { Client, installed } from './service.ts';

const MADE = new URL('../support/made-by-0.1/', import.meta.url);
/** When it was made, wall ms: all times are moved on by what has passed since. */
const MADE_AT = 1_795_957_620_000;
const SCHEMA = 'waybill';

/** What of it the tests name. */
interface Left {
  readonly key: string;
  readonly testKey: string;
  /** Ids of the messages. */
  readonly captured: string;
  readonly deferred: string;
  readonly fresh: string;
  readonly later: string;
  readonly cancelled: string;
}

test('SQLite: mail that waited is delivered, and everything else is there', {
  timeout: 120_000,
}, async (context) => {
  const installation = installed(context, '');
  copyFileSync(new URL('sqlite.key', MADE), join(installation.dataDir, 'secret.key'));
  mkdirSync(join(installation.dataDir, 'spool'), { mode: 0o700 });
  copyFileSync(new URL('00000001.seg', MADE), join(installation.dataDir, 'spool', '00000001.seg'));
  const path = join(installation.dataDir, 'waybill.db');
  openDatabase(path, { migrations: migrations().slice(0, 9) }).close();
  const old = openBetterSqlite3(path);
  old.exec(rows('sqlite.sql', 'DELETE FROM'));
  old.close();
  await goesOn(context, installation, '', {
    key: 'wb_live_XI9DcrdtBu7HA4vLC4vqwwChmkch070XYn8HXyRDZww1VkQgI',
    testKey: 'wb_test_VtE4uomkjdsRT6A7Kw7XZeClkfwl4tVFDQMxnHjiYsu2MzeYg',
    captured: 'msg_01m8kpmkgp47w3x8k8jaxkwejs',
    deferred: 'msg_01m8kpmkj45nrmp5jgr74m0qjv',
    fresh: 'msg_01m8kpmkka91wvj5nhh7sdq94e',
    later: 'msg_01m8kpmkkw0aqqnhz0ayjy035z',
    cancelled: 'msg_01m8kpmkmj3e74gtefzbssy45g',
  });
  expect(existsSync(`${path}.v9`), 'a copy to go back to').toBe(true);
});

describeWith(POSTGRES_PROGRAMS, 'PostgreSQL', () => {
  test('mail that waited is delivered, and everything else is there', {
    timeout: 120_000,
  }, async (context) => {
    const server = await Postgres.start();
    context.onTestFinished(() => server.stop());
    const database = new Database({ url: server.url(), schema: SCHEMA });
    await migrate(database, postgresSteps().slice(0, 1), SCHEMA);
    await database.close();
    await server.run(rows('postgres.sql', 'TRUNCATE'));
    const installation = installed(context, '');
    copyFileSync(new URL('postgres.key', MADE), join(installation.dataDir, 'secret.key'));
    await goesOn(context, installation, `database: { url: "${server.url()}", schema: ${SCHEMA} }`, {
      key: 'wb_live_5dnLpGxeV4qZ1oqm4AlDs45BGTfa29ruvnR71zzxO482o85oq',
      testKey: 'wb_test_GiJ3iBVqFBPocjCp7dmbVtx2vPKvYMto5BqcfhOMg4i37yjey',
      captured: 'msg_01m8kpkz9wdendptmrqpzec7ec',
      deferred: 'msg_01m8kpkzased2a853t6gd358ge',
      fresh: 'msg_01m8kpkzbk99hnx4v90bahr98e',
      later: 'msg_01m8kpkzccekwss31f8dyxyhtm',
      cancelled: 'msg_01m8kpkzcy4w9erbvm5j0ee88d',
    });
  });
});

/** The rows, as if they had been written just now, in place of those that the steps of the schema put there. */
function rows(file: string, clear: string): string {
  const text = readFileSync(new URL(file, MADE), 'utf8');
  const since = Date.now() - MADE_AT;
  const tables = new Set([...text.matchAll(/^INSERT INTO ([\w.]+) /gm)].map(([, table]) => table));
  return [
    ...[...tables].map((table) => `${clear} ${table};\n`),
    text.replaceAll(/(?<![\w.'\\])1[78]\d{11}(?![\w'])/g, (time) => String(Number(time) + since)),
  ].join('');
}

async function goesOn(
  context: TestContext,
  installation: Installation,
  database: string,
  left: Left,
): Promise<void> {
  const hop = await startSmtpSink();
  context.onTestFinished(() => hop.close());
  installation.configure(`
api: { port: 0, bind: ["127.0.0.1"] }
webui: { port: null }
listener: { ports: [] }
health: { disk_critical_bytes: 0, disk_low_bytes: 0 }
delivery: { default_relay: out }
relays: [{ name: out, type: smtp, host: 127.0.0.1, port: ${hop.port}, tls: none }]
${database}
`);
  const server = await installation.start();
  const client = new Client(server, left.key);
  // At once, unless it has been tried again by now: it was due within seconds.
  await client.api.retry(left.deferred);
  for (const id of [left.deferred, left.fresh])
    expect(await client.end(id)).toMatchObject({ status: 'delivered', outcome: 'accepted' });
  expect(hop.messages.map(({ to }) => to).sort()).toEqual([
    ['ann@example.org', 'bob@example.net'],
    ['eve@example.org'],
  ]);
  const attempts = unwrap(await client.api.attempts(left.deferred));
  expect(attempts.map(({ results }) => results[0]?.outcome)).toEqual(['deferred', 'delivered']);

  expect(await client.record(left.later)).toMatchObject({ status: 'queued', waitingFor: 'scheduled' });
  unwrap(await client.api.reschedule(left.later, new Date()));
  expect(await client.end(left.later)).toMatchObject({ status: 'delivered' });
  expect(await client.record(left.cancelled)).toMatchObject({ status: 'failed', outcome: 'cancelled' });
  expect(await new Client(server, left.testKey).record(left.captured)).toMatchObject({ outcome: 'captured' });
  await repeats(server.api, left);

  const shown = async (...command: string[]) => {
    const { code, stdout, stderr } = await installation.run(...command, '--json');
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  };
  expect(await shown('keys', 'list')).toMatchObject([{ name: 'tests' }, { name: 'shop' }]);
  expect(JSON.stringify(await shown('relays', 'list'))).toContain('"grid"');
  expect(JSON.stringify(await shown('queue'))).toContain('"paused"');
  expect(await shown('domains', 'list')).toMatchObject([{ name: 'example.com' }]);
  const { code, stdout } = await installation.run('events', '--types', 'message.delivered');
  expect([code, stdout]).toEqual([0, expect.stringContaining(left.deferred)]);
  await shown('suppressions', 'add', 'gone@example.org');
  const checked = JSON.stringify(await shown('suppressions', 'check', 'gone@example.org'));
  expect(checked).toContain('"manual"');
  await server.end('SIGTERM');
}

/** A repeat of what 0.1 accepted under an idempotency key gets its answer, and is not sent again. */
async function repeats(api: string, { key, deferred }: Left): Promise<void> {
  const again = await heldFetch(`${api}/api/v1/messages`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': 'order-1',
    },
    body: JSON.stringify({
      from: 'Shop <shop@example.com>',
      to: ['ann@example.org', 'bob@example.net'],
      subject: 'Your order',
      text: 'Thank you.',
      tags: ['orders'],
      metadata: { order: '1' },
    }),
  });
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(await again.json()).toMatchObject({ id: deferred });
}
