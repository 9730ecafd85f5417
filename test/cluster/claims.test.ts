/**
 * Many processes claim what is due in one store, in lanes that go from hand to hand.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { at, message, recipient } from '../contract/store/fixtures.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { moduleOf } from '../peers/server.ts';
import { tell, times } from '../support/proof.ts';

const PROCESSES = times('claimers', 8);
const LANES = Array.from({ length: 400 }, (_, nth) => `direct d${nth}.example`);
/** In each lane as many. */
const EACH = Math.ceil(times('claims', 2_000) / LANES.length);
const MESSAGES = EACH * LANES.length;
const SCHEMA = 'claims';
const PROGRAM = moduleOf('test/cluster/claimer.ts');

/** Makes of every message as many as there are to be in its lane. */
const MULTIPLY = `
  CREATE TEMP TABLE copies AS SELECT id, substr(id, 1, 24) || lpad(nth::text, 6, '0') AS copy
    FROM messages, generate_series(2, ${EACH}) AS nth;
  INSERT INTO messages SELECT (jsonb_populate_record(m, jsonb_build_object('id', copy))).*
    FROM messages AS m JOIN copies USING (id);
  INSERT INTO deliveries SELECT (jsonb_populate_record(d, jsonb_build_object('message', copy))).*
    FROM deliveries AS d JOIN copies ON d.message = copies.id;
  UPDATE depths SET waiting = waiting * ${EACH};
  ANALYZE`;

describeWith(POSTGRES_PROGRAMS, 'many processes', () => {
  const name = `${PROCESSES} of them claim ${MESSAGES} messages, each once`;
  test(name, { timeout: 300_000 + 10 * MESSAGES }, async ({ onTestFinished }) => {
    const server = await Postgres.start();
    onTestFinished(() => server.stop());
    const { store, database } = await openPostgres({ url: server.url(), schema: SCHEMA });
    onTestFinished(() => store.close());
    await store.accept(
      LANES.map((lane) => message({ deliveries: [recipient({ lane })] })),
      at(),
    );
    await server.run(MULTIPLY, `search_path%3D${SCHEMA}`);
    const claimers = Array.from({ length: PROCESSES }, (_, seed) => new Claimer(server.url(), seed));
    onTestFinished(() => {
      for (const claimer of claimers) claimer.kill();
    });
    await Promise.all(claimers.map((claimer) => claimer.ready));
    const lines = await Promise.all(claimers.map((claimer) => claimer.work()));
    expect(lines.map((all) => all.at(-1))).toEqual(Array(PROCESSES).fill('stale 0'));
    const claimed = lines.flatMap((all) => all.slice(0, -1));
    expect(claimed.length, 'claims').toBe(MESSAGES);
    expect(new Set(claimed).size, 'messages').toBe(MESSAGES);
    expect(lines.filter((all) => all.length > 1).length, 'processes that claimed any').toBeGreaterThan(
      PROCESSES / 2,
    );
    const [left] = await database.rows<{ count: number }>(
      `SELECT count(*) FROM deliveries WHERE state <> 'processing'`,
    );
    expect(left).toEqual({ count: 0 });
    tell('claims of many processes', { claims: MESSAGES, 'claimed twice': 0 });
  });
});

/** One of the processes. */
class Claimer {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  #output = '';
  /** Resolves once it can begin. */
  readonly ready: Promise<unknown>;

  constructor(url: string, seed: number) {
    const command = [PROGRAM, url, SCHEMA, String(seed), ...LANES];
    this.#process = spawn(process.execPath, command, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.ready = once(this.#process.stdout, 'data');
    this.#process.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      this.#output += chunk;
    });
  }

  /** Lets it begin; what it wrote until its end, but for that it was ready. */
  async work(): Promise<string[]> {
    const ended = once(this.#process, 'close');
    this.#process.stdin.write('begin\n');
    expect(await ended).toEqual([0, null]);
    return this.#output.trimEnd().split('\n').slice(1);
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }
}
