import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startSmtpSink } from '../../test/peers/smtp-sink.ts';
import { makeBacklog } from '../load/backlog.ts';
import { startLoopbackDns } from '../systems/loopback-dns.ts';
import { startSink } from '../systems/sink.ts';
import { untilQuiet } from '../systems/wait.ts';
import { startConfigured } from '../systems/waybill.ts';
import { measureLettingGo } from './end-to-end.ts';
import type { RunOptions, Sample, Scenario } from './scenario.ts';

const RELAY = 'direct';
const DESTINATIONS = 1000;
const SLOW_DOMAIN = 'd0.example';
const [HOST, SLOW_HOST] = ['127.0.0.1', '127.0.0.2'];
const CONNECTIONS = 100;
const SIZE_BYTES = 5120;
/** Before each of its replies. */
const SLOWNESS_MS = 2000;

/** That a destination which takes its time is nobody else's trouble. */
export const oneSlowDestination: Scenario = {
  name: 'one-slow-destination',
  shows:
    'a queue of 5 KB messages for 1,000 domains let go over 100 connections, until the last of the others has arrived, one of which answers each command after 2 s, beside 1,000 that are quick',
  sides: [
    { name: 'one slow', missing: () => null, run: (options) => run(options, 1) },
    { name: 'none slow', missing: () => null, run: (options) => run(options, 0) },
  ],
  targets: [{ metric: 'messagesPerSecond', of: 'ratio', atLeast: 0.95 }],
  mostPairs: 3,
};

async function run(options: RunOptions, slow: number): Promise<Sample> {
  const each = Math.ceil(options.messages / DESTINATIONS);
  const others = each * (DESTINATIONS - slow);
  const sink = await startSink(options.directory, others);
  const dns = await startLoopbackDns((domain) =>
    slow > 0 && domain.toLowerCase() === SLOW_DOMAIN ? SLOW_HOST : HOST,
  );
  const hop = await startSlowHop(sink.port);
  try {
    await makeBacklog(path.join(options.directory, 'data'), {
      messages: each * DESTINATIONS,
      lanes: DESTINATIONS,
      relay: RELAY,
      held: true,
      sizeBytes: SIZE_BYTES,
    });
    const system = await startConfigured(options, configuration(sink.port, dns.port), [RELAY]);
    await untilQuiet(system);
    const { flushesPerMessage: _, ...sample } = await measureLettingGo(system, sink, others);
    return sample;
  } finally {
    dns.stop();
    await hop.close();
  }
}

function startSlowHop(port: number) {
  const late = (reply: string) => () => ({ after: sleep(SLOWNESS_MS), reply });
  return startSmtpSink({
    host: SLOW_HOST,
    port,
    keep: 'count',
    script: {
      CONNECT: late('220 slow.example'),
      EHLO: late('250 slow.example'),
      MAIL: late('250 2.1.0 ok'),
      RCPT: late('250 2.1.5 ok'),
      DATA: late('354 go on'),
      DOT: late('250 2.0.0 taken'),
    },
  });
}

function configuration(port: number, dnsPort: number): string {
  return `server: { hostname: mail.example.com }
delivery: { default_relay: ${RELAY} }
dns: { servers: ["127.0.0.1:${dnsPort}"] }
relays:
  - { name: ${RELAY}, type: mx, port: ${port}, allow_private: true, max_concurrency: ${CONNECTIONS} }
`;
}
