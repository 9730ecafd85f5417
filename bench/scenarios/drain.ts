import { setTimeout as sleep } from 'node:timers/promises';
import { runSmtpSource } from '../load/smtp-source.ts';
import { startSink, startSinkAt } from '../systems/sink.ts';
import type { Relay, StartRelay } from '../systems/system.ts';
import { besidePostfix } from './beside-relays.ts';
import { measureComingBack, measureLettingGo, SETTLE_MS, untilTaken } from './end-to-end.ts';
import type { RunOptions, Sample, Scenario, Target } from './scenario.ts';

const LOAD = { sessions: 20, sizeBytes: 5120, keepConnections: true };
/** Longer than the first backoff, so that those that were tried meanwhile are due too. */
const OUTAGE_MS = 45_000;
const TARGETS: readonly Target[] = [{ metric: 'messagesPerSecond', of: 'ratio', atLeast: 4, aim: 6 }];

/** How fast a queue empties that an operator held. */
export const drain: Scenario = besidePostfix(
  {
    name: 'drain',
    shows: 'a queue of 5 KB messages let go over 20 connections, until the last has arrived',
    targets: TARGETS,
  },
  letGo,
);

/** How fast a queue empties whose next hop was down while it grew. */
export const drainAfterOutage: Scenario = besidePostfix(
  {
    name: 'drain-after-outage',
    shows:
      'a queue of 5 KB messages whose next hop is there again, over 20 connections, from the first to arrive',
    targets: TARGETS,
  },
  comeBack,
);

async function letGo(start: StartRelay, options: RunOptions): Promise<Sample> {
  const { messages } = options;
  const sink = await startSink(options.directory, options.warmUp + messages);
  const relay = await start({ ...options, relayPort: sink.port });
  await feed(relay, options.warmUp);
  await untilTaken(sink, options.warmUp);
  await relay.hold();
  await feed(relay, messages);
  await sleep(SETTLE_MS);
  return measureLettingGo(relay, sink, messages);
}

async function comeBack(start: StartRelay, options: RunOptions): Promise<Sample> {
  const { directory, messages } = options;
  // It ends with the last message of the warm-up: from then on nobody listens.
  const before = await startSink(directory, options.warmUp);
  const relay = await start({ ...options, relayPort: before.port });
  await feed(relay, options.warmUp);
  await before.full;
  await feed(relay, messages);
  await sleep(OUTAGE_MS);
  const sink = await startSinkAt(before.port, directory, messages);
  return measureComingBack(relay, sink, messages);
}

function feed({ smtpPort }: Relay, messages: number): Promise<void> {
  return runSmtpSource({ ...LOAD, port: smtpPort, messages });
}
