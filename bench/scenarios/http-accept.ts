import { runHttpLoad } from '../load/start.ts';
import { startBareHttp } from '../systems/bare-http.ts';
import { startSink } from '../systems/sink.ts';
import type { System } from '../systems/system.ts';
import { startWaybill } from '../systems/waybill.ts';
import { MIB, type RunOptions, type Sample, type Scenario } from './scenario.ts';

/** Time for the compiler to settle; nothing in it is measured. */
const WARM_UP_SECONDS = 3;

/** How fast messages become ours for good, beside a server that promises nothing. */
export const httpAccept: Scenario = {
  name: 'http-accept',
  shows:
    '50 connections post 5 KB of JSON; accepted durably while delivery runs, beside a bare node:http 202',
  sides: [
    { name: 'Waybill', missing: () => null, run: runWaybill },
    { name: 'bare node:http', missing: () => null, run: runBare },
  ],
  targets: [
    { metric: 'messagesPerSecond', of: 'ratio', atLeast: 0.17 },
    { metric: 'p99Ms', of: 'value', atMost: 25 },
    { metric: 'flushesPerMessage', of: 'value', atMost: 0.15 },
  ],
};

async function runWaybill(options: RunOptions): Promise<Sample> {
  const sink = await startSink(options.directory);
  const waybill = await startWaybill({ ...options, relayPort: sink.port });
  const sample = await measure(waybill, waybill.apiPort, waybill.key, options, () => sink.taken());
  await waybill.stop();
  await sink.stop();
  return sample;
}

async function runBare(options: RunOptions): Promise<Sample> {
  const bare = await startBareHttp(options);
  const {
    deliveredShare: _d,
    flushesPerMessage: _f,
    ...sample
  } = await measure(bare, bare.port, 'none', options, () => 0);
  await bare.stop();
  return sample;
}

async function measure(
  system: System,
  port: number,
  key: string,
  { seconds }: RunOptions,
  delivered: () => number,
): Promise<Sample> {
  const load = { port, key, path: '/api/v1/messages', connections: 50 };
  await runHttpLoad({ ...load, amount: { seconds: WARM_UP_SECONDS } });
  const before = { usage: system.usage(), flushes: system.flushes(), delivered: delivered() };
  const report = await runHttpLoad({ ...load, amount: { seconds } });
  const usage = system.usage();
  return {
    messagesPerSecond: report.accepted / report.seconds,
    cpuSecondsPer1000: ((usage.cpuSeconds - before.usage.cpuSeconds) / report.accepted) * 1000,
    p50Ms: report.p50Ms,
    p99Ms: report.p99Ms,
    deliveredShare: (delivered() - before.delivered) / report.accepted,
    peakMemoryMiB: usage.peakBytes / MIB,
    flushesPerMessage: (system.flushes() - before.flushes) / report.accepted,
  };
}
