import { setTimeout as sleep } from 'node:timers/promises';
import { runHttpLoad } from '../load/start.ts';
import { postfixMissing, runSmtpSource, startPostfix } from '../systems/postfix.ts';
import { type Sink, startSink } from '../systems/sink.ts';
import type { System } from '../systems/system.ts';
import { until, within } from '../systems/wait.ts';
import { startWaybill } from '../systems/waybill.ts';
import { MIB, type RunOptions, type Sample, type Scenario } from './scenario.ts';

/** Sent first, to both, so that code is compiled and processes are started; not measured. */
const WARM_UP_MESSAGES = 2000;
/** Time to write down what became of the last messages: its CPU counts, its duration does not. */
const SETTLE_MS = 1000;
const GIVE_UP_SECONDS = 600;

/** The main job, from the first post to the last delivery, beside Postfix doing the same. */
export const httpToSmtp: Scenario = {
  name: 'http-to-smtp',
  shows:
    '5 KB messages from the first post (50 connections) to the last delivery, beside Postfix and smtp-source',
  sides: [
    { name: 'Waybill', missing: () => null, run: runWaybill },
    { name: 'Postfix', missing: postfixMissing, run: runPostfix },
  ],
  targets: [
    { metric: 'messagesPerSecond', of: 'ratio', atLeast: 7 },
    { metric: 'cpuSecondsPer1000', of: 'ratio', atMost: 1 / 9 },
  ],
};

async function runWaybill(options: RunOptions): Promise<Sample> {
  const sink = await startSink(options.directory, WARM_UP_MESSAGES + options.messages);
  const waybill = await startWaybill({ ...options, relayPort: sink.port });
  const load = { port: waybill.apiPort, key: waybill.key, path: '/api/v1/messages', connections: 50 };
  return measure(waybill, sink, options.messages, async (messages) => {
    const { p50Ms, p99Ms } = await runHttpLoad({ ...load, amount: { messages } });
    return { p50Ms, p99Ms };
  });
}

async function runPostfix(options: RunOptions): Promise<Sample> {
  const sink = await startSink(options.directory, WARM_UP_MESSAGES + options.messages);
  const postfix = await startPostfix({ ...options, relayPort: sink.port });
  return measure(postfix, sink, options.messages, async (messages) => {
    await runSmtpSource(postfix.port, messages);
    return {};
  });
}

/** Feeds a system and waits for the sink; stops both. */
async function measure(
  system: System,
  sink: Sink,
  messages: number,
  feed: (messages: number) => Promise<Sample>,
): Promise<Sample> {
  await feed(WARM_UP_MESSAGES);
  await until('the warm-up', GIVE_UP_SECONDS, () => (sink.taken() >= WARM_UP_MESSAGES ? true : null));
  const before = { usage: system.usage(), flushes: system.flushes(), at: performance.now() };
  const full = within(GIVE_UP_SECONDS, 'the last delivery', sink.full).then(() => performance.now());
  const [sample, fullAt] = await Promise.all([feed(messages), full]);
  await sleep(SETTLE_MS);
  const usage = system.usage();
  const flushes = system.flushes();
  await system.stop();
  await sink.stop();
  return {
    ...sample,
    messagesPerSecond: (messages / (fullAt - before.at)) * 1000,
    cpuSecondsPer1000: ((usage.cpuSeconds - before.usage.cpuSeconds) / messages) * 1000,
    peakMemoryMiB: usage.peakBytes / MIB,
    flushesPerMessage: (flushes - before.flushes) / messages,
  };
}
