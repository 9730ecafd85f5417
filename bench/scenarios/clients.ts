import { smtpSourceMissing } from '../load/smtp-source.ts';
import { bullmqMissing, startBullmq } from '../systems/bullmq.ts';
import { postfixMissing, startPostfix } from '../systems/postfix.ts';
import { startWaybill } from '../systems/waybill.ts';
import { postAndDeliver } from './http-accept.ts';
import { BULLMQ, type Sample, type Scenario, type Side, type Target } from './scenario.ts';
import { accepting } from './smtp-accept.ts';

/** How many clients there are at once. */
const COUNTS = [1000, 250, 100, 25, 10, 1] as const;
const PEERS_COUNTS = [1000, 100, 10, 1] as const;
/** Four times as many, or more, never get less in all. */
const STEPS = [
  [1000, 250],
  [100, 25],
  [10, 1],
] as const;
/**
 * Few clients wait for each answer: they are sent less, so that their runs take about as long. Many are sent more, or else
 * opening their connections, which costs about as much as a message each, would tell where more messages should.
 */
const SHARES: Readonly<Record<number, number>> = { 1: 1 / 10, 10: 1 / 2, 250: 3, 1000: 3 };

/** What more clients over HTTP bring. */
export const clientsHttp: Scenario = {
  name: 'clients-http',
  shows: '1 to 1,000 connections post 5 KB of JSON; accepted durably while delivery runs',
  sides: sides(BULLMQ, (name, clients): Side => {
    const load = { form: 'json', sizeBytes: 5120, connections: clients } as const;
    const isOurs = name === 'Waybill';
    return {
      name: sideName(name, clients),
      missing: () => (isOurs ? null : bullmqMissing()),
      run: (options) => unflushed(postAndDeliver(isOurs ? startWaybill : startBullmq, load, options)),
    };
  }),
  targets: targets(),
  compares: comparisons(BULLMQ),
};

/** What more clients over SMTP bring. */
export const clientsSmtp: Scenario = {
  name: 'clients-smtp',
  shows: '5 KB messages accepted durably over 1 to 1,000 kept connections; nobody can deliver',
  sides: sides('Postfix', (name, clients): Side => {
    const load = { sizeBytes: 5120, keepConnections: true, sessions: clients, share: SHARES[clients] ?? 1 };
    const isOurs = name === 'Waybill';
    return {
      name: sideName(name, clients),
      missing: () => smtpSourceMissing() ?? (isOurs ? null : postfixMissing()),
      ...(!isOurs && { isCompiled: true }),
      run: (options) => unflushed(accepting(load)(isOurs ? startWaybill : startPostfix, options)),
    };
  }),
  targets: [
    ...targets(),
    {
      metric: 'messagesPerSecond',
      of: 'ratio',
      atLeast: 1.3,
      aim: 2,
      by: sideName('Waybill', 1),
      to: sideName('Postfix', 1),
    },
  ],
  compares: comparisons('Postfix'),
};

/** Without flushes, which would double the runs. */
async function unflushed(run: Promise<Sample>): Promise<Sample> {
  const { flushesPerMessage: _, ...sample } = await run;
  return sample;
}

function sides(peer: string, make: (name: string, clients: number) => Side): readonly [Side, ...Side[]] {
  const [most, ...fewer] = COUNTS;
  return [
    make('Waybill', most),
    ...fewer.map((clients) => make('Waybill', clients)),
    ...PEERS_COUNTS.map((clients) => make(peer, clients)),
  ];
}

function targets(): Target[] {
  return STEPS.map(([more, fewer]) => ({
    metric: 'messagesPerSecond',
    of: 'ratio',
    atLeast: 1,
    by: sideName('Waybill', more),
    to: sideName('Waybill', fewer),
  }));
}

function comparisons(peer: string): { readonly by: string; readonly to: string }[] {
  return [
    ...STEPS.map(([more, fewer]) => ({ by: sideName('Waybill', more), to: sideName('Waybill', fewer) })),
    ...PEERS_COUNTS.map((clients) => ({ by: sideName('Waybill', clients), to: sideName(peer, clients) })),
  ];
}

function sideName(name: string, clients: number): string {
  return `${name}, ${clients.toLocaleString('en-US')}`;
}
