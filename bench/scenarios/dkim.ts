import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { latenciesOf } from '../load/load-report.ts';
import { runHttpLoad } from '../load/start.ts';
import { startSink } from '../systems/sink.ts';
import { startWaybill, type Waybill } from '../systems/waybill.ts';
import { measureToTheEnd } from './end-to-end.ts';
import type { RunOptions, Sample, Scenario } from './scenario.ts';

/** The domain that the load sends from. */
const DOMAIN = 'example.com';
const CONNECTIONS = 50;
/** How often the event loop's delay is asked for. */
const ASK_EVERY_MS = 1000;
/** The server gathers delays for ten seconds before it tells of them: so long, and a turn more, what it tells is of before. */
const GATHERED_MS = 11_000;
const LOOP_DELAY = /^svc_event_loop_delay_seconds\{stat="p99"\} (\S+)$/m;

/** Every message signed by RSA of 2048 bits. */
export const dkimRsa = scenario('dkim-rsa', 'rsa', 0.4);
/** Every message signed by Ed25519. */
export const dkimEd25519 = scenario('dkim-ed25519', 'ed25519', 0.8);

function scenario(name: string, algorithm: 'rsa' | 'ed25519', atLeast: number): Scenario {
  return {
    name,
    shows: `5 KB messages from the first post (${CONNECTIONS} connections) to the last delivery, signed by ${algorithm}, beside unsigned`,
    sides: [
      { name: 'signed', missing: () => null, run: (options) => run(options, algorithm) },
      { name: 'unsigned', missing: () => null, run: (options) => run(options, null) },
    ],
    mostPairs: 3,
    targets: [
      { metric: 'messagesPerSecond', of: 'ratio', atLeast },
      { metric: 'loopP99Ms', of: 'value', atMost: 20 },
    ],
  };
}

async function run(options: RunOptions, algorithm: 'rsa' | 'ed25519' | null): Promise<Sample> {
  const sink = await startSink(options.directory, options.warmUp + options.messages);
  const waybill = await startWaybill({ ...options, relayPort: sink.port });
  if (algorithm !== null) await waybill.operations.addDomain({ name: DOMAIN, algorithm, selector: null });
  const load = {
    port: waybill.httpPort,
    key: waybill.key,
    path: waybill.paths.json,
    connections: CONNECTIONS,
  };
  return measureToTheEnd(waybill, sink, options, async (messages) => {
    const ended = new AbortController();
    const delay = worstLoopDelay(waybill, ended.signal);
    const latencies = latenciesOf(await runHttpLoad({ ...load, amount: { messages } }));
    ended.abort();
    return { ...latencies, loopP99Ms: await delay };
  });
}

/**
 * The worst 99th percentile that the server tells of what happens until the signal, in ms. Ends when it has told of all of
 * it; what it tells at first is of before. The last ten seconds may be idle in part.
 */
async function worstLoopDelay({ webuiPort }: Waybill, signal: AbortSignal): Promise<number> {
  const ask = async () => {
    const told = LOOP_DELAY.exec(await metricsOf(webuiPort))?.[1];
    if (told === undefined) throw new Error('the server does not tell how late its event loop is');
    return Number(told) * 1000;
  };
  const before = await ask();
  let worst = 0;
  let endedAt: number | null = null;
  do {
    await sleep(ASK_EVERY_MS);
    if (signal.aborted) endedAt ??= performance.now();
    const told = await ask();
    if (told !== before) worst = Math.max(worst, told);
  } while (endedAt === null || performance.now() - endedAt < GATHERED_MS);
  return worst;
}

/** The server's certificate is its own. */
async function metricsOf(port: number): Promise<string> {
  const request = get({ host: '127.0.0.1', port, path: '/metrics', rejectUnauthorized: false });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  return await text(answer);
}
