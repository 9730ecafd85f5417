import { setTimeout as sleep } from 'node:timers/promises';
import { latenciesOf } from '../load/load-report.ts';
import { runSmtpSource } from '../load/smtp-source.ts';
import { runSmtpLoad, startWitness } from '../load/smtp-start.ts';
import { costBetween, readMeters } from '../measure/meter.ts';
import { startSilentHop } from '../systems/silent-hop.ts';
import type { StartTaker, Taker } from '../systems/system.ts';
import { besidePostfix, besideRelays } from './beside-relays.ts';
import { SETTLE_MS } from './end-to-end.ts';
import { LARGE_SHARE, type RunOptions, type Sample, warmedUpBy } from './scenario.ts';

/** How the load differs from one scenario to the next. */
export interface AcceptLoad {
  readonly sizeBytes: number;
  /** Each session sends all its messages over one connection; else it opens one for every message. */
  readonly keepConnections: boolean;
  /** Share of the run's messages that are sent; all, if not given. */
  readonly share?: number;
  /** 20, if not given. */
  readonly sessions?: number;
  /** By our own load, which knows TLS. */
  readonly tls?: boolean;
}

const SESSIONS = 20;
/** A handshake for each message costs several times what the message does. */
const HANDSHAKE_SHARE = 1 / 4;

/** How fast mail becomes ours for good over SMTP: each 250 is sent after the message is on disk. */
export const smtpAccept = besideRelays(
  {
    name: 'smtp-accept',
    shows: '5 KB messages accepted durably over 20 kept connections; nobody can deliver',
    targets: [{ metric: 'messagesPerSecond', of: 'ratio', to: 'Postfix', atLeast: 4, aim: 7 }],
  },
  accepting({ sizeBytes: 5120, keepConnections: true }),
);

/** The same as devices do it that know nothing better. */
export const smtpAcceptSingle = besideRelays(
  {
    name: 'smtp-accept-single',
    shows: '5 KB messages accepted durably, a connection for each, 20 at once; nobody can deliver',
    targets: [{ metric: 'messagesPerSecond', of: 'ratio', to: 'Postfix', atLeast: 4.5, aim: 6 }],
  },
  accepting({ sizeBytes: 5120, keepConnections: false }),
);

/** The same with messages where bytes weigh more than commands. */
export const smtpAccept100k = besideRelays(
  {
    name: 'smtp-accept-100k',
    shows: '100 KB messages accepted durably over 20 kept connections; nobody can deliver',
    targets: [],
  },
  accepting({ sizeBytes: 102_400, keepConnections: true, share: LARGE_SHARE }),
);

/** The same over TLS. */
export const smtpAcceptTls = besidePostfix(
  {
    name: 'smtp-accept-tls',
    shows: '5 KB messages accepted durably over 20 kept connections with STARTTLS; nobody can deliver',
    targets: [],
  },
  accepting({ sizeBytes: 5120, keepConnections: true, tls: true }),
);

/** The same with a handshake for every message. */
export const smtpAcceptTlsSingle = besidePostfix(
  {
    name: 'smtp-accept-tls-single',
    shows:
      '5 KB messages accepted durably, a connection with STARTTLS for each, 20 at once; nobody can deliver',
    targets: [],
  },
  accepting({ sizeBytes: 5120, keepConnections: false, tls: true, share: HANDSHAKE_SHARE }),
);

/** A run that accepts, as {@link AcceptLoad} says, while nothing can be delivered. */
export function accepting(load: AcceptLoad): (start: StartTaker, options: RunOptions) => Promise<Sample> {
  return async (start, options) => {
    const messages = Math.ceil(options.messages * (load.share ?? 1));
    const hop = await startSilentHop();
    try {
      const { tls = false } = load;
      const system = await start({ ...options, relayPort: hop.port, holds: true, tls });
      // Where one session sends, or few do, the warm-up need not take as long.
      await feed(system, { ...load, sessions: SESSIONS }, warmedUpBy(options, load.sizeBytes).warmUp, null);
      await sleep(SETTLE_MS);
      const before = readMeters(system);
      const fed = await feed(system, load, messages, options.trace ? null : options.directory);
      // What accepting leaves to be done later is part of its price.
      await sleep(SETTLE_MS);
      const after = readMeters(system);
      await system.stop();
      return {
        messagesPerSecond: fed.accepted / fed.seconds,
        ...costBetween(before, after, fed.accepted),
        ...fed.latencies,
      };
    } finally {
      await hop.stop();
    }
  };
}

/** What a feed came to. */
interface Fed {
  readonly accepted: number;
  readonly seconds: number;
  readonly latencies: Sample;
}

/**
 * Feeds a system. Where a witness is told where it may write, it sends beside `smtp-source` and says how long accepting
 * took; its few messages count.
 */
async function feed(
  { smtpPort: port }: Taker,
  { tls = false, sessions = SESSIONS, sizeBytes, keepConnections }: AcceptLoad,
  messages: number,
  witnessIn: string | null,
): Promise<Fed> {
  const load = { port, messages, sessions, sizeBytes, keepConnections };
  if (tls) {
    const report = await runSmtpLoad({ ...load, tls });
    return { accepted: report.accepted, seconds: report.seconds, latencies: latenciesOf(report) };
  }
  const witness = witnessIn === null ? null : await startWitness(witnessIn, load);
  const begin = performance.now();
  await runSmtpSource(load);
  const seconds = (performance.now() - begin) / 1000;
  if (witness === null) return { accepted: messages, seconds, latencies: {} };
  const report = await witness.end();
  return { accepted: messages + report.accepted, seconds, latencies: latenciesOf(report) };
}
