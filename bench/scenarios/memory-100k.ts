import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../test/peers/free-port.ts';
import { latenciesOf } from '../load/load-report.ts';
import { runHttpLoad } from '../load/start.ts';
import { startWaybill } from '../systems/waybill.ts';
import { MIB, type RunOptions, type Sample, type Scenario } from './scenario.ts';

const QUEUED = 100_000;
/** Before either reading of the memory: time for what has just been done to come to rest. */
const SETTLE_MS = 5000;

/** That a queue costs disk, not memory. */
export const memory100k: Scenario = {
  name: 'memory-100k',
  shows: '100,000 messages of 5 KB queued for a next hop that is down, beside the memory of the idle service',
  sides: [{ name: 'Waybill', missing: () => null, run }],
  mostPairs: 1,
  targets: [{ metric: 'aboveIdleMiB', of: 'value', atMost: 60 }],
};

async function run(options: RunOptions): Promise<Sample> {
  const waybill = await startWaybill({ ...options, relayPort: await freePort() });
  await sleep(SETTLE_MS);
  const idle = waybill.usage();
  const load = { port: waybill.httpPort, key: waybill.key, path: waybill.paths.json, connections: 50 };
  const report = await runHttpLoad({ ...load, amount: { messages: QUEUED } });
  await sleep(SETTLE_MS);
  const queued = waybill.usage();
  await waybill.stop();
  return {
    messagesPerSecond: report.accepted / report.seconds,
    ...latenciesOf(report),
    peakMemoryMiB: queued.peakBytes / MIB,
    aboveIdleMiB: (queued.residentBytes - idle.residentBytes) / MIB,
  };
}
