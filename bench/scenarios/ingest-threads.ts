import { latenciesOf } from '../load/load-report.ts';
import { runSmtpSource } from '../load/smtp-source.ts';
import { runHttpLoad } from '../load/start.ts';
import { startSink } from '../systems/sink.ts';
import { startWaybill, type Waybill } from '../systems/waybill.ts';
import { measureToTheEnd } from './end-to-end.ts';
import type { RunOptions, Sample, Scenario } from './scenario.ts';

const THREADS = 2;

/** The whole job where other threads than the one that delivers take mail, beside the same with one thread for both. */
export const ingestThreads: readonly Scenario[] = [
  besideOne(
    'ingest-threads-smtp',
    '5 KB messages over 100 kept connections of SMTP',
    async ({ smtpPort: port }, messages) => {
      await runSmtpSource({ port, sessions: 100, sizeBytes: 5120, messages, keepConnections: true });
      return {};
    },
  ),
  besideOne(
    'ingest-threads-http',
    '5 KB messages over 50 connections of HTTP',
    async ({ httpPort: port, key, paths }, messages) =>
      latenciesOf(await runHttpLoad({ port, key, path: paths.json, connections: 50, amount: { messages } })),
  ),
];

type Load = (waybill: Waybill, messages: number) => Promise<Partial<Sample>>;

function besideOne(name: string, load: string, send: Load): Scenario {
  const run = async (options: RunOptions, threads: number): Promise<Sample> => {
    const sink = await startSink(options.directory, options.warmUp + options.messages);
    const waybill = await startWaybill({ ...options, relayPort: sink.port, threads });
    return measureToTheEnd(waybill, sink, options, async (messages) => ({
      ...(await send(waybill, messages)),
    }));
  };
  return {
    name,
    shows: `${load} to the last delivery with \`threads.ingest: ${THREADS}\`, beside the same with 1`,
    sides: [
      { name: `${THREADS} threads`, missing: () => null, run: (options) => run(options, THREADS) },
      { name: '1 thread', missing: () => null, run: (options) => run(options, 1) },
    ],
    mostPairs: 3,
    targets: [],
  };
}
