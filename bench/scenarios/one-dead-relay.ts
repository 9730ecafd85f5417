import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../test/peers/free-port.ts';
import { runSmtpSource, smtpSourceMissing } from '../load/smtp-source.ts';
import { startSink } from '../systems/sink.ts';
import { startConfigured } from '../systems/waybill.ts';
import { measureLettingGo, SETTLE_MS, untilTaken } from './end-to-end.ts';
import type { RunOptions, Sample, Scenario } from './scenario.ts';

/** Relays whose next hop is there. */
const ALIVE = 9;
const CONNECTIONS = 10;
const LOAD = { sessions: 10, sizeBytes: 5120, keepConnections: true };

/** That a next hop which is down is nobody else's trouble. */
export const oneDeadRelay: Scenario = {
  name: 'one-dead-relay',
  shows: 'what nine relays deliver while a tenth is down with as much mail waiting for it, beside nine alone',
  sides: [
    { name: 'nine and a dead one', missing: smtpSourceMissing, run: (options) => run(1, options) },
    { name: 'nine alone', missing: smtpSourceMissing, run: (options) => run(0, options) },
  ],
  mostPairs: 3,
  targets: [{ metric: 'messagesPerSecond', of: 'ratio', atLeast: 0.95 }],
};

async function run(dead: number, options: RunOptions): Promise<Sample> {
  const each = Math.ceil(options.messages / ALIVE);
  const total = each * ALIVE;
  const sink = await startSink(options.directory, options.warmUp + total);
  const ports = [...Array.from({ length: ALIVE }, () => sink.port), await freePort()];
  const system = await startConfigured(
    options,
    configuration(ports),
    ports.map((_, place) => nameOf(place)),
  );
  const feed = (place: number, messages: number) =>
    runSmtpSource({ ...LOAD, port: system.smtpPort, messages, recipient: `r@${nameOf(place)}.example` });
  await feed(0, options.warmUp);
  await untilTaken(sink, options.warmUp);
  await system.hold();
  await Promise.all(Array.from({ length: ALIVE + dead }, (_, place) => feed(place, each)));
  await sleep(SETTLE_MS);
  const { messagesPerSecond = Number.NaN } = await measureLettingGo(system, sink, total);
  return { messagesPerSecond };
}

function nameOf(place: number): string {
  return `r${place}`;
}

/** A relay for each domain. */
function configuration(ports: readonly number[]): string {
  const relays = ports.map(
    (port, place) =>
      `  - { name: ${nameOf(place)}, type: smtp, host: 127.0.0.1, port: ${port}, tls: none, max_concurrency: ${CONNECTIONS} }`,
  );
  const routes = ports.map(
    (_, place) => `  - { match: { recipient_domain: ${nameOf(place)}.example }, via: [${nameOf(place)}] }`,
  );
  return `delivery: { default_relay: r0 }\nrelays:\n${relays.join('\n')}\nroutes:\n${routes.join('\n')}\n`;
}
