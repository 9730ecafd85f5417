import { runSmtpSource, type SmtpLoad } from '../load/smtp-source.ts';
import { startSink } from '../systems/sink.ts';
import type { StartTaker } from '../systems/system.ts';
import { besidePostfix, besideRelays } from './beside-relays.ts';
import { measureToTheEnd } from './end-to-end.ts';
import { LARGE_SHARE, type RunOptions, type Sample, warmedUpBy } from './scenario.ts';

/** How the load differs from one scenario to the next. */
interface Load extends Pick<SmtpLoad, 'sessions' | 'sizeBytes'> {
  /** Share of the run's messages that are sent; all, if not given. */
  readonly share?: number;
}

/** SMTP in, SMTP out. */
export const smtpToSmtp = besideRelays(
  {
    name: 'smtp-to-smtp',
    shows: '5 KB messages over 20 kept connections, from the first MAIL to the last delivery',
    targets: [
      { metric: 'messagesPerSecond', of: 'ratio', to: 'Postfix', atLeast: 6, aim: 9 },
      { metric: 'cpuSecondsPer1000', of: 'ratio', to: 'Postfix', atMost: 0.115, aim: 0.075 },
    ],
  },
  run({ sessions: 20, sizeBytes: 5120 }),
);

/** The same under more senders at once than a server of processes likes. */
export const smtpToSmtp100 = besidePostfix(
  {
    name: 'smtp-to-smtp-100',
    shows: '5 KB messages over 100 kept connections, from the first MAIL to the last delivery',
    targets: [{ metric: 'messagesPerSecond', of: 'ratio', atLeast: 7.5, aim: 15 }],
  },
  run({ sessions: 100, sizeBytes: 5120 }),
);

/** The same with messages where bytes weigh more than commands. */
export const smtpToSmtp100k = besideRelays(
  {
    name: 'smtp-to-smtp-100k',
    shows: '100 KB messages over 20 kept connections, from the first MAIL to the last delivery',
    targets: [{ metric: 'messagesPerSecond', of: 'ratio', to: 'Postfix', atLeast: 3.4, aim: 4.5 }],
  },
  run({ sessions: 20, sizeBytes: 102_400, share: LARGE_SHARE }),
);

function run({ share = 1, ...load }: Load): (start: StartTaker, options: RunOptions) => Promise<Sample> {
  return async (start, given) => {
    const options = warmedUpBy(given, load.sizeBytes);
    const total = Math.ceil(options.messages * share);
    const sink = await startSink(options.directory, options.warmUp + total);
    const system = await start({ ...options, relayPort: sink.port });
    return measureToTheEnd(system, sink, { ...options, messages: total }, async (messages) => {
      await runSmtpSource({ ...load, port: system.smtpPort, messages, keepConnections: true });
      return {};
    });
  };
}
