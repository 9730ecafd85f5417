import { PLAIN_KEY } from '../../test/support/plain-key.ts';
import { latenciesOf } from '../load/load-report.ts';
import type { Shape } from '../load/provider-shapes.ts';
import { runHttpLoad } from '../load/start.ts';
import { startSink } from '../systems/sink.ts';
import { startWaybill } from '../systems/waybill.ts';
import { measureToTheEnd } from './end-to-end.ts';
import type { RunOptions, Sample, Scenario, Side } from './scenario.ts';

const OWN = '/api/v1/messages';
const CONNECTIONS = 50;

/** What it costs that a message comes through a provider's API: the whole job, beside our own. */
export const providerShapes: Scenario = {
  name: 'provider-shapes',
  shows: `the same 5 KB message over 50 connections of HTTP to the last delivery, through the APIs of Resend, Postmark, SendGrid and SES, beside ${OWN}`,
  sides: [
    sideOf('Resend', 'resend'),
    sideOf('Postmark', 'postmark'),
    sideOf('SendGrid', 'sendgrid'),
    sideOf('SES', 'ses'),
    sideOf(OWN, null),
  ],
  targets: [
    { metric: 'cpuSecondsPer1000', of: 'ratio', by: 'Resend', to: OWN, atMost: 1.1 },
    { metric: 'cpuSecondsPer1000', of: 'ratio', by: 'Postmark', to: OWN, atMost: 1.1 },
    { metric: 'cpuSecondsPer1000', of: 'ratio', by: 'SendGrid', to: OWN, atMost: 1.1 },
    { metric: 'cpuSecondsPer1000', of: 'ratio', by: 'SES', to: OWN, atMost: 1.2 },
  ],
};

function sideOf(name: string, shape: Shape | null): Side {
  return { name, missing: () => null, run: (options) => run(options, shape) };
}

async function run(options: RunOptions, shape: Shape | null): Promise<Sample> {
  const sink = await startSink(options.directory, options.warmUp + options.messages);
  const waybill = await startWaybill({ ...options, relayPort: sink.port });
  const { httpPort: port, key, paths, operations } = waybill;
  const to = { port, key, path: paths.json, connections: CONNECTIONS };
  const signing =
    shape === 'ses'
      ? (await operations.createKey({ ...PLAIN_KEY, name: 'signer', ses: true })).signing
      : null;
  const load = { ...to, ...(shape !== null && { shape }), ...(signing !== null && { signing }) };
  return measureToTheEnd(waybill, sink, options, async (messages) =>
    latenciesOf(await runHttpLoad({ ...load, amount: { messages } })),
  );
}
