import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { latenciesOf } from '../load/load-report.ts';
import { runHttpLoad } from '../load/start.ts';
import { startChild } from '../systems/child.ts';
import { startSink } from '../systems/sink.ts';
import { until } from '../systems/wait.ts';
import { startWaybill } from '../systems/waybill.ts';
import { measureToTheEnd } from './end-to-end.ts';
import type { RunOptions, Sample, Scenario } from './scenario.ts';

const DASHBOARDS = 50;
const USER = { name: 'bench', password: 'only for the benchmark' };
const PROGRAM = fileURLToPath(new URL('../load/dashboards.ts', import.meta.url));

/** What it costs delivery that people look on. The browsers' own work is not counted, only the server's. */
export const dashboards: Scenario = {
  name: 'dashboards',
  shows: `the main job while ${DASHBOARDS} dashboards are open, beside the same without any`,
  sides: [
    { name: `${DASHBOARDS} open`, missing: () => null, run: (options) => run(options, DASHBOARDS) },
    { name: 'none', missing: () => null, run: (options) => run(options, 0) },
  ],
  mostPairs: 3,
  targets: [{ metric: 'cpuSecondsPer1000', of: 'ratio', atMost: 1.02 }],
};

async function run(options: RunOptions, count: number): Promise<Sample> {
  const sink = await startSink(options.directory, options.warmUp + options.messages);
  const waybill = await startWaybill({ ...options, relayPort: sink.port });
  const load = { port: waybill.httpPort, key: waybill.key, path: waybill.paths.json, connections: 50 };
  const open = count === 0 ? null : await openDashboards(options, waybill, count);
  const sample = await measureToTheEnd(waybill, sink, options, async (messages) => {
    return latenciesOf(await runHttpLoad({ ...load, amount: { messages } }));
  });
  await open?.kill();
  return sample;
}

async function openDashboards(
  { directory }: RunOptions,
  { webuiPort, operations }: Awaited<ReturnType<typeof startWaybill>>,
  count: number,
) {
  await operations.resetPassword(USER);
  const { name, password } = USER;
  const options = { port: webuiPort, count, name, password };
  const args = Object.entries(options).flatMap(([key, value]) => [`--${key}`, String(value)]);
  const child = await startChild([process.execPath, PROGRAM, ...args], {
    log: path.join(directory, 'dashboards.log'),
  });
  await until('the dashboards to open', 60, () => (child.output().includes('open') ? true : null));
  return child;
}
