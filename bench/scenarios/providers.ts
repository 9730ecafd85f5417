import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { runHttpLoad } from '../load/start.ts';
import { startProviderSink } from '../systems/sink.ts';
import { startConfigured } from '../systems/waybill.ts';
import { measureLettingGo, SETTLE_MS, untilTaken } from './end-to-end.ts';
import type { RunOptions, Sample, Scenario } from './scenario.ts';

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
    mostPairs: 3,
    targets: [{ metric: 'messagesPerSecond', of: 'value', atLeast: 500 }],
  };
}

async function run(options: RunOptions, fields: string): Promise<Sample> {
  const { directory, messages } = options;
  const sink = await startProviderSink(directory, options.warmUp + messages);
  const waybill = await startConfigured(
    options,
    configuration(sink.port, fields),
    ['out'],
    [TASKSET, '-c', '0'],
  );
  const load = { port: waybill.httpPort, key: waybill.key, path: waybill.paths.json, connections: 20 };
  const feed = (count: number) => runHttpLoad({ ...load, amount: { messages: count } });
  await feed(options.warmUp);
  await untilTaken(sink, options.warmUp);
  await waybill.hold();
  await feed(messages);
  await sleep(SETTLE_MS);
  const { flushesPerMessage: _, ...sample } = await measureLettingGo(waybill, sink, messages);
  return sample;
}

function configuration(port: number, fields: string): string {
  return `delivery: { default_relay: out }
relays:
  - { name: out, ${fields}, secret: bench-secret, endpoint: "http://127.0.0.1:${port}", allow_private: true, max_concurrency: ${CONNECTIONS} }
`;
}
