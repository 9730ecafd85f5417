/** Nodes whose machines' clocks are wrong go by the database's time. */
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Node, Nodes } from '../e2e/nodes.ts';
import { createKey } from '../e2e/service.ts';
import { describeWith, locate } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';

const SCHEMA = 'clock';
/** How wrong they are, as faketime has it. */
const WRONG = { early: '-10m', late: '+10m' };
/** How far two times may lie apart that are the same but for the way between them, in ms, on a busy machine. */
const NEAR_MS = 5_000;

describeWith([...POSTGRES_PROGRAMS, 'faketime'], 'nodes whose clocks are ten minutes wrong', () => {
  let postgres: Postgres;
  let sink: SmtpSink;
  let nodes: Nodes;
  let all: Node[];
  let key: string;

  beforeAll(async () => {
    let dots = 0;
    // What is new is put off: it must be tried again soon, by whichever node.
    const script = { DOT: () => (dots++ % 2 === 0 ? '451 4.3.0 Not now' : undefined) };
    [postgres, sink] = await Promise.all([Postgres.start(), startSmtpSink({ script })]);
    nodes = new Nodes(
      postgres.url(),
      SCHEMA,
      `delivery: { default_relay: out, retry_first_seconds: 1, retry_max_seconds: 1 }
relays: [{ name: out, type: smtp, host: 127.0.0.1, port: ${sink.port}, tls: none }]`,
    );
    all = [];
    for (const [name, offset] of Object.entries(WRONG)) {
      const node = nodes.add(name);
      Object.assign(node.installation.environment, wrongBy(offset));
      await node.start();
      all.push(node);
    }
    const [first] = all;
    key = first === undefined ? '' : await createKey(first.installation, 'app');
  });
  afterAll(async () => {
    nodes?.remove();
    await sink?.close();
    await postgres?.stop();
  });

  test('accept, try again, lease and beat by the database’s time', async () => {
    for (const node of all) {
      const client = node.client(key);
      const before = await databaseTime();
      const id = await client.send({ from: 'a@example.com', to: ['b@example.net'], text: 'x' });
      const record = await client.end(id);
      const after = await databaseTime();
      expect(record).toMatchObject({ status: 'delivered', recipients: [{ attempts: 2 }] });
      for (const other of all) expect(await other.client(key).record(id)).toEqual(record);
      for (const time of [record.createdAt, record.updatedAt]) {
        expect(Date.parse(time), node.name).toBeGreaterThan(before - NEAR_MS);
        expect(Date.parse(time), node.name).toBeLessThan(after + NEAR_MS);
      }
    }
    const now = await databaseTime();
    const stored = await postgres.run(`SELECT max(abs(last_seen_at - ${now})) AS beats,
      (SELECT max(abs(lease_until - 45000 - ${now})) FROM ${SCHEMA}.lanes WHERE node IS NOT NULL) AS leases
      FROM ${SCHEMA}.nodes`);
    const RENEWED_MS = 15_000;
    expect(Number(stored[0]?.['beats'])).toBeLessThan(NEAR_MS);
    expect(Number(stored[0]?.['leases'])).toBeLessThan(RENEWED_MS + NEAR_MS);
  });

  test('are really wrong, on their own', async () => {
    for (const { installation, name } of all) {
      const { environment: env } = installation;
      const theirs = Number(execFileSync(process.execPath, ['-p', 'Date.now()'], { env, encoding: 'utf8' }));
      expect(Math.abs(theirs - (await databaseTime())), name).toBeGreaterThan(9 * 60_000);
    }
  });

  test('count the requests of a key together', async () => {
    const [one, two] = all;
    if (one === undefined || two === undefined) throw new Error('there are two');
    const limited = await createKey(one.installation, 'limited', '--rate', '20');
    const letter = { from: 'a@example.com', to: ['b@example.net'], text: 'x' };
    for (let sent = 0; sent < 20; sent++) await one.client(limited).send(letter);
    let more = 0;
    const isRefused = async () => {
      const { status } = await two.client(limited).post(letter);
      if (status === 202) more++;
      return status === 429;
    };
    await vi.waitUntil(isRefused, { timeout: 60_000, interval: 1_000 });
    expect(more, 'by itself it would have let through 20').toBeLessThan(10);
  });

  test('write their logs by it', async () => {
    for (const { server, name } of all) {
      const [line = ''] = server.output.split('\n').filter((one) => one.includes('service.started'));
      const { time } = JSON.parse(line) as { time: string };
      expect(Math.abs(Date.parse(time) - (await databaseTime())), name).toBeLessThan(60_000);
    }
  });

  /** Wall ms. */
  async function databaseTime(): Promise<number> {
    const [row] = await postgres.run('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now');
    return Number(row?.['now']);
  }
});

/** The environment of a program whose wall clock is wrong, and whose monotonic one is not. */
function wrongBy(offset: string): NodeJS.ProcessEnv {
  const library = execFileSync(locate('faketime') ?? '', ['-m', '-f', offset, 'printenv', 'LD_PRELOAD'], {
    encoding: 'utf8',
  });
  return {
    LD_PRELOAD: library.trim(),
    FAKETIME: offset,
    DONT_FAKE_MONOTONIC: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
}
