import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeBacklog } from '../load/backlog.ts';
import { latenciesOf } from '../load/load-report.ts';
import { runHttpLoad } from '../load/start.ts';
import { startSink } from '../systems/sink.ts';
import { untilQuiet } from '../systems/wait.ts';
import { startConfigured, type Waybill } from '../systems/waybill.ts';
import { measureLettingGo, measureToTheEnd } from './end-to-end.ts';
import { MIB, type RunOptions, type Sample, type Scenario } from './scenario.ts';

/** What waits here waits for an operator. */
const HELD = 'held';
const FEW = 1000;
const CONNECTIONS = 50;
const SIZE_BYTES = 5120;
/** Before either reading of the memory: time for what has just been done to come to rest. */
const REST_MS = 5000;

/** How fast a queue empties after a long outage, and what it costs in memory until then. */
export const deepDrain: Scenario = {
  name: 'deep-drain',
  shows:
    'a deep queue of 5 KB messages (1,000,000 unless said otherwise) let go over 20 connections, until the last has arrived, beside a short one',
  sides: [
    { name: 'deep queue', missing, run: (options) => letGo(options, options.deep) },
    { name: 'short queue', missing, run: (options) => letGo(options, options.messages) },
  ],
  targets: [
    { metric: 'messagesPerSecond', of: 'ratio', atLeast: 0.9 },
    { metric: 'aboveIdleMiB', of: 'value', atMost: 150 },
  ],
  mostPairs: 1,
};

/** What fresh mail notices of a queue that waits for something else. */
export const deepThroughput: Scenario = {
  name: 'deep-throughput',
  shows:
    'fresh 5 KB messages from the first post (50 connections) to the last delivery while a deep queue (1,000,000 unless said otherwise) waits for another relay, beside 1,000',
  sides: [
    { name: 'deep queue', missing, run: (options) => passBy(options, options.deep) },
    { name: '1,000 queued', missing, run: (options) => passBy(options, FEW) },
  ],
  targets: [{ metric: 'messagesPerSecond', of: 'ratio', atLeast: 0.9 }],
};

function missing(): null {
  return null;
}

async function letGo(options: RunOptions, queued: number): Promise<Sample> {
  const sink = await startSink(options.directory, queued);
  const idle = await idleBytes(options, sink.port);
  const system = await startOver(options, sink.port, queued);
  const { residentBytes } = system.usage();
  const { flushesPerMessage: _, ...sample } = await measureLettingGo(system, sink, queued);
  return { ...sample, aboveIdleMiB: (residentBytes - idle) / MIB };
}

async function passBy(options: RunOptions, queued: number): Promise<Sample> {
  const { messages } = options;
  const sink = await startSink(options.directory, options.warmUp + messages);
  const system = await startOver(options, sink.port, queued);
  const load = { port: system.httpPort, key: system.key, path: system.paths.json, connections: CONNECTIONS };
  const { flushesPerMessage: _, ...sample } = await measureToTheEnd(system, sink, options, async (count) =>
    latenciesOf(await runHttpLoad({ ...load, amount: { messages: count } })),
  );
  return sample;
}

/** Resident memory of the service with nothing to do. */
async function idleBytes(options: RunOptions, relayPort: number): Promise<number> {
  const directory = path.join(options.directory, 'idle');
  const system = await startConfigured({ ...options, directory }, configuration(relayPort), []);
  await sleep(REST_MS);
  const { residentBytes } = system.usage();
  await system.stop();
  return residentBytes;
}

/** The service with so many messages that wait for a relay which is held; it has looked at all of them. */
async function startOver(options: RunOptions, relayPort: number, queued: number): Promise<Waybill> {
  const data = path.join(options.directory, 'data');
  await makeBacklog(data, { messages: queued, lanes: null, relay: HELD, held: true, sizeBytes: SIZE_BYTES });
  const system = await startConfigured(options, configuration(relayPort), [HELD]);
  await untilQuiet(system);
  return system;
}

function configuration(port: number): string {
  const relay = (name: string) =>
    `  - { name: ${name}, type: smtp, host: 127.0.0.1, port: ${port}, tls: none, max_concurrency: 20 }\n`;
  return `delivery: { default_relay: out }
relays:
${relay('out')}${relay(HELD)}routes:
  - { match: { recipient_domain: ${HELD}.example }, via: [${HELD}] }
`;
}
