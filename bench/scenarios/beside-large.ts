import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PLAIN_KEY } from '../../test/support/plain-key.ts';
import { latenciesOf } from '../load/load-report.ts';
import { runHttpLoad } from '../load/start.ts';
import { costBetween, readMeters } from '../measure/meter.ts';
import { type Child, startChild } from '../systems/child.ts';
import { startSink } from '../systems/sink.ts';
import { until } from '../systems/wait.ts';
import { startWaybill, type Waybill } from '../systems/waybill.ts';
import type { RunOptions, Sample, Scenario } from './scenario.ts';

const LARGE = { connections: 16, bytes: 25_000_000 };
const SMALL = { connections: 20, sizeBytes: 5120 };
const PROGRAM = fileURLToPath(new URL('../load/large-bodies.ts', import.meta.url));

/** What small messages lose while a client of another key sends messages of 25 MB as fast as it can. */
export const besideLarge: Scenario = {
  name: 'beside-large',
  shows: `${SMALL.connections} connections post 5 KB of JSON while ${LARGE.connections} of another key post 25 MB each, over and over`,
  sides: [
    { name: 'beside large ones', missing: () => null, run: (options) => run(options, true) },
    { name: 'alone', missing: () => null, run: (options) => run(options, false) },
  ],
  targets: [{ metric: 'messagesPerSecond', of: 'ratio', atLeast: 0.5 }],
};

async function run(options: RunOptions, isBeside: boolean): Promise<Sample> {
  const sink = await startSink(options.directory);
  const waybill = await startWaybill({ ...options, relayPort: sink.port });
  const load = { port: waybill.httpPort, key: waybill.key, path: waybill.paths.json, ...SMALL };
  await runHttpLoad({ ...load, amount: { messages: options.warmUp } });
  const large = isBeside ? await startLarge(options, waybill) : null;
  const before = readMeters(waybill);
  const report = await runHttpLoad({ ...load, amount: { seconds: options.seconds } });
  const after = readMeters(waybill);
  await large?.kill();
  await waybill.stop();
  await sink.stop();
  return {
    messagesPerSecond: report.accepted / report.seconds,
    ...latenciesOf(report),
    ...costBetween(before, after, report.accepted),
  };
}

async function startLarge(
  { directory }: RunOptions,
  { httpPort, paths, operations }: Waybill,
): Promise<Child> {
  const { secret: key } = await operations.createKey({ ...PLAIN_KEY, name: 'large' });
  const options = { port: httpPort, path: paths.json, key, ...LARGE };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = await startChild([process.execPath, PROGRAM, ...args], {
    log: path.join(directory, 'large-bodies.log'),
  });
  await until('the first large message', 60, () => (child.output().includes('begun') ? true : null));
  return child;
}
