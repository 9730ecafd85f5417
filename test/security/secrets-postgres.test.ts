/** The password in `database.url` is told to nobody, whether the database is there, goes away, or was never there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, type TestContext, test, vi } from 'vitest';
import { createControlClient } from '../../src/control/client.ts';
import { createKey, installed } from '../e2e/service.ts';
import { createCertificate } from '../peers/certificate.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import type { Installation } from '../peers/server.ts';
import { SecretBook } from './secret-book.ts';
import { spyOnPrograms } from './spied-programs.ts';
import { Traces } from './traces.ts';

const PASSWORD = 'pa+ss/w"ord&<%>of-the-database';
const CONFIGURATION = `
log: { level: debug }
api: { port: 0, bind: ["127.0.0.1"] }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [] }
health: { disk_critical_bytes: 0, disk_low_bytes: 0 }
`;
const LETTER = { from: 'a@example.com', to: 'b@example.net', subject: 'Hello', text: 'hi' };

let postgres: Postgres;
beforeAll(async () => {
  postgres = await Postgres.start(createCertificate({ hosts: ['localhost'] }));
});
afterAll(() => postgres.stop());

function withPassword(url: string): string {
  return url.replace('postgres://waybill@', `postgres://waybill:${encodeURIComponent(PASSWORD)}@`);
}

function begin(context: TestContext) {
  const book = new SecretBook();
  book.add('password of the database', PASSWORD);
  const traces = new Traces();
  const installation = installed(context, CONFIGURATION);
  const spied = spyOnPrograms(installation, context);
  return { book, traces, installation, spied };
}

async function runAll(
  commands: readonly string[],
  installation: Installation,
  traces: Traces,
): Promise<void> {
  for (const command of commands) {
    const { stdout, stderr } = await installation.run(...command.split(' '));
    traces.add(`commands: ${command}`, stdout + stderr);
  }
}

describeWith(POSTGRES_PROGRAMS, 'the password of the database', () => {
  test('is in nothing that a node says of a database that comes and goes', {
    timeout: 400_000,
  }, async (context) => {
    const { book, traces, installation, spied } = begin(context);
    installation.environment['WAYBILL_DATABASE__URL'] = withPassword(await postgres.schema());
    const server = await installation.start();
    const key = await createKey(installation, 'app');
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const send = async () => {
      const answer = await fetch(`${server.api}/api/v1/messages`, {
        method: 'POST',
        headers,
        body: JSON.stringify(LETTER),
      });
      traces.add('api', JSON.stringify([...answer.headers]) + (await answer.text()));
      return answer.status;
    };
    expect(await send()).toBe(202);
    const operations = createControlClient(installation.dataDir);
    const look = async () => {
      for (const name of ['settings', 'configuration', 'system', 'health', 'overview'] as const)
        traces.add(
          `operations: ${name}`,
          await operations[name]({}).then((seen) => JSON.stringify(seen), String),
        );
    };
    await look();
    await runAll(['config --json', 'doctor --json', 'backup never.tar'], installation, traces);
    await postgres.down();
    await vi.waitFor(async () => expect(await send()).toBe(503), { timeout: 60_000 });
    await look();
    await postgres.up();
    await vi.waitFor(async () => expect(await send()).toBe(202), { timeout: 180_000 });
    const line = { level: 'debug', contains: '', after: null, limit: 1000 } as const;
    traces.add('operations: logTail', JSON.stringify(await operations.logTail(line)));
    traces.add('process', readFileSync(`/proc/${server.runtime.pid}/cmdline`));
    traces.addFiles('data', installation.dataDir, ['secret.key', 'tls.key']);
    await server.end('SIGTERM');
    traces.add('log', server.output);
    traces.add('programs it ran', readFileSync(spied));
    traces.add('postgres', postgres.log);
    expect(traces.leaks(book)).toEqual([]);
  });

  test('is in nothing that is said where the address is wrong', { timeout: 400_000 }, async (context) => {
    const { book, traces, installation, spied } = begin(context);
    const password = encodeURIComponent(PASSWORD);
    const wrong = [
      `postgres://waybill:${password}@127.0.0.1:1/mail`,
      `postgres:/waybill:${password}@127.0.0.1/mail`,
      withPassword(postgres.url('no-such-database')),
      `${withPassword(postgres.tcp())}?sslmode=verify-full`,
      `${withPassword(postgres.tcp())}?sslmode=verify-full&sslrootcert=/nowhere.pem`,
    ];
    // Up to what it says when it gives up: where a server may come yet, it asks again for half a minute.
    await Promise.all(
      wrong.map(async (url) => {
        const place = installed(context, CONFIGURATION);
        place.environment['PATH'] = installation.environment['PATH'];
        place.environment['WAYBILL_DATABASE__URL'] = url;
        const { code, stdout, stderr } = await place.run('serve');
        expect(code, stderr).toBe(1);
        expect(stderr).toMatch(/database|PostgreSQL|nowhere\.pem/);
        traces.add(`log: ${url}`, stdout + stderr);
        traces.addFiles(`data: ${url}`, place.dataDir, ['secret.key', 'tls.key']);
      }),
    );
    installation.configure(`database: { url: "postgres:/waybill:${password}@127.0.0.1/mail" }`);
    await runAll(['config', 'serve'], installation, traces);
    traces.add('programs it ran', readFileSync(spied));
    expect(traces.leaks(book)).toEqual([]);
  });

  test('is in nothing that moving everything into it says', { timeout: 400_000 }, async (context) => {
    const { book, traces, installation, spied } = begin(context);
    await createKey(installation, 'app');
    installation.environment['WAYBILL_DATABASE__URL'] = '';
    // Its own: what a node of another key has put into the usual one would be refused.
    installation.environment['WAYBILL_DATABASE__SCHEMA'] = 'moved';
    const moved = await installation.run('migrate', '--to', withPassword(postgres.url()));
    expect(moved.code, moved.stderr).toBe(0);
    traces.add('commands: migrate', moved.stdout + moved.stderr);
    const wrong = ['postgres://u:PASSWORD@127.0.0.1:1/x', 'mysql://u:PASSWORD@127.0.0.1/x'];
    const commands = wrong.map(
      (url) => `migrate --to ${url.replace('PASSWORD', encodeURIComponent(PASSWORD))}`,
    );
    await runAll(commands, installation, traces);
    traces.addFiles('data', join(installation.dataDir), ['secret.key', 'tls.key']);
    traces.add('programs it ran', readFileSync(spied));
    expect(traces.leaks(book)).toEqual([]);
  });
});
