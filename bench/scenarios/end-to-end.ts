import { setTimeout as sleep } from 'node:timers/promises';
import { costBetween, readMeters } from '../measure/meter.ts';
import type { Sink } from '../systems/sink.ts';
import type { Relay, System } from '../systems/system.ts';
import { until, within } from '../systems/wait.ts';
import type { RunOptions, Sample } from './scenario.ts';

/** Time to write down what became of the last messages: its CPU counts, its duration does not. */
export const SETTLE_MS = 1000;
const GIVE_UP_SECONDS = 300;
/** Who is slower than this is given up. */
const SLOWEST_PER_SECOND = 100;

/** Resolves when a sink that was started for the warm-up and more has taken the warm-up. */
export async function untilTaken(sink: Sink, messages: number): Promise<void> {
  await until('the warm-up', GIVE_UP_SECONDS, () => (sink.taken() >= messages ? true : null));
}

/** When, by `performance.now()`, the sink has taken all that it was started for. Throws when that takes too long. */
async function whenFull(sink: Sink, messages: number): Promise<number> {
  await within(GIVE_UP_SECONDS + messages / SLOWEST_PER_SECOND, 'the last delivery', sink.full);
  return performance.now();
}

/**
 * Feeds a system, measures from the first message until the sink is full, and stops both. The sink was started for
 * the warm-up and `messages`; `feed` may add what it has measured itself.
 */
export async function measureToTheEnd(
  system: System,
  sink: Sink,
  { warmUp, messages }: Pick<RunOptions, 'warmUp' | 'messages'>,
  feed: (messages: number) => Promise<Sample>,
): Promise<Sample> {
  await feed(warmUp);
  await untilTaken(sink, warmUp);
  return measureUntilFull(system, sink, messages, () => feed(messages));
}

/** Lets a queue go that is held, measures until the sink is full, and stops both. */
export async function measureLettingGo(
  system: System & Pick<Relay, 'release'>,
  sink: Sink,
  messages: number,
): Promise<Sample> {
  return measureUntilFull(system, sink, messages, async () => {
    await system.release();
    return {};
  });
}

/** Waits until the sink, which is there again, has got something; measures from then until it is full, and stops both. */
export async function measureComingBack(relay: Relay, sink: Sink, messages: number): Promise<Sample> {
  const backAt = performance.now();
  await relay.flush();
  await until('the first delivery', GIVE_UP_SECONDS, () => (sink.taken() > 0 ? true : null));
  const firstSeconds = (performance.now() - backAt) / 1000;
  return measureUntilFull(relay, sink, messages, async () => ({ firstSeconds }));
}

async function measureUntilFull(
  system: System,
  sink: Sink,
  messages: number,
  begin: () => Promise<Sample>,
): Promise<Sample> {
  const before = readMeters(system);
  const [sample, fullAt] = await Promise.all([begin(), whenFull(sink, messages)]);
  await sleep(SETTLE_MS);
  const after = readMeters(system);
  await system.stop();
  await sink.stop();
  return {
    ...sample,
    messagesPerSecond: (messages / (fullAt - before.at)) * 1000,
    ...costBetween(before, after, messages),
  };
}
