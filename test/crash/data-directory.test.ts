/** What lies in the data directory, seen from outside the real process (contract §12, §15). */

import { chownSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { RelayView } from '../../src/operations/relays.ts';
import { openBetterSqlite3 } from '../../src/store/sqlite/driver.ts';
import { installed } from '../e2e/service.ts';
import type { Installation } from '../peers/server.ts';
import { startSmtpSink } from '../peers/smtp-sink.ts';
import { healthOf } from './customer.ts';
import { HttpCustomer } from './http-customer.ts';

const CONFIGURATION = `
api: { port: 0, bind: ["127.0.0.1"] }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [] }
health: { disk_critical_bytes: 0, disk_low_bytes: 0 }
`;

test.concurrent('everything in the data directory is for its owner alone', async (context) => {
  const installation = installed(context, CONFIGURATION);
  const made = await installation.runUnder([], 'keys', 'create', 'shop', '--quiet');
  const customer = new HttpCustomer(made.stdout.trim());
  // Made by the operator, so its mode is the operator's.
  rmSync(join(installation.dataDir, 'waybill.yaml'));
  installation.environment['WAYBILL_CONFIG'] = join(
    installed(context, CONFIGURATION).dataDir,
    'waybill.yaml',
  );
  const server = await installation.start();
  await customer.send(server);
  const modes = readdirSync(installation.dataDir, { withFileTypes: true, recursive: true }).map((entry) => {
    const mode = (statSync(join(entry.parentPath, entry.name)).mode & 0o777).toString(8);
    return [entry.name, entry.isDirectory() ? 'folder' : 'file', mode];
  });
  const wrong = modes.filter(([, type, mode]) => mode !== (type === 'folder' ? '700' : '600'));
  expect(wrong).toEqual([]);
  expect(modes.map(([name]) => name)).toEqual(
    expect.arrayContaining(['control.sock', 'secret.key', 'waybill.db', 'waybill.db-wal', '00000001.seg']),
  );
});

test.concurrent('a data directory that is not there is made by a start, for its owner alone', async (context) => {
  const installation = installed(context, CONFIGURATION);
  // The directory that holds the configuration is another's.
  installation.environment['WAYBILL_CONFIG'] = join(
    installed(context, CONFIGURATION).dataDir,
    'waybill.yaml',
  );
  rmSync(installation.dataDir, { recursive: true });
  installation.launch();
  await vi.waitUntil(() => existsSync(join(installation.dataDir, 'waybill.db')), { timeout: 180_000 });
  expect(statSync(installation.dataDir).mode & 0o777).toBe(0o700);
});

// Only root can give a directory to somebody else, and only root's files are others'.
test.runIf(process.geteuid?.() === 0)('what root does in it belongs to its owner', async (context) => {
  const owner = 65_534;
  const [installation, restored] = [installed(context, CONFIGURATION), installed(context, CONFIGURATION)];
  rmSync(join(restored.dataDir, 'waybill.yaml'));
  for (const { dataDir } of [installation, restored]) chownSync(dataDir, owner, owner);
  const file = join(installation.dataDir, 'backup.tar');
  for (const command of [
    ['keys', 'create', 'shop'],
    ['backup', file],
  ])
    expect(await installation.run(...command)).toMatchObject({ code: 0 });
  expect(await restored.run('restore', file)).toMatchObject({ code: 0 });
  for (const { dataDir } of [installation, restored]) {
    const made = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name !== 'waybill.yaml',
    );
    expect(made).toContain('waybill.db');
    expect(made.filter((name) => statSync(join(dataDir, name)).uid !== owner)).toEqual([]);
  }
});

test.concurrent('data of a newer version is refused', async (context) => {
  const installation = installed(context, CONFIGURATION);
  await installation.run('keys', 'create', 'shop');
  const db = openBetterSqlite3(join(installation.dataDir, 'waybill.db'));
  db.exec('PRAGMA user_version = 999');
  db.close();
  for (const command of [['serve'], ['messages', 'list']]) {
    const { code, stderr } = await installation.run(...command);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^the database has schema 999; this program knows \d+\. Start the newer program\.$/m,
    );
  }
});

test.concurrent('a lost secret.key: the mail of the relays that need it waits until it is back', async (context) => {
  const sink = await startSmtpSink();
  context.onTestFinished(() => sink.close());
  const installation = installed(context, CONFIGURATION);
  const file = (name: string) => join(installation.dataDir, name);
  writeFileSync(file('password'), 'secret');
  const add = ['--type', 'smtp', '--host', '127.0.0.1', '--port', String(sink.port), '--username', 'u'];
  const secret = ['--password-file', file('password')];
  await installation.run('relays', 'add', 'out', ...add, ...secret, '--default');
  const customer = new HttpCustomer(
    (await installation.run('keys', 'create', 'shop', '--quiet')).stdout.trim(),
  );
  const key = readFileSync(file('secret.key'));
  rmSync(file('secret.key'));

  const server = await installation.start();
  expect((await customer.send(server)).status).toBe(202);
  expect(await readability(installation)).toEqual({ inbox: true, out: false });
  expect(await healthOf(server)).toMatchObject({
    httpStatus: 200,
    status: 'degraded',
    checks: expect.arrayContaining([
      {
        name: 'credentials_unreadable',
        status: 'degraded',
        detail: 'The password of a relay cannot be read with the present key; mail for it waits.',
      },
    ]),
  });
  expect(sink.connections).toBe(0);

  writeFileSync(file('secret.key'), key);
  server.signal('SIGHUP');
  await sink.until(() => sink.connections > 0);
  expect((await healthOf(server)).checks.map(({ name }) => name)).not.toContain('credentials_unreadable');
  await installation.run('relays', 'add', 'second', ...add, ...secret);
  expect(await readability(installation)).toEqual({ inbox: true, out: true, second: true });
});

/** For each relay, whether its password can be read. */
async function readability(installation: Installation): Promise<Record<string, boolean>> {
  const { stdout } = await installation.run('relays', 'list', '--json');
  const relays = JSON.parse(stdout) as RelayView[];
  return Object.fromEntries(relays.map(({ name, credentialsUnreadable }) => [name, !credentialsUnreadable]));
}
