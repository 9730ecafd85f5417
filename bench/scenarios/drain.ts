import { setTimeout as sleep } from 'node:timers/promises';
import { runSmtpSource } from '../load/smtp-source.ts';
import { startSink } from '../systems/sink.ts';
import type { StartRelay } from '../systems/system.ts';
import { until, within } from '../systems/wait.ts';
import { besidePostfix } from './beside-postfix.ts';
import { SETTLE_MS, WARM_UP_MESSAGES } from './end-to-end.ts';
import { MIB, type RunOptions, type Sample, type Scenario } from './scenario.ts';

const LOAD = { sessions: 20, sizeBytes: 5120, keepConnections: true };
const GIVE_UP_SECONDS = 600;

/** How fast a queue empties once the next hop is there again. */
export const drain: Scenario = besidePostfix(
  {
    name: 'drain',
    shows: 'a queue of 5 KB messages let go over 20 connections, until the last has arrived, beside Postfix',
    targets: [
      { metric: 'messagesPerSecond', of: 'ratio', atLeast: 4 },
      { metric: 'cpuSecondsPer1000', of: 'ratio', atMost: 0.1 },
    ],
  },
  run,
);

async function run(start: StartRelay, options: RunOptions): Promise<Sample> {
  const { messages } = options;
  const sink = await startSink(options.directory, WARM_UP_MESSAGES + messages);
  const system = await start({ ...options, relayPort: sink.port });
  const feed = (count: number) => runSmtpSource({ ...LOAD, port: system.smtpPort, messages: count });
  await feed(WARM_UP_MESSAGES);
  await until('the warm-up', GIVE_UP_SECONDS, () => (sink.taken() >= WARM_UP_MESSAGES ? true : null));
  await system.hold();
  await feed(messages);
  await sleep(SETTLE_MS);
  const before = { usage: system.usage(), flushes: system.flushes(), at: performance.now() };
  const full = within(GIVE_UP_SECONDS, 'the last delivery', sink.full).then(() => performance.now());
  await system.release();
  const fullAt = await full;
  await sleep(SETTLE_MS);
  const usage = system.usage();
  const flushes = system.flushes();
  await system.stop();
  await sink.stop();
  return {
    messagesPerSecond: (messages / (fullAt - before.at)) * 1000,
    cpuSecondsPer1000: ((usage.cpuSeconds - before.usage.cpuSeconds) / messages) * 1000,
    peakMemoryMiB: usage.peakBytes / MIB,
    flushesPerMessage: (flushes - before.flushes) / messages,
  };
}
