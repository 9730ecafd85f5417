import { setTimeout as sleep } from 'node:timers/promises';
import { runSmtpSource, type SmtpLoad } from '../load/smtp-source.ts';
import { startSilentHop } from '../systems/silent-hop.ts';
import type { StartRelay } from '../systems/system.ts';
import { besidePostfix } from './beside-postfix.ts';
import { SETTLE_MS, WARM_UP_MESSAGES } from './end-to-end.ts';
import { LARGE_SHARE, MIB, type RunOptions, type Sample, type Scenario } from './scenario.ts';

/** How the load differs from one scenario to the next. */
interface Load extends Pick<SmtpLoad, 'sizeBytes' | 'keepConnections'> {
  /** Share of the run's messages that are sent; all, if not given. */
  readonly share?: number;
}

/** What differs from one scenario to the next. */
type Shape = Load & Pick<Scenario, 'name' | 'shows' | 'targets'>;

const SESSIONS = 20;

/** How fast mail becomes ours for good over SMTP: each 250 is sent after the message is on disk. */
export const smtpAccept = scenario({
  ...{ name: 'smtp-accept', sizeBytes: 5120, keepConnections: true },
  shows: '5 KB messages accepted durably over 20 kept connections, beside Postfix; neither can deliver',
  targets: [
    { metric: 'messagesPerSecond', of: 'ratio', atLeast: 4.5 },
    { metric: 'cpuSecondsPer1000', of: 'ratio', atMost: 1 / 9 },
  ],
});

/** The same as devices do it that know nothing better. */
export const smtpAcceptSingle = scenario({
  ...{ name: 'smtp-accept-single', sizeBytes: 5120, keepConnections: false },
  shows:
    '5 KB messages accepted durably, a connection for each, 20 at once, beside Postfix; neither can deliver',
  targets: [{ metric: 'messagesPerSecond', of: 'ratio', atLeast: 3 }],
});

/** The same with messages where bytes weigh more than commands. */
export const smtpAccept100k = scenario({
  ...{ name: 'smtp-accept-100k', sizeBytes: 102_400, keepConnections: true, share: LARGE_SHARE },
  shows: '100 KB messages accepted durably over 20 kept connections, beside Postfix; neither can deliver',
  targets: [{ metric: 'messagesPerSecond', of: 'ratio', atLeast: 2.5 }],
});

function scenario({ name, shows, targets, ...load }: Shape): Scenario {
  return besidePostfix({ name, shows, targets }, (start, options) => run(start, load, options));
}

async function run(start: StartRelay, { share = 1, ...load }: Load, options: RunOptions): Promise<Sample> {
  const messages = Math.ceil(options.messages * share);
  const hop = await startSilentHop();
  const system = await start({ ...options, relayPort: hop.port });
  const feed = (count: number) =>
    runSmtpSource({ ...load, port: system.smtpPort, sessions: SESSIONS, messages: count });
  await feed(WARM_UP_MESSAGES);
  await sleep(SETTLE_MS);
  const before = { usage: system.usage(), flushes: system.flushes(), at: performance.now() };
  await feed(messages);
  const milliseconds = performance.now() - before.at;
  // What accepting leaves to be done later is part of its price.
  await sleep(SETTLE_MS);
  const usage = system.usage();
  const flushes = system.flushes();
  await system.stop();
  await hop.stop();
  return {
    messagesPerSecond: (messages / milliseconds) * 1000,
    cpuSecondsPer1000: ((usage.cpuSeconds - before.usage.cpuSeconds) / messages) * 1000,
    peakMemoryMiB: usage.peakBytes / MIB,
    flushesPerMessage: (flushes - before.flushes) / messages,
  };
}
