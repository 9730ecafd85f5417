import { runSmtpSource, type SmtpLoad } from '../load/smtp-source.ts';
import { startSink } from '../systems/sink.ts';
import type { StartRelay } from '../systems/system.ts';
import { besidePostfix } from './beside-postfix.ts';
import { measureToTheEnd, WARM_UP_MESSAGES } from './end-to-end.ts';
import { LARGE_SHARE, type RunOptions, type Sample, type Scenario } from './scenario.ts';

/** How the load differs from one scenario to the next. */
interface Load extends Pick<SmtpLoad, 'sessions' | 'sizeBytes'> {
  /** Share of the run's messages that are sent; all, if not given. */
  readonly share?: number;
}

/** What differs from one scenario to the next. */
type Shape = Load & Pick<Scenario, 'name' | 'shows' | 'targets'>;

/** SMTP in, SMTP out. */
export const smtpToSmtp = scenario({
  ...{ name: 'smtp-to-smtp', sessions: 20, sizeBytes: 5120 },
  shows: '5 KB messages over 20 kept connections, from the first MAIL to the last delivery, beside Postfix',
  targets: [
    { metric: 'messagesPerSecond', of: 'ratio', atLeast: 6 },
    { metric: 'cpuSecondsPer1000', of: 'ratio', atMost: 1 / 9 },
  ],
});

/** The same under more senders at once than a server of processes likes. */
export const smtpToSmtp100 = scenario({
  ...{ name: 'smtp-to-smtp-100', sessions: 100, sizeBytes: 5120 },
  shows: '5 KB messages over 100 kept connections, from the first MAIL to the last delivery, beside Postfix',
  targets: [{ metric: 'messagesPerSecond', of: 'ratio', atLeast: 9 }],
});

/** The same with messages where bytes weigh more than commands. */
export const smtpToSmtp100k = scenario({
  ...{ name: 'smtp-to-smtp-100k', sessions: 20, sizeBytes: 102_400, share: LARGE_SHARE },
  shows: '100 KB messages over 20 kept connections, from the first MAIL to the last delivery, beside Postfix',
  targets: [{ metric: 'messagesPerSecond', of: 'ratio', atLeast: 2.5 }],
});

function scenario({ name, shows, targets, ...load }: Shape): Scenario {
  return besidePostfix({ name, shows, targets }, (start, options) => run(start, load, options));
}

async function run(start: StartRelay, { share = 1, ...load }: Load, options: RunOptions): Promise<Sample> {
  const total = Math.ceil(options.messages * share);
  const sink = await startSink(options.directory, WARM_UP_MESSAGES + total);
  const system = await start({ ...options, relayPort: sink.port });
  return measureToTheEnd(system, sink, total, async (messages) => {
    await runSmtpSource({ ...load, port: system.smtpPort, messages, keepConnections: true });
    return {};
  });
}
