import type { EventsKept } from '../../src/domain/event.ts';
import { latenciesOf } from '../load/load-report.ts';
import { runSmtpSource } from '../load/smtp-source.ts';
import { runHttpLoad } from '../load/start.ts';
import { startSink } from '../systems/sink.ts';
import { startWaybill, type Waybill } from '../systems/waybill.ts';
import { measureToTheEnd } from './end-to-end.ts';
import type { RunOptions, Sample, Scenario } from './scenario.ts';

/** What it costs to keep every event: the whole job, beside the same where mail that goes well has none. */
export const events: readonly Scenario[] = [
  besideExceptional('events-smtp', '20 kept connections of SMTP', async ({ smtpPort: port }, messages) => {
    await runSmtpSource({ port, sessions: 20, sizeBytes: 5120, messages, keepConnections: true });
    return {};
  }),
  besideExceptional(
    'events-http',
    '50 connections of HTTP',
    async ({ httpPort: port, key, paths }, messages) =>
      latenciesOf(await runHttpLoad({ port, key, path: paths.json, connections: 50, amount: { messages } })),
  ),
];

type Load = (waybill: Waybill, messages: number) => Promise<Partial<Sample>>;

function besideExceptional(name: string, over: string, send: Load): Scenario {
  const run = async (options: RunOptions, eventsKept: EventsKept): Promise<Sample> => {
    const sink = await startSink(options.directory, options.warmUp + options.messages);
    const waybill = await startWaybill({ ...options, relayPort: sink.port, eventsKept });
    return measureToTheEnd(waybill, sink, options, async (messages) => ({
      ...(await send(waybill, messages)),
    }));
  };
  return {
    name,
    shows: `5 KB messages over ${over} to the last delivery with every event kept, beside \`events.keep: exceptional\``,
    sides: [
      { name: 'all', missing: () => null, run: (options) => run(options, 'all') },
      { name: 'exceptional', missing: () => null, run: (options) => run(options, 'exceptional') },
    ],
    targets: [{ metric: 'cpuSecondsPer1000', of: 'ratio', atMost: 1.1 }],
  };
}
