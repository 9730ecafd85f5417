import { runSmtpSource } from '../load/smtp-source.ts';
import { startSink } from '../systems/sink.ts';
import { startWaybill } from '../systems/waybill.ts';
import { measureToTheEnd } from './end-to-end.ts';
import { LARGE_SHARE, type RunOptions, type Sample, type Scenario, warmedUpBy } from './scenario.ts';

/** What it costs to encrypt contents at rest: the whole job, beside the same with contents as they are. */
export const encrypted: readonly Scenario[] = [
  besidePlain({ name: 'encrypted-smtp', size: '5 KB', sizeBytes: 5120, share: 1, atMost: 1.15 }),
  besidePlain({
    name: 'encrypted-smtp-100k',
    size: '100 KB',
    sizeBytes: 102_400,
    share: LARGE_SHARE,
    atMost: 1.35,
  }),
];

/** How the load differs from one scenario to the next. */
interface Load {
  readonly name: string;
  /** In a reader's words. */
  readonly size: string;
  readonly sizeBytes: number;
  /** Of the run's messages, which are sent. */
  readonly share: number;
  /** Of the ratio of CPU. */
  readonly atMost: number;
}

function besidePlain({ name, size, sizeBytes, share, atMost }: Load): Scenario {
  const run = async (given: RunOptions, encryptContents: boolean): Promise<Sample> => {
    const options = warmedUpBy(given, sizeBytes);
    const messages = Math.ceil(options.messages * share);
    const sink = await startSink(options.directory, options.warmUp + messages);
    const waybill = await startWaybill({ ...options, relayPort: sink.port, encryptContents });
    const { smtpPort: port } = waybill;
    return measureToTheEnd(waybill, sink, { ...options, messages }, async (count) => {
      await runSmtpSource({ port, sessions: 20, sizeBytes, messages: count, keepConnections: true });
      return {};
    });
  };
  return {
    name,
    shows: `${size} messages over 20 kept connections of SMTP to the last delivery with \`secrets.encrypt_contents\`, beside without`,
    sides: [
      { name: 'encrypted', missing: () => null, run: (options) => run(options, true) },
      { name: 'plain', missing: () => null, run: (options) => run(options, false) },
    ],
    targets: [{ metric: 'cpuSecondsPer1000', of: 'ratio', atMost }],
  };
}
