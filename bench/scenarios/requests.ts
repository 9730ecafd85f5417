import { latenciesOf } from '../load/load-report.ts';
import { runHttpLoad } from '../load/start.ts';
import { startSink } from '../systems/sink.ts';
import { startWaybill } from '../systems/waybill.ts';
import { measureToTheEnd } from './end-to-end.ts';
import type { RunOptions, Sample, Scenario } from './scenario.ts';

/** What it costs to write down requests: the whole job, beside the same without the log of requests. */
export const requestsHttp: Scenario = {
  name: 'requests-http',
  shows:
    '5 KB messages over 50 connections of HTTP to the last delivery with the log of requests, beside `retention.requests_days: 0`',
  sides: [
    { name: 'log', missing: () => null, run: (options) => run(options, 3) },
    { name: 'none', missing: () => null, run: (options) => run(options, 0) },
  ],
  targets: [{ metric: 'cpuSecondsPer1000', of: 'ratio', atMost: 1.03 }],
};

async function run(options: RunOptions, requestsDays: number): Promise<Sample> {
  const sink = await startSink(options.directory, options.warmUp + options.messages);
  const waybill = await startWaybill({ ...options, relayPort: sink.port, requestsDays });
  const { httpPort: port, key, paths } = waybill;
  return measureToTheEnd(waybill, sink, options, async (messages) => ({
    ...latenciesOf(await runHttpLoad({ port, key, path: paths.json, connections: 50, amount: { messages } })),
  }));
}
