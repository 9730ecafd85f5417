import { copyFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { runSmtpSource } from '../load/smtp-source.ts';
import { runHttpLoad } from '../load/start.ts';
import { together } from '../measure/process-tree.ts';
import { PG_BOSS_KEY, pgBossMissing, startPgBoss } from '../systems/pg-boss.ts';
import { postfixMissing, startPostfix } from '../systems/postfix.ts';
import { type BenchPostgres, postgresMissing, startPostgres } from '../systems/postgres.ts';
import { type Sink, startSink } from '../systems/sink.ts';
import type { System } from '../systems/system.ts';
import { startWaybill, type Waybill } from '../systems/waybill.ts';
import { measureToTheEnd } from './end-to-end.ts';
import { PG_BOSS, type RunOptions, type Sample, type Scenario } from './scenario.ts';

const CONNECTIONS = 50;

/** The main job over PostgreSQL, beside the same job by a job queue over PostgreSQL, and beside Postfix. */
export const postgres: Scenario = {
  name: 'postgres',
  shows:
    '5 KB messages over PostgreSQL from the first post (50 connections) to the last delivery, beside a job queue over the same, and Postfix',
  sides: [
    { name: 'Waybill', missing: postgresMissing, run: (options) => runWaybill(options, 1) },
    { name: 'Waybill, two nodes', missing: postgresMissing, run: (options) => runWaybill(options, 2) },
    { name: PG_BOSS, missing: () => postgresMissing() ?? pgBossMissing(), run: runPgBoss },
    { name: 'Postfix', missing: postfixMissing, isCompiled: true, run: runPostfix },
  ],
  mostPairs: 3,
  targets: [{ metric: 'messagesPerSecond', of: 'ratio', to: PG_BOSS, atLeast: 2.5, aim: 4 }],
};

async function runWaybill(options: RunOptions, count: number): Promise<Sample> {
  return overPostgres(options, async (database, sink) => {
    const nodes: Waybill[] = [];
    for (let number = 1; number <= count; number++) {
      const directory = path.join(options.directory, `node-${number}`);
      await mkdir(path.join(directory, 'data'), { recursive: true, mode: 0o700 });
      // All nodes seal with one key.
      const secretKey = (of: number) => path.join(options.directory, `node-${of}`, 'data', 'secret.key');
      if (number > 1) await copyFile(secretKey(1), secretKey(number));
      nodes.push(
        await startWaybill({ ...options, directory, databaseUrl: database.url, relayPort: sink.port }),
      );
    }
    const targets = nodes.map(({ httpPort, paths }) => ({ port: httpPort, path: paths.json }));
    return { systems: nodes, targets, key: nodes[0]?.key ?? '' };
  });
}

async function runPgBoss(options: RunOptions): Promise<Sample> {
  return overPostgres(options, async (database, sink) => {
    const boss = await startPgBoss({ ...options, databaseUrl: database.url, relayPort: sink.port });
    return { systems: [boss], targets: [{ port: boss.port, path: '/messages' }], key: PG_BOSS_KEY };
  });
}

async function runPostfix(options: RunOptions): Promise<Sample> {
  const sink = await startSink(options.directory, options.warmUp + options.messages);
  const postfix = await startPostfix({ ...options, relayPort: sink.port });
  const load = { port: postfix.smtpPort, sessions: 20, sizeBytes: 5120, keepConnections: false };
  const sample = await measureToTheEnd(postfix, sink, options, (messages) =>
    timed(messages, () => runSmtpSource({ ...load, messages })),
  );
  return withoutFlushes(sample);
}

/** What is measured, where its mail is posted, and the key to post it under. */
interface Posted {
  readonly systems: readonly System[];
  readonly targets: readonly { readonly port: number; readonly path: string }[];
  readonly key: string;
}

/** Measures what runs over a PostgreSQL, with what that costs. */
async function overPostgres(
  options: RunOptions,
  start: (database: BenchPostgres, sink: Sink) => Promise<Posted>,
): Promise<Sample> {
  const database = await startPostgres();
  const sink = await startSink(options.directory, options.warmUp + options.messages);
  const { systems, targets, key } = await start(database, sink);
  const all = [...systems, database];
  const system: System = {
    usage: () => together(all.map((one) => one.usage())),
    flushes: () => Number.NaN,
    stop: async () => {
      for (const one of all) await one.stop();
    },
  };
  const connections = CONNECTIONS / targets.length;
  const sample = await measureToTheEnd(system, sink, options, (messages) =>
    timed(messages, async () => {
      const share = { messages: messages / targets.length };
      await Promise.all(targets.map((target) => runHttpLoad({ ...target, key, connections, amount: share })));
    }),
  );
  return withoutFlushes(sample);
}

/** Feeds, and says how fast it went; delivery goes on meanwhile. */
async function timed(messages: number, feed: () => Promise<void>): Promise<Sample> {
  const begin = performance.now();
  await feed();
  return { acceptedPerSecond: (messages / (performance.now() - begin)) * 1000 };
}

/** The database's own cannot be counted where it is not traced. */
function withoutFlushes({ flushesPerMessage: _, ...sample }: Sample): Sample {
  return sample;
}
