import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { runHttpLoad } from '../load/start.ts';
import { startProviderSink } from '../systems/sink.ts';
import { until, within } from '../systems/wait.ts';
import { startConfigured } from '../systems/waybill.ts';
import { SETTLE_MS, WARM_UP_MESSAGES } from './end-to-end.ts';
import { MIB, type RunOptions, type Sample, type Scenario } from './scenario.ts';

const GIVE_UP_SECONDS = 600;
const CONNECTIONS = 50;
/** Keeps a process on one core. */
const TASKSET = '/usr/bin/taskset';

/** How fast a queue goes out by a provider's API that takes the message as it is: base64, and a signed request. */
export const providerSes = scenario(
  'provider-ses',
  'the message as it is (ses)',
  'type: ses, region: eu-west-1, access_key_id: AKIDEXAMPLE000000',
);

/** The same where the message is rebuilt from its parts. */
export const providerPostmark = scenario(
  'provider-postmark',
  'the message rebuilt from its parts (postmark)',
  'type: postmark',
);

function scenario(name: string, how: string, fields: string): Scenario {
  return {
    name,
    shows: `a queue of 5 KB messages let go to a provider's API on this machine over ${CONNECTIONS} connections, all of Waybill on one core: ${how}`,
    sides: [
      {
        name: 'Waybill',
        missing: () => (existsSync(TASKSET) ? null : 'taskset is not installed'),
        run: (options) => run(options, fields),
      },
    ],
    targets: [{ metric: 'messagesPerSecond', of: 'value', atLeast: 500 }],
  };
}

async function run(options: RunOptions, fields: string): Promise<Sample> {
  const { directory, messages } = options;
  const sink = await startProviderSink(directory, WARM_UP_MESSAGES + messages);
  const waybill = await startConfigured(
    options,
    configuration(sink.port, fields),
    ['out'],
    [TASKSET, '-c', '0'],
  );
  const load = { port: waybill.apiPort, key: waybill.key, path: '/api/v1/messages', connections: 20 };
  const feed = (count: number) => runHttpLoad({ ...load, amount: { messages: count } });
  await feed(WARM_UP_MESSAGES);
  await until('the warm-up', GIVE_UP_SECONDS, () => (sink.taken() >= WARM_UP_MESSAGES ? true : null));
  await waybill.hold();
  await feed(messages);
  await sleep(SETTLE_MS);
  const before = { usage: waybill.usage(), at: performance.now() };
  const full = within(GIVE_UP_SECONDS, 'the last delivery', sink.full).then(() => performance.now());
  await waybill.release();
  const fullAt = await full;
  await sleep(SETTLE_MS);
  const usage = waybill.usage();
  await waybill.stop();
  await sink.stop();
  return {
    messagesPerSecond: (messages / (fullAt - before.at)) * 1000,
    cpuSecondsPer1000: ((usage.cpuSeconds - before.usage.cpuSeconds) / messages) * 1000,
    peakMemoryMiB: usage.peakBytes / MIB,
  };
}

function configuration(port: number, fields: string): string {
  return `delivery: { default_relay: out }
relays:
  - { name: out, ${fields}, secret: bench-secret, endpoint: "http://127.0.0.1:${port}", allow_private: true, max_concurrency: ${CONNECTIONS} }
`;
}
