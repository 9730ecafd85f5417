import { setTimeout as sleep } from 'node:timers/promises';
import type { Sink } from '../systems/sink.ts';
import type { System } from '../systems/system.ts';
import { until, within } from '../systems/wait.ts';
import { MIB, type Sample } from './scenario.ts';

/** Sent first, to every system, so that code is compiled and processes are started; not measured. */
export const WARM_UP_MESSAGES = 2000;
/** Time to write down what became of the last messages: its CPU counts, its duration does not. */
export const SETTLE_MS = 1000;
const GIVE_UP_SECONDS = 600;

/**
 * Feeds a system, measures from the first message until the sink is full, and stops both. The sink was started for
 * the warm-up and `messages`; `feed` may add what it has measured itself.
 */
export async function measureToTheEnd(
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
