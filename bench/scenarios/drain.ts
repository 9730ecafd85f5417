import { setTimeout as sleep } from 'node:timers/promises';
import { runSmtpSource } from '../load/smtp-source.ts';
import { startSink } from '../systems/sink.ts';
import type { StartRelay } from '../systems/system.ts';
import { besidePostfix } from './beside-relays.ts';
import { measureLettingGo, SETTLE_MS, untilTaken, warmUpOf } from './end-to-end.ts';
import type { RunOptions, Sample, Scenario } from './scenario.ts';

const LOAD = { sessions: 20, sizeBytes: 5120, keepConnections: true };

/** How fast a queue empties once the next hop is there again. */
export const drain: Scenario = besidePostfix(
  {
    name: 'drain',
    shows: 'a queue of 5 KB messages let go over 20 connections, until the last has arrived',
    targets: [
      { metric: 'messagesPerSecond', of: 'ratio', atLeast: 5 },
      { metric: 'cpuSecondsPer1000', of: 'ratio', atMost: 0.1 },
    ],
  },
  run,
);

async function run(start: StartRelay, options: RunOptions): Promise<Sample> {
  const { messages } = options;
  const sink = await startSink(options.directory, warmUpOf(messages) + messages);
  const system = await start({ ...options, relayPort: sink.port });
  const feed = (count: number) => runSmtpSource({ ...LOAD, port: system.smtpPort, messages: count });
  await feed(warmUpOf(messages));
  await untilTaken(sink, warmUpOf(messages));
  await system.hold();
  await feed(messages);
  await sleep(SETTLE_MS);
  return measureLettingGo(system, sink, messages);
}
