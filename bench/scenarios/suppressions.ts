import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { openDatabase } from '../../src/store/sqlite/open.ts';
import { latenciesOf } from '../load/load-report.ts';
import { runSmtpSource } from '../load/smtp-source.ts';
import { runHttpLoad } from '../load/start.ts';
import { startSink } from '../systems/sink.ts';
import { untilQuiet } from '../systems/wait.ts';
import { startWaybill, type Waybill } from '../systems/waybill.ts';
import { measureToTheEnd } from './end-to-end.ts';
import type { RunOptions, Sample, Scenario } from './scenario.ts';

/** Entries for each message of a deep queue: 5,000,000 in full. */
const ENTRIES_PER_DEEP = 5;

/** What a long suppression list costs mail that it does not stop: the whole job, beside an empty list. */
export const suppressions: readonly Scenario[] = [
  besideEmpty('suppressions-smtp', '20 kept connections of SMTP', async ({ smtpPort: port }, messages) => {
    await runSmtpSource({ port, sessions: 20, sizeBytes: 5120, messages, keepConnections: true });
    return {};
  }),
  besideEmpty(
    'suppressions-http',
    '50 connections of HTTP',
    async ({ httpPort: port, key, paths }, messages) =>
      latenciesOf(await runHttpLoad({ port, key, path: paths.json, connections: 50, amount: { messages } })),
  ),
];

type Load = (waybill: Waybill, messages: number) => Promise<Partial<Sample>>;

function besideEmpty(name: string, over: string, send: Load): Scenario {
  const run = async (options: RunOptions, entries: number): Promise<Sample> => {
    if (entries > 0) await fill(options.directory, entries);
    const sink = await startSink(options.directory, options.warmUp + options.messages);
    const waybill = await startWaybill({ ...options, relayPort: sink.port });
    // It reads the whole list once, after its start.
    await untilQuiet(waybill);
    return measureToTheEnd(waybill, sink, options, async (messages) => ({
      ...(await send(waybill, messages)),
    }));
  };
  return {
    name,
    shows: `5 KB messages over ${over} to the last delivery with 5,000,000 entries in the suppression list, beside an empty one`,
    sides: [
      { name: 'long', missing: () => null, run: (options) => run(options, options.deep * ENTRIES_PER_DEEP) },
      { name: 'empty', missing: () => null, run: (options) => run(options, 0) },
    ],
    targets: [{ metric: 'cpuSecondsPer1000', of: 'ratio', atMost: 1.03 }],
  };
}

/** Writes the entries as they would be if somebody had imported them. */
async function fill(directory: string, entries: number): Promise<void> {
  const data = path.join(directory, 'data');
  await mkdir(data, { mode: 0o700, recursive: true });
  const db = openDatabase(path.join(data, 'waybill.db'));
  db.exec('BEGIN');
  db.prepare<[entries: number]>(FILL).run(entries);
  db.prepare<[entries: number]>('INSERT INTO suppression_counts (change) VALUES (?)').run(entries);
  db.exec('COMMIT');
  db.close();
}

// In the order of every index, which takes a tenth of the time.
const FILL = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
  INSERT INTO suppressions (id, address, domain, scope, stream, reason, source, note, created_at, updated_at)
  SELECT printf('sup_%026d', n), printf('user%08d@d%06d.example', n, n / 500), printf('d%06d.example', n / 500),
    'global', '', 'hard_bounce', 'import', '', 0, 0 FROM numbers`;
